// SPDX-License-Identifier: Apache-2.0
// What layer_norm, group_norm and rms_norm share: groups of contiguous elements, each normalised by
// its own mean and variance. Their descriptions have the quantity `size`, the elements of a group,
// and the parameters `epsilon`, `scale` and `shift`.
#pragma once

#include "ops/description.hpp"
#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// The parameter `epsilon`, also of batch_norm. The default is that of PyTorch and ONNX.
inline constexpr Parameter kVarianceEpsilon = {.name = "epsilon",
                                               .token = "eps",
                                               .kind = ParameterKind::real,
                                               .fallback = "1e-05",
                                               .help = "added to the variance, above 0",
                                               .above = 0};

// The parameter `mode` of norms whose statistics the backward pass needs. batch_norm has the same
// words with another meaning, and so has attention.
inline constexpr std::string_view kNormModes[] = {"inference", "training"};
inline constexpr Parameter kNormMode = {
    .name = "mode",
    .token = "",
    .kind = ParameterKind::word,
    .fallback = "inference",
    .help = "training: also writes the statistics of each group",
    .words = kNormModes};

// The variance is the mean of the squared differences from the mean.
struct Moments {
  double mean = 0;
  double variance = 0;
};
// `values` must not be empty. Uses two passes, so that the squares of the differences lose no
// precision if the mean is large.
Moments compute_moments(std::span<const double> values);

// Implements Operator::reference in direction forward. `parameter_index` returns the element of
// scale and shift that belongs to an element of the source.
std::vector<double> normalise_groups(
    const Problem& problem, ReferenceInputs inputs, std::span<const std::int64_t> positions,
    const std::function<std::size_t(std::size_t index)>& parameter_index);

// Implements Operator::reference for the outputs after the first: mean and variance of each group.
std::vector<double> group_statistics(const Problem& problem, ReferenceInputs inputs,
                                     std::size_t output, std::span<const std::int64_t> positions);

// Which elements of a norm share a value of scale and shift: `volume` neighbours of a group. The
// groups of an image have different values; those of several images have the same.
struct NormParameterLayout {
  std::size_t groups_per_image = 1;
  std::size_t volume = 1;
};

// Implements Operator::reference for the gradients of a norm. `root` names the input whose root,
// with epsilon, divides: the variance or the mean square. Without an input `mean`, the mean is 0.
// With x the normalised source and g = scale*diff_destination:
//   diff_source = (g - mean(g) - x*mean(g*x))/sqrt(root + epsilon), without mean(g) if there is no
//   mean; diff_scale = sum(diff_destination*x) and diff_shift = sum(diff_destination) over the
//   elements that share a value.
std::vector<double> normalisation_gradient(const Problem& problem, ReferenceInputs inputs,
                                           std::size_t output,
                                           std::span<const std::int64_t> positions,
                                           std::string_view root,
                                           const NormParameterLayout& layout = {});

// The tolerance of the gradients. `terms` names the quantity that counts the terms of the gradients
// of scale and shift: the groups; in batch and group norms the elements of a channel.
Tolerance normalisation_gradient_tolerance(const Problem& problem, std::string_view terms);

// Implements Operator::tolerance in direction forward.
Tolerance normalisation_tolerance(const Problem& problem);

}  // namespace bench::ops
