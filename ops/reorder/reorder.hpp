// SPDX-License-Identifier: Apache-2.0
// The operator reorder: copies source to destination in another memory layout, in another order of
// the axes (`permutation`), or with another data type (`dst_dtype`). With layouts, sizes are
// logical (n, c, spatial), and the layouts determine how a backend arranges the buffers: in plain
// row-major form, which the reference uses, the destination equals the source, but for rounding.
#pragma once

#include "ops/operator.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// Returns the names of the layouts. nchw: row-major. nhwc: channels innermost. blocked16: channels
// in blocks of 16 (nChw16c), with the last block padded. All of them apply to 1 to 3 spatial
// dimensions.
std::span<const std::string_view> reorder_layouts();

// Returns the tensors, work and formulas of a reorder of a tensor with these sizes, of any rank and
// for any layouts: that of a network's step, too. Error: overflow.
Result<Model> reorder_model(std::span<const std::int64_t> dims, DataType dtype);

// Returns the strides of the destination's axes in the source, a plain tensor.
Dims permuted_strides(const Problem& problem);

std::vector<double> reorder_reference(const Problem& problem, ReferenceInputs inputs,
                                      std::size_t output, std::span<const std::int64_t> positions);

}  // namespace bench::ops
