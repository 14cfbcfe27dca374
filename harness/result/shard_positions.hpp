// SPDX-License-Identifier: Apache-2.0
// The text of ShardAssignment::positions: positions of cases in a plan, from 1, as "1,5,9-12".
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Formats indices from 0, which must be ascending. Empty if there are none.
std::string format_positions(std::span<const std::size_t> indices);

// Parses the text to ascending indices from 0, each less than `cases`. Returns nullopt for another
// text. The text comes from a file, so its size does not bound the memory: `cases` does.
std::optional<std::vector<std::size_t>> parse_positions(std::string_view text, std::size_t cases);

// The value of RunRecord::shard: part `index`, from 1, of `count` parts.
struct Shard {
  int index = 1;
  int count = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};
// Parses "2/4". Returns nullopt unless 1 <= index <= count.
std::optional<Shard> parse_shard(std::string_view text);
std::string format_shard(const Shard& shard);

}  // namespace bench
