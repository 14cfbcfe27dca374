// SPDX-License-Identifier: Apache-2.0
// Problems in cuDNN's terms, as plain numbers: sizes and strides of tensors, which of them plays
// which part. Pure.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct TensorForm {
  std::string name;
  std::int64_t uid = 0;  // 1 + its number in Problem::tensors; intermediate results from 1000 on
  DataType dtype = DataType::f32;
  std::vector<std::int64_t> dims;  // n, c, then at least two spatial sizes; a filter: k, c/g, ...
  std::vector<std::int64_t> strides;  // in elements
};

// What `any` becomes: nhwc, which tensor cores are fed from and which pointwise engines want; nchw
// for f64, and for convolutions of f32 without TF32.
Layout chosen_layout(const Problem& problem);
// Dense strides: the last dimension innermost (nchw), or the second (nhwc).
std::vector<std::int64_t> dense_strides(std::span<const std::int64_t> dims, Layout layout);
// A tensor of the problem under the sizes `dims`.
TensorForm form_of(const Problem& problem, std::size_t tensor, std::vector<std::int64_t> dims,
                   Layout layout);

// cuDNN has one operation for y(x, w), one for x(y, w), one for w(x, y).
enum class ConvKind { forward, data, weights };

// One-dimensional convolutions get a height of 1. A transposed convolution is the gradient of a
// plain one whose input it makes: it swaps x and y, forward and data.
struct ConvForm {
  ConvKind kind = ConvKind::forward;
  TensorForm x, w, y;
  std::vector<std::int64_t> stride, dilation, pad_before, pad_after;  // outermost first
};

// Refusal: what the graph API has no operation for (the gradient of a bias).
Result<ConvForm, Refusal> conv_form(const Problem& problem);

}  // namespace bench::ops::cuda
