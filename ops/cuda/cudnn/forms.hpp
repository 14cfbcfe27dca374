// SPDX-License-Identifier: Apache-2.0
// Describes problems as cuDNN expects them: sizes, strides and roles of tensors, as plain numbers.
// Pure; does not call cuDNN.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// A tensor as cuDNN's graph API describes it.
struct TensorForm {
  std::string name;
  std::int64_t uid = 0;  // 1 + its index in Problem::tensors; intermediate results start at 1000
  DataType dtype = DataType::f32;
  std::vector<std::int64_t> dims;  // n, c, spatial sizes (at least two); of a filter: k, c/g, ...
  std::vector<std::int64_t> strides;  // in elements
};

// Returns dense strides. The last dimension is innermost for nchw, the second for nhwc.
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims, Layout layout);
// Describes tensor number `tensor` of the problem with the sizes `dims`.
TensorForm tensor_form(const Problem& problem, std::size_t tensor, std::vector<std::int64_t> dims,
                       Layout layout);

// cuDNN has one operation per result: y(x, w), x(y, w) and w(x, y).
enum class ConvKind { forward, data, weights };

// One-dimensional convolutions get a height of 1. A transposed convolution is described as the data
// gradient of a plain convolution: x and y are swapped, and so are ConvKind::forward and
// ConvKind::data.
struct ConvForm {
  ConvKind kind = ConvKind::forward;
  TensorForm x, w, y;
  std::vector<std::int64_t> stride, dilation, pad_before, pad_after;  // outermost first
};

// Describes a convolution. BackendError: the graph API has no operation for the problem (the
// gradient of a bias).
Result<ConvForm, BackendError> conv_form(const Problem& problem);

}  // namespace bench::ops::cuda
