// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/model.hpp"

#include <cmath>

namespace bench::ops {

std::vector<double> batch_norm_reference(const Problem& problem, ReferenceInputs inputs,
                                         std::size_t /*output: there is one*/,
                                         std::span<const std::int64_t> positions) {
  const Tensor& result = problem.tensors.back();
  const std::int64_t channels = result.dims[1];
  std::int64_t plane = 1;  // elements of one channel of one image
  for (std::size_t i = 2; i < result.dims.size(); ++i) plane *= result.dims[i];
  const double epsilon = problem.parameters.real("epsilon");
  return evaluate(result.elements(), positions, [&](std::int64_t position) {
    const auto channel = static_cast<std::size_t>(position / plane % channels);
    const double centred = inputs[0][static_cast<std::size_t>(position)] - inputs[1][channel];
    const double deviation = std::sqrt(inputs[2][channel] + epsilon);
    return stored_value(result.dtype,
                        inputs[3][channel] * centred / deviation + inputs[4][channel]);
  });
}

}  // namespace bench::ops
