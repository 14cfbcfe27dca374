// SPDX-License-Identifier: Apache-2.0
// Remembers what a backend has chosen by measuring, so that a process measures a problem once, and
// repeats the choices that an earlier process of the case has made.
#pragma once

#include "ops/backend/choice_store.hpp"
#include "ops/backend/tuning.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>

namespace bench::ops {

class ChoiceMemory {
 public:
  // `store` passes the choices on to other processes. It must outlive this object.
  explicit ChoiceMemory(ChoiceStore& store) : store_(store) {}

  // Returns the choice that is known for the key, and notes it as used. That of an earlier process
  // precedes: its `fixed` is set, and it has no times. nullopt: none is known, or `names`, those of
  // the candidates, does not contain it.
  std::optional<TunedChoice> find(const std::string& key, std::span<const std::string> names) const;
  // Remembers what was measured for the key, notes it as used, and returns it.
  const TunedChoice& remember(const std::string& key, TunedChoice choice);

 private:
  ChoiceStore& store_;
  std::map<std::string, TunedChoice> choices_;
};

}  // namespace bench::ops
