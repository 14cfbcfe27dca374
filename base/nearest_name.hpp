// SPDX-License-Identifier: Apache-2.0
// Spelling hints: the valid name closest to what was written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The candidate with the smallest Damerau-Levenshtein distance, when that is at most a third of the
// longer name (at least 1): beyond that a suggestion misleads.
std::optional<std::string_view> nearest_name(std::string_view written,
                                             std::span<const std::string_view> candidates);

// "did you mean `stride`?" when one is near, else "expected one of a, b, c" (all of them, in
// order).
std::string expectation(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench
