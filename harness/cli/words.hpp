// SPDX-License-Identifier: Apache-2.0
// The words that a shell offers as values of options and as operands.
#pragma once

#include "base/enumerators.hpp"

#include <string>
#include <vector>

namespace bench {

using Words = std::vector<std::string>;

// Returns the items of what the function `list` returns, or their names.
template <auto list>
Words words_of() {
  Words words;
  for (const auto& item : list()) {
    if constexpr (requires { item.name; }) {
      words.emplace_back(item.name);
    } else {
      words.emplace_back(item);
    }
  }
  return words;
}

template <NamedEnum Enum>
Words enumerator_words() {
  return {enumerator_names<Enum>().begin(), enumerator_names<Enum>().end()};
}

}  // namespace bench
