// SPDX-License-Identifier: Apache-2.0
// The arrangement of a problem's tensors in the buffers that an operation graph reads and writes.
// Pure.
#pragma once

#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/problem.hpp"

#include <string>

namespace bench::ops::cuda {

// Transformation of values before packing. inverse_deviation: 1 / sqrt(value + epsilon).
enum class PackedValues { unchanged, inverse_deviation };

struct PackedTensor {
  Arrangement arrangement;
  std::string layout;  // human-readable: "nchw", "nhwc", "plain"
  PackedValues values = PackedValues::unchanged;
};

// Arranges tensor number `tensor` of the problem, which the graph knows as `form`.
PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form);

// Convert values of a batch norm tensor in place, to and from the form that cuDNN reads.
void to_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);
void from_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);

}  // namespace bench::ops::cuda
