// SPDX-License-Identifier: Apache-2.0
#include "harness/result/shard_positions.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// Parses "5" or "9-12" to positions. Returns nullopt unless 1 <= first <= last.
std::optional<std::pair<std::size_t, std::size_t>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<std::size_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<std::size_t>(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

std::string format_positions(std::span<const std::size_t> indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(indices[i] + 1);
    if (end - i > 1) text += fmt::format("-{}", indices[end - 1] + 1);
    i = end;
  }
  return text;
}

std::optional<std::vector<std::size_t>> parse_positions(std::string_view text, std::size_t cases) {
  std::vector<std::size_t> indices;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto range = parse_range(text.substr(0, end));
    if (!range || range->second > cases) return std::nullopt;
    if (!indices.empty() && range->first <= indices.back() + 1) return std::nullopt;
    for (std::size_t position = range->first; position <= range->second; ++position)
      indices.push_back(position - 1);
    text.remove_prefix(end);
    if (text == ",") return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  return indices;
}

std::optional<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = parse_number<int>(text.substr(0, slash));
  const auto count = parse_number<int>(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *count < *index) return std::nullopt;
  return Shard{*index, *count};
}

std::string format_shard(const Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

}  // namespace bench
