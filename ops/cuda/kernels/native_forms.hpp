// SPDX-License-Identifier: Apache-2.0
// Plans problems and parts of problems as launches of native kernels: which kernel, over which
// sizes and strides. Pure: planned and tested without a device.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/kernels/native_plan.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct NativeTensor {
  Arrangement arrangement;
  DataType dtype = DataType::f32;
  // human-readable: "nchw", "nhwc", "blocked16"; "plain" below three dimensions
  std::string layout;
};

// One execution of a native kernel. Its plan numbers tensors as `tensors` does.
struct NativeForm {
  std::string implementation;  // "bench:softmax_block"
  std::string kind;            // "softmax"
  NativePlan plan;
  std::vector<NativeTensor> tensors;
  std::int64_t launches = 1;  // maximum that the kernel's launcher enqueues
};

// Serves the operators in native_entries(), in each direction that they have. `any` selects plain.
// BackendError: there is no native kernel, with the reason.
Result<NativeForm, BackendError> native_form(const Problem& problem);

// Converts a tensor to another layout, or copies it if both layouts are equal.
Result<NativeForm, BackendError> reorder_form(const Dims& dims, DataType dtype, MemoryLayout from,
                                              MemoryLayout to);

// What follows a convolution or a matrix product: the convolution's bias (a product adds its own),
// then post-ops. Tensors: first the result so far, of type `between` in the output's layout. Then
// those of the problem from index epilogue_start() on: bias and residuals, the output.
Result<NativeForm, BackendError> epilogue_form(const Problem& problem, DataType between,
                                               MemoryLayout layout);
std::size_t epilogue_start(const Problem& problem);

// The gradient of a convolution's bias. Tensors: the gradient of the destination, the result.
NativeForm bias_gradient_form(const Problem& problem, MemoryLayout layout);

// A whole tensor of a problem in a layout.
NativeTensor native_tensor(const Tensor& tensor, MemoryLayout layout);
std::string layout_name(std::span<const std::int64_t> dims, MemoryLayout layout);

// Returns nhwc if the problem requests it, else plain.
MemoryLayout requested_layout(const Problem& problem);

}  // namespace bench::ops::cuda
