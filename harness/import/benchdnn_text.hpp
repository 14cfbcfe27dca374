// SPDX-License-Identifier: Apache-2.0
// The text of benchdnn's input files: words, and the descriptors of problems. The grammar is that
// of oneDNN's tests/benchdnn (doc/knobs_common.md, doc/driver_*.md, conv/conv_aux.cpp), read on
// 2026-08-22.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"
#include "ops/spatial.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

struct BenchdnnWord {
  std::string text;
  int line = 0;  // where the word begins, counted from 1
};

// Splits a file at white space. A word that begins with '#' and the rest of its line are a comment.
// A word that ends in '\' continues with the next word.
std::vector<BenchdnnWord> split_benchdnn_words(std::string_view text);

// The names and numbers of a descriptor: "mb2ic64_ih56n\"layer1\"". '_' separates; 'n' begins the
// problem's name, which ends the descriptor. If a name occurs twice, the last number counts.
class BenchdnnDescriptor {
 public:
  // Error: a name that is not one of `keys`, or without a number.
  static Result<BenchdnnDescriptor> parse(std::string_view text,
                                          std::span<const std::string_view> keys);
  std::optional<std::int64_t> find(std::string_view key) const;
  std::int64_t value_or(std::string_view key, std::int64_t fallback) const {
    return find(key).value_or(fallback);
  }

 private:
  std::vector<std::pair<std::string_view, std::int64_t>> numbers_;
};

// The axes of a convolution or a pool, outermost first, as a oneDNN line writes them: all sizes are
// there ("ih56oh56kh3sh1dh0ph1iw56...").
struct BenchdnnAxes {
  std::string text;
  std::size_t rank = 0;               // 1 to 3
  std::vector<std::int64_t> outputs;  // one per axis
};

// Completes the axes: a missing output follows from the padding, a missing padding from the output,
// and the axes h and w repeat d or h. Error: a size is missing, or the sizes have no case (an
// output that leaves out the end of its input).
Result<BenchdnnAxes> complete_benchdnn_axes(const BenchdnnDescriptor& descriptor, ops::Sweep sweep);

// Returns the sizes of an image, outermost first: none, w, h and w, or d, h and w. Missing inner
// sizes repeat the outer one. Error: d with only one of h and w.
Result<std::vector<std::int64_t>> complete_benchdnn_sizes(const BenchdnnDescriptor& descriptor);

// Reads "2x3:3x4_n\"name\"": the sizes of each tensor. Error: a size is not a number above 0.
Result<std::vector<ops::Dims>> parse_benchdnn_shapes(std::string_view text);

}  // namespace bench
