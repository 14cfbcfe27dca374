// SPDX-License-Identifier: Apache-2.0
#include "base/plural.hpp"

namespace bench {

std::string plural_of(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  const bool ends_in_consonant_and_y =
      noun.size() > 1 && noun.back() == 'y' && kVowels.find(noun[noun.size() - 2]) == kVowels.npos;
  if (ends_in_consonant_and_y) return std::string(noun.substr(0, noun.size() - 1)) + "ies";
  const bool has_sibilant = noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch");
  return std::string(noun) + (has_sibilant ? "es" : "s");
}

std::string with_article(std::string_view noun) {
  const bool is_vowel =
      !noun.empty() && std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (is_vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace bench
