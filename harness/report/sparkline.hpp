// SPDX-License-Identifier: Apache-2.0
// A series as one short line of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench {

// The characters that a terminal can show.
enum class Glyphs { ascii, blocks };

struct SparklineOptions {
  std::size_t width = 16;  // maximum number of characters
  // The line's height covers at least this range, so that noise looks flat.
  double min_range = 0;
  Glyphs glyphs = Glyphs::ascii;
};

// Returns one character per value, from low to high: eight blocks, or `_.-'^`. Of more values than
// the width, each character shows the median of a part. Empty for no values.
std::string sparkline(std::span<const double> values, const SparklineOptions& options);

}  // namespace bench
