// SPDX-License-Identifier: Apache-2.0
// Spelling hints: the valid name closest to the input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns the candidate with the smallest Damerau-Levenshtein distance to `written`, ignoring case.
// Returns nullopt if the distance exceeds a third of the longer name (at least 1), because a
// suggestion would then mislead. A candidate's beginning, up to one of its underscores, may match
// instead of the complete candidate. A candidate whose digits differ by more than one edit does not
// match. For example, `resnet50` is near `resnet50_v1_5`, but not near `resnet18`.
std::optional<std::string_view> nearest_name(std::string_view written,
                                             std::span<const std::string_view> candidates);

// Returns "did you mean `stride`?" if a candidate is near. Otherwise returns "expected one of a, b,
// c" with all candidates in their order.
std::string expectation(std::string_view written, std::span<const std::string_view> candidates);

}  // namespace bench
