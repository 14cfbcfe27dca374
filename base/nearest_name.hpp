// SPDX-License-Identifier: Apache-2.0
// Spelling hints: the valid name closest to the input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the candidate with the smallest Damerau-Levenshtein distance. Returns nullopt if that
// exceeds a third of the longer name (at least 1), because a suggestion would then mislead. Ignores
// case. The beginning of a candidate up to a `_` counts as the candidate. A candidate whose number
// differs in more than one digit never counts. For example `resnet50` is near `resnet50_v1_5`, but
// not near `resnet18`.
std::optional<std::string_view> nearest_name(std::string_view written,
                                             std::span<const std::string_view> candidates);

// Returns "did you mean `stride`?" if a name is near, else "expected one of a, b, c" (all of them,
// in order).
std::string expectation(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench
