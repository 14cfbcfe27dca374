// SPDX-License-Identifier: Apache-2.0
// Reading the words of oneDNN's verbose lines: sizes, problems, algorithms, axes.
#pragma once

#include "base/data_type.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"
#include "ops/spatial.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// "64x32" -> {64, 32}; absent for anything else, also for sizes below 1.
std::optional<Dims> parse_dims(std::string_view text);
// "2x3:3x4" -> its parts, each as parse_dims.
std::optional<std::vector<Dims>> parse_dims_list(std::string_view text);

// "g4mb2_ic16oc16_ih15oh6kh3sh2dh1ph1": names and numbers, '_' skipped.
class ProblemWords {
 public:
  // Absent where the text is not of that form or names something twice.
  static std::optional<ProblemWords> parse(std::string_view text);
  std::optional<std::int64_t> find(std::string_view name) const;
  // Whether all names are among `names`.
  bool only(std::span<const std::string_view> names) const;

 private:
  struct Word {
    std::string_view name;
    std::int64_t number;
  };
  std::vector<Word> words_;
};

// Value of "alg" in "alg:eltwise_relu alpha:0.1 beta:0"; empty where it is not there.
std::string_view auxiliary_value(std::string_view auxiliary, std::string_view name);
std::optional<double> parse_real(std::string_view text);

// forward_training and forward_inference are forward; absent for "backward", "undef" and others.
std::optional<Direction> direction_of(std::string_view propagation);

// One axis of "ih15oh6kh3sh2dh1ph1" (letter 'h'), with the padding at the end that the output
// needs: as at the beginning where that fits. Absent where the axis is not there or its sizes do
// not fit together.
std::optional<SpatialAxis> parse_axis(const ProblemWords& words, char letter, Sweep sweep);

// Axes in the order d, h, w; old versions write absent outer ones as sizes of 1, which `rank` (of
// the tensor, from its tag) tells apart.
std::optional<std::vector<SpatialAxis>> parse_axes(const ProblemWords& words, Sweep sweep,
                                                   std::optional<std::size_t> rank);
// Sets d, h, w; stride and pad, and dilation and output_pad where the table has them.
void set_axes(ParameterSet& set, std::span<const SpatialAxis> axes);

}  // namespace bench::ops
