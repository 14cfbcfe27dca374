// SPDX-License-Identifier: Apache-2.0
// Plans problems and parts of problems as launches of native kernels: which kernel, over which
// sizes and strides. Pure: planning and its tests need no device.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_plan.hpp"
#include "ops/cuda/kernels/plans.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

struct NativeTensor {
  Arrangement arrangement;
  DataType dtype = DataType::f32;
  // human-readable: "nchw", "nhwc", "blocked16"; "plain" below three dimensions
  std::string layout;
};

// One execution of a native kernel. Tensor numbers of the plan are indexes in `tensors`.
struct NativeForm {
  std::string implementation;  // "bench:softmax_block"
  std::string kind;            // "softmax"
  NativePlan plan;
  std::vector<NativeTensor> tensors;
  std::int64_t launches = 1;  // maximum number of launches that the kernel enqueues
};

// Plans a problem of an operator in native_entries(), in any direction. Layout::any selects plain.
// BackendError: there is no native kernel, with the reason.
Result<NativeForm, BackendError> native_form(const Problem& problem);

// Plans the conversion of a tensor to another layout, or its copy if both layouts are equal.
Result<NativeForm, BackendError> reorder_form(const Dims& dims, DataType dtype, MemoryLayout from,
                                              MemoryLayout to);

// The parts of such plans, which other operators use, too. Their tensors remain empty.
NativeForm transposition_form(const TransposePlan& plan);
// One side of a strided copy: the type and the strides of the elements, in the order of the sizes.
struct CopySide {
  DataType dtype;
  std::vector<std::int64_t> strides;
};
Result<NativeForm, BackendError> strided_copy_form(const Dims& dims, const CopySide& from,
                                                   const CopySide& to);

// Plans the copy of images in nhwc to images with more channels, whose further channels are 0.
NativeForm padding_form(const Dims& dims, DataType dtype, std::int64_t padded_channels);

// Plans the epilogue of a convolution or matrix product: bias, then post-ops. A product adds its
// bias itself. The first tensor is the result before the epilogue, with type `intermediate_dtype`
// and the output's layout. The problem's tensors from epilogue_start() on follow: bias, residuals,
// output.
Result<NativeForm, BackendError> epilogue_form(const Problem& problem, DataType intermediate_dtype,
                                               MemoryLayout layout);
// Returns the index of the problem's first tensor that only the epilogue uses.
std::size_t epilogue_start(const Problem& problem);

// Plans the gradient of a convolution's bias. Tensors: the gradient of the destination, the result.
NativeForm bias_gradient_form(const Problem& problem, MemoryLayout layout);

// Describes a complete tensor of a problem in a layout.
NativeTensor native_tensor(const Tensor& tensor, MemoryLayout layout);
// Describes all tensors of the problem in a layout.
std::vector<NativeTensor> native_tensors(const Problem& problem, MemoryLayout layout);
// Completes the plan of a kernel that takes plain tensors. `Plan` has `type` and `precision`.
template <class Plan>
NativeForm plain_form(const Problem& problem, std::string implementation, std::string kind,
                      Plan plan) {
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  return {std::move(implementation), std::move(kind), NativePlan(plan),
          native_tensors(problem, MemoryLayout::plain)};
}
// Returns the number of the problem's tensor with this name; -1 if it has none.
int tensor_number(const Problem& problem, std::string_view name);
// Returns the human-readable layout: "plain" for fewer than three dimensions.
std::string layout_name(std::span<const std::int64_t> dims, MemoryLayout layout);

// Returns the problem's layout. Replaces `any` by nchw for f64 and for f32 convolutions without
// TF32, else by nhwc, which tensor cores and pointwise engines expect.
Layout chosen_layout(const Problem& problem);
// Returns nhwc if the problem requests it, else plain.
MemoryLayout requested_layout(const Problem& problem);
// Whether the problem requests nhwc, and its first tensor has an order of its own in it: at least
// three dimensions.
bool is_in_nhwc(const Problem& problem);

}  // namespace bench::ops::cuda
