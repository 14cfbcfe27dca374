// SPDX-License-Identifier: Apache-2.0
// What layer_norm and group_norm share: groups of contiguous elements, each normalised by its own
// mean and variance. Their descriptions have the quantity `size`, the elements of a group, and the
// parameters `epsilon`, `scale` and `shift`.
#pragma once

#include "ops/description.hpp"
#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace bench::ops {

// The parameter `epsilon`, also of batch_norm. The default is that of PyTorch and ONNX.
inline constexpr Parameter kVarianceEpsilon = {.name = "epsilon",
                                               .token = "eps",
                                               .kind = ParameterKind::real,
                                               .fallback = "1e-05",
                                               .help = "added to the variance, above 0",
                                               .above = 0};

// Implements Operator::reference. `parameter_index` returns the element of scale and shift that
// belongs to an element of the source.
std::vector<double> normalise_groups(
    const Problem& problem, ReferenceInputs inputs, std::span<const std::int64_t> positions,
    const std::function<std::size_t(std::size_t index)>& parameter_index);

// Implements Operator::tolerance.
Tolerance normalisation_tolerance(const Problem& problem);

}  // namespace bench::ops
