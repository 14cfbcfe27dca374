// SPDX-License-Identifier: Apache-2.0
// Plans an elementwise launch from logical sizes and strides. Orders the dimensions as in the
// destination's memory, and merges those that are contiguous in all tensors.
#pragma once

#include "base/data_type.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

Element to_element(DataType dtype);
// Returns the precision that a type is computed in.
Precision to_precision(DataType dtype);
// Look up names in ops/pointwise/functions.hpp. Return nullopt if the name is unknown.
std::optional<Function> find_function(std::string_view name);
std::optional<Combination> find_combination(std::string_view name);

class ElementwisePlanner {
 public:
  // `dims` are the destination's sizes, in any order. All strides below must use the same order.
  ElementwisePlanner(std::vector<std::int64_t> dims, Precision precision);

  // Adds tensor number `tensor` of the launch as an operand. Returns the operand's index. The first
  // operand is the initial value of the steps.
  int operand(int tensor, DataType dtype, std::vector<std::int64_t> strides);
  void destination(int tensor, DataType dtype, std::vector<std::int64_t> strides);
  void step(const ElementStep& step) { steps_.push_back(step); }
  // Makes positions with index[block] * size + index[within] >= limit padding.
  void set_padding(PaddingMode mode, int block, int within, std::int64_t size, std::int64_t limit);

  // BackendError: too many dimensions, operands or steps for one launch.
  Result<ElementwisePlan, BackendError> finish() const;

 private:
  struct Tensor {
    int number;
    DataType dtype;
    std::vector<std::int64_t> strides;
  };
  std::vector<std::size_t> order_dimensions() const;
  bool can_merge(std::size_t outer, std::size_t inner) const;

  std::vector<std::int64_t> dims_;
  Precision precision_;
  std::vector<Tensor> operands_;
  Tensor destination_{0, DataType::f32, {}};
  std::vector<ElementStep> steps_;
  PaddingMode padding_ = PaddingMode::none;
  std::size_t block_ = 0, within_ = 0;
  std::int64_t block_size_ = 1, limit_ = 1;
};

}  // namespace bench::ops::cuda
