// SPDX-License-Identifier: Apache-2.0
// Which cases repeat an operator of a framework that a GPU executed, from what its kernels state.
#pragma once

#include "base/result.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What is known of an operator's call. The views must outlive it.
struct GpuCall {
  std::string_view op;         // "aten::mm", "conv2d" of PyProf, or an operator of `bench`: "conv"
  std::string_view direction;  // as Activity::direction
  std::string_view dtype;      // type of all tensors; empty if unknown
  std::string_view parameters;
  std::string_view in_shapes;
  std::string_view problem;    // Kineto's shapes, or PyProf's marker
  std::string_view arguments;  // Kineto's values of arguments
  bool names_tf32 = false;     // whether a kernel's name says that it rounds to TF32
};

// Returns the call as text: "aten::mm forward f32 [[8, 16], [16, 4]]".
std::string describe_gpu_call(const GpuCall& call);

// Returns the problems that the call computes: one, or those of both gradients of a convolution,
// data first. Their matrices and images are dense: strides are not recorded. `kernel` is one of the
// call's kernels that computes. Error: `what` says why no case repeats the call.
Result<std::vector<ops::Problem>> find_gpu_cases(const GpuCall& call, const Activity& kernel);

}  // namespace bench
