// SPDX-License-Identifier: Apache-2.0
// Draws a series of values as one short line of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bench {

// The characters of a sparkline: ASCII only, or Unicode blocks.
enum class Glyphs { ascii, blocks };

struct SparklineOptions {
  std::size_t width = 16;  // maximum number of characters
  // The height of a character covers at least this range of values, so that noise looks flat.
  double min_range = 0;
  Glyphs glyphs = Glyphs::ascii;
};

// Returns one character per value. The characters from low to high are eight blocks, or `_.-'^`. If
// there are more values than `width`, each character shows the median of adjacent values. Empty if
// there are no values.
std::string sparkline(std::span<const double> values, const SparklineOptions& options);

}  // namespace bench
