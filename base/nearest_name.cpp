// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include "base/characters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace bench {
namespace {

// Computes the optimal string alignment: an insertion, a deletion, a substitution or a swap of
// neighbours costs 1.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return cost[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

// Longer names are not compared: they are not valid, may come from hostile files, and the table of
// edit_distance() grows with the square of the length.
constexpr std::size_t kMaxLength = 64;

// Names whose digits differ by more edits have different meanings (`resnet51`, `resnet18`).
constexpr std::size_t kMaxDigitEdits = 1;

// The stem of a name is its beginning up to a `_`. A shorter stem (`v1` of `v1_5`) does not
// identify the name.
constexpr std::size_t kMinStemLength = 3;
// Input with more edits than this (`resnet101` for `resnet50`) does not match a stem.
constexpr std::size_t kMaxStemEdits = 1;

std::string digits_in(std::string_view text) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), is_digit);
  return digits;
}

// Returns the number of edits between two names; nullopt if there are too many for a typing error.
std::optional<std::size_t> count_typing_edits(std::string_view written, std::string_view name) {
  const std::size_t limit = std::max<std::size_t>(1, std::max(written.size(), name.size()) / 3);
  const std::size_t distance = edit_distance(written, name);
  if (distance > limit) return std::nullopt;
  if (edit_distance(digits_in(written), digits_in(name)) > kMaxDigitEdits) return std::nullopt;
  return distance;
}

// Returns a cost by which to compare names: 2 per edit, plus 1 if the input matches only a stem of
// the name (`resnet50` of `resnet50_v1_5`). Returns nullopt if the name is not near.
std::optional<std::size_t> match_cost(std::string_view written, std::string_view name) {
  std::optional<std::size_t> best;
  const auto consider = [&](std::string_view part, std::size_t max_edits, std::size_t extra) {
    const auto edits = count_typing_edits(written, part);
    if (edits && *edits <= max_edits && (!best || 2 * *edits + extra < *best))
      best = 2 * *edits + extra;
  };
  consider(name, kMaxLength, 0);
  for (std::size_t end = name.find('_', kMinStemLength); end != std::string_view::npos;
       end = name.find('_', end + 1)) {
    consider(name.substr(0, end), kMaxStemEdits, 1);
  }
  return best;
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view written,
                                             std::span<const std::string_view> candidates) {
  if (written.size() > kMaxLength) return std::nullopt;
  const std::string plain = lower_case(written);
  std::optional<std::string_view> best;
  std::size_t best_cost = 0;
  for (std::string_view candidate : candidates) {
    const auto candidate_cost = match_cost(plain, lower_case(candidate));
    if (candidate_cost && (!best || *candidate_cost < best_cost)) {
      best = candidate;
      best_cost = *candidate_cost;
    }
  }
  return best;
}

std::string expectation(std::string_view written, std::span<const std::string_view> candidates) {
  if (const auto near = nearest_name(written, candidates))
    return fmt::format("did you mean `{}`?", *near);
  return fmt::format("expected one of {}", fmt::join(candidates, ", "));
}

}  // namespace bench
