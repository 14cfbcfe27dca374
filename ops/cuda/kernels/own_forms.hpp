// SPDX-License-Identifier: Apache-2.0
// Problems and parts of problems as launches of our own kernels: which one, over which sizes and
// strides. Pure: planned and tested without a device.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/kernels/plans.hpp"
#include "ops/problem.hpp"

#include <string>
#include <vector>

namespace bench::ops::cuda {

struct OwnTensor {
  Arrangement arrangement;
  DataType dtype = DataType::f32;
  std::string layout;  // for people: "nchw", "nhwc", "blocked16"; "plain" below three dimensions
};

// A launch; its plan numbers tensors as `tensors` does.
struct OwnForm {
  std::string implementation;  // "bench:softmax_block"
  std::string kind;            // "softmax"
  OwnPlan plan;
  std::vector<OwnTensor> tensors;
};

// pointwise, batch_norm, softmax, reorder, in any direction that they have. `any` is plain.
// Refusal: there is no kernel of ours, with the reason.
Result<OwnForm, Refusal> own_form(const Problem& problem);

// A tensor in another layout. Layouts differ, or a copy is made.
Result<OwnForm, Refusal> reorder_form(const Dims& dims, DataType dtype, MemoryLayout from,
                                      MemoryLayout to);

// What stands behind a convolution or a matrix product: the convolution's bias (a product adds its
// own), then post-ops. Tensors: the result so far, of type `between` and in the layout of the
// output; then those of the problem from number epilogue_start() on: bias and residuals, the
// output.
Result<OwnForm, Refusal> epilogue_form(const Problem& problem, DataType between,
                                       MemoryLayout layout);
std::size_t epilogue_start(const Problem& problem);

// The gradient of a convolution's bias. Tensors: the gradient of the destination, the result.
OwnForm bias_gradient_form(const Problem& problem, MemoryLayout layout);

// nhwc where the problem asks for it, else plain.
MemoryLayout asked_layout(const Problem& problem);

}  // namespace bench::ops::cuda
