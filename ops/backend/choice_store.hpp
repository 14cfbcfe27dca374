// SPDX-License-Identifier: Apache-2.0
// The choices that a backend has made by measuring (tuning.hpp), and the engines that were
// rejected. As text they pass from the worker that chose for a case to those that measure it, so
// that all execute the same kernels.
#pragma once

#include "ops/backend/tuning.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops {

class ChoiceStore {
 public:
  // Begins a case: takes over the choices that another process has made for it, in the form of
  // text(), in place of those before. Ignores lines without a key and a name.
  void fix(std::string_view text);
  // Returns the name that is fixed for a key.
  std::optional<std::string> find_fixed(const std::string& key) const;
  // Records that the candidate `name` was chosen. Keys and names must not contain tabs or line
  // breaks; such choices are not recorded.
  void note(const std::string& key, const std::string& name);
  // Records that the case uses a choice again that was noted for an earlier case. Ignores keys
  // that were never noted.
  void note_again(const std::string& key);
  // Returns the choices that were noted since fix(): "KEY<tab>NAME" lines in the order of their
  // keys. Empty if there are none.
  std::string text() const;

 private:
  std::map<std::string, std::string> fixed_, noted_;
  std::set<std::string> used_;  // keys that were noted since fix()
};

// Remembers what a backend has chosen by measuring, so that a process measures a problem once, and
// repeats the choices that an earlier process of the case has made.
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
