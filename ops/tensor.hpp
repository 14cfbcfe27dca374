// SPDX-License-Identifier: Apache-2.0
// Creates the tensors and the counts of a model. Every product is checked for overflow.
#pragma once

#include "base/checked.hpp"
#include "base/result.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace bench::ops {

// One dimension of a tensor and the parameter that a user would change to reduce it.
struct Extent {
  std::string_view parameter;
  std::int64_t size;
};

// Creates a tensor whose elements are all used. Error: more than 2^63 - 1 elements or bytes. Its
// `where` is the first parameter, from the outermost dimension on, at which the product exceeds the
// range.
Result<Tensor> make_tensor(std::string_view name, TensorRole role, DataType dtype,
                           const std::vector<Extent>& extents);

// Whether the elements of a tensor are positions in another tensor: s32 inputs named `indices` or
// `labels`. A value out of range would make a kernel access foreign memory.
bool holds_indices(const Tensor& tensor);

// Returns the value of a count. Error: the count exceeds 2^63 - 1. `name`: the name of the count
// ("flops"). `where`: the parameter that the error names.
Result<std::int64_t> in_range(Checked count, std::string_view name, std::string_view where);

// Sets bytes_read and bytes_written from the used elements of `tensors`.
Status count_bytes(const std::vector<Tensor>& tensors, Work& work);

// Returns the formula "bytes": one term per tensor, "used elements * element size".
Formula bytes_formula(const std::vector<Tensor>& tensors);

}  // namespace bench::ops
