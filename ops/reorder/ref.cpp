// SPDX-License-Identifier: Apache-2.0
#include "ops/model.hpp"
#include "ops/reorder/reorder.hpp"

namespace bench::ops {

std::vector<double> reorder_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t /*output: there is one*/,
                                      std::span<const std::int64_t> positions) {
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    return inputs[0][static_cast<std::size_t>(position)];
  });
}

}  // namespace bench::ops
