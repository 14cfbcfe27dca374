// SPDX-License-Identifier: Apache-2.0
// What the drivers share: a primitive in the words of oneDNN's verbose lines, and the values of
// options that become its parts.
#pragma once

#include "base/result.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "ops/problem.hpp"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A primitive that owns its texts. Most members are those of ops::VerbosePrimitive.
struct BenchdnnPrimitive {
  struct Memory {
    std::string_view argument;
    std::string_view dtype;
    std::string tag;  // dimensions as letters: "acdb", "aBcd16b"
    std::string flags = {};
  };
  std::string_view primitive;
  std::string_view propagation = "undef";
  std::string auxiliary = {};
  std::string problem = {};
  std::vector<Memory> memory = {};
  ops::Dims destination = {};             // sizes of the result, which post-ops refer to
  ops::Layout layout = ops::Layout::any;  // layout of the case
};

// Returns the case that computes what the primitive computes (ops::find_exact_case), with the
// post-ops and the math mode of the options `attr-post-ops` and `attr-fpmath`. Error: also for a
// post-op whose mask is unknown, or whose tensor has another layout.
Result<ops::ProblemRequest> find_benchdnn_case(const BenchdnnPrimitive& primitive,
                                               const BenchdnnValues& values);

// The value of `--dir`.
struct BenchdnnDirection {
  std::string_view name;         // "FWD_B"
  std::string_view propagation;  // "forward_training"
  bool has_bias = false;
};
Result<BenchdnnDirection> parse_benchdnn_direction(std::string_view text);

// Splits "f32" or "bf16:bf16:f32" into `count` types; one type stands for all. Error: another
// number of types.
Result<std::vector<std::string_view>> split_benchdnn_types(std::string_view text,
                                                           std::size_t count);

// Returns a tag as letters of `rank` dimensions: "abx" and "nchw" -> "abcd", "aBx16b" -> "aBcd16b".
// Returns an empty text for "any" and "undef", and the text itself if it is not one of these names.
std::string benchdnn_tag_letters(std::string_view tag, std::size_t rank);

// The value of an option that gives the layouts of `tensors` tensors: "abx:any". One tag stands for
// all of them.
struct BenchdnnTags {
  std::string_view text;
  std::size_t tensors = 1;
};
// Returns the layout that all given tags name; a tag "any" leaves the choice to the others. Error:
// the tags name different layouts, or one that cases do not have; an option has another number of
// tags.
Result<ops::Layout> find_benchdnn_layout(std::initializer_list<BenchdnnTags> options,
                                         std::size_t rank);
// For operators whose shapes are plain unless said otherwise: `any` for plain tensors.
Result<ops::Layout> find_plain_benchdnn_layout(std::initializer_list<BenchdnnTags> options,
                                               std::size_t rank);

// "relu", "eltwise_relu_use_dst_for_bwd" and "relu_dst" -> "eltwise_relu", "..._use_dst_for_bwd".
std::string benchdnn_algorithm(std::string_view name, std::string_view prefix);

// Returns the descriptor's number of images, unless `--mb` gives another one.
std::int64_t benchdnn_batch(const BenchdnnValues& values, std::int64_t written);

}  // namespace bench
