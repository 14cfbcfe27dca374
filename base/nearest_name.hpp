// SPDX-License-Identifier: Apache-2.0
// Spelling hints: the valid name closest to what was written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the candidate with the smallest Damerau-Levenshtein distance, or nullopt if that exceeds
// a third of the longer name (at least 1): beyond that a suggestion misleads. Upper and lower case
// are the same. The beginning of a candidate up to a `_` counts as the candidate, and a number that
// differs in more than one digit never does: `resnet50` is near `resnet50_v1_5`, not `resnet18`.
std::optional<std::string_view> nearest_name(std::string_view written,
                                             std::span<const std::string_view> candidates);

// "did you mean `stride`?" when one is near, else "expected one of a, b, c" (all of them, in
// order).
std::string expectation(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench
