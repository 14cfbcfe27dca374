// SPDX-License-Identifier: Apache-2.0
// Parses the parts of oneDNN's verbose lines: sizes, problems, algorithms, axes.
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

// Parses "64x32" -> {64, 32}. Returns nullopt for anything else, also for sizes below 1.
std::optional<Dims> parse_dims(std::string_view text);
// Parses "2x3:3x4" into its parts, each as parse_dims does.
std::optional<std::vector<Dims>> parse_dims_list(std::string_view text);

// Parses "g4mb2_ic16oc16_ih15oh6kh3sh2dh1ph1": names and numbers; '_' is skipped.
class ProblemWords {
 public:
  // Returns nullopt if the text does not have that form or contains a name twice.
  static std::optional<ProblemWords> parse(std::string_view text);
  std::optional<std::int64_t> find(std::string_view name) const;
  // Returns whether all names are among `names`.
  bool has_only(std::span<const std::string_view> names) const;

 private:
  struct Word {
    std::string_view name;
    std::int64_t number;
  };
  std::vector<Word> words_;
};

// Returns the value of a name, such as that of "alg" in "alg:eltwise_relu alpha:0.1 beta:0". Empty
// if the name is missing.
std::string_view auxiliary_value(std::string_view auxiliary, std::string_view name);
// Returns nullopt unless the whole text is a number, with a decimal point or a decimal comma.
std::optional<double> parse_real(std::string_view text);

// The flags of a normalisation, written as letters: "GCH". In oneDNN 2.x and earlier, the letter S
// can mean both scale and shift. Version 1.x writes a number instead: the sum of 1 (G), 2 (S) and
// 4 (R).
struct NormalisationFlags {
  bool given_statistics = false;
  bool scale = false;
  bool shift = false;
  bool relu = false;
  bool root_mean_square = false;  // only of a layer norm: no mean is subtracted
};
// Returns nullopt if `auxiliary` has no flags or an unknown flag. "A" is unknown because it adds an
// input; later versions may add other flags.
std::optional<NormalisationFlags> parse_normalisation_flags(std::string_view auxiliary);

// Whether the problem has no elements: "mb0_ic4oc6", "0x9". The library then computes nothing.
bool has_no_elements(std::string_view problem);

// Parses a propagation kind; "forward_training" and "forward_inference" are also forward. Returns
// nullopt for "backward", "undef" and others.
std::optional<Direction> parse_direction(std::string_view propagation);

// Parses one axis of "ih15oh6kh3sh2dh1ph1" (letter 'h'). Derives the padding at the end from the
// output. It equals the padding at the beginning if the output permits this. Returns nullopt if the
// axis is missing or its sizes contradict each other.
std::optional<SpatialAxis> parse_axis(const ProblemWords& words, char letter, Sweep sweep);

// Parses axes in the order d, h, w. Old versions of oneDNN write an axis that does not exist as
// size 1. `rank`, the rank in the tensor's tag, distinguishes it from a real axis of size 1.
std::optional<std::vector<SpatialAxis>> parse_axes(const ProblemWords& words, Sweep sweep,
                                                   std::optional<std::size_t> rank);
// Sets d, h, w, stride and pad; also dilation and output_pad if the table has them.
void set_axes(ParameterSet& set, std::span<const SpatialAxis> axes);

}  // namespace bench::ops
