// SPDX-License-Identifier: Apache-2.0
// How the tensors of a problem lie in the buffers that an operation graph reads and writes. Pure.
#pragma once

#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/problem.hpp"

#include <string>

namespace bench::ops::cuda {

// Of values before they are packed. inverse_deviation: 1 / sqrt(value + epsilon).
enum class PackedValues { unchanged, inverse_deviation };

struct PackedTensor {
  Arrangement arrangement;
  std::string layout;  // for people: "nchw", "nhwc", "plain"
  PackedValues values = PackedValues::unchanged;
};

// Tensor number `tensor` of the problem, which the graph knows as `form`.
PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form);

// Values of tensor `tensor` of a batch norm, in place: to and from what cuDNN reads.
void to_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);
void from_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);

}  // namespace bench::ops::cuda
