// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/choice_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench::ops {

std::optional<TunedChoice> ChoiceMemory::find(const std::string& key,
                                              std::span<const std::string> names) const {
  std::optional<TunedChoice> known;
  const auto fixed = store_.find_fixed(key);
  const auto name = fixed ? std::ranges::find(names, *fixed) : names.end();
  if (name != names.end()) {
    known.emplace();
    known->best = static_cast<std::size_t>(name - names.begin());
    known->fixed = *fixed;
  } else if (const auto choice = choices_.find(key); choice != choices_.end()) {
    known = choice->second;
  }
  if (known) store_.note(key, names[known->best]);
  return known;
}

const TunedChoice& ChoiceMemory::remember(const std::string& key, TunedChoice choice) {
  store_.note(key, choice.candidates[choice.best].name);
  return choices_.insert_or_assign(key, std::move(choice)).first->second;
}

}  // namespace bench::ops
