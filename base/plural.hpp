// SPDX-License-Identifier: Apache-2.0
// Counts with a noun in the right number.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace bench {

// Returns the plural of a regular English noun, or of the last word of several: "processes",
// "activities", "more notes".
std::string plural_of(std::string_view noun);

// Returns "1 process", "3 processes", "0 activities".
template <std::integral Count>
std::string pluralise(Count count, std::string_view noun) {
  return std::to_string(count) + ' ' + (count == 1 ? std::string(noun) : plural_of(noun));
}

// Returns the count with words that agree with it: pluralise(1, "case has", "cases have") is "1
// case has". For nouns with other words behind them.
template <std::integral Count>
std::string pluralise(Count count, std::string_view one, std::string_view several) {
  return (std::to_string(count) + ' ').append(count == 1 ? one : several);
}

// Returns the noun behind its indefinite article: "a gemm", "an attention".
std::string with_article(std::string_view noun);

}  // namespace bench
