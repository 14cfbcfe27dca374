// SPDX-License-Identifier: Apache-2.0
// The positions of a tensor's elements in a kernel's buffer, and the host conversion from the plain
// row-major form and back. Pure.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops::cuda {

// plain: row-major, which is nchw. nhwc: the second dimension innermost. blocked16: channels in
// blocks of 16 (nChw16c); zeros pad the last block.
inline constexpr std::int64_t kChannelBlock = 16;
enum class MemoryLayout { plain, nhwc, blocked16 };
std::string_view to_string(MemoryLayout layout);  // "nchw", "nhwc", "blocked16"

// Element (i, j, ...) of `dims` is at offset + the sum of index * stride, in the
// plain form and in the packed form.
struct ArrangedBox {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> plain_strides, packed_strides;
  std::int64_t plain_offset = 0, packed_offset = 0;
};

// All elements of a tensor: one box, or two if the last block is not full.
struct Arrangement {
  std::vector<ArrangedBox> boxes;
  std::int64_t plain_elements = 0;
  std::int64_t packed_elements = 0;  // more than plain_elements if blocks are padded

  Bytes packed_size(DataType dtype) const;
};

// Row-major strides.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> dims);
// Dense strides in the order of a layout's memory. Not for blocked16.
std::vector<std::int64_t> layout_strides(std::span<const std::int64_t> dims, MemoryLayout layout);
// Arranges a tensor n, c, spatial in a layout. Tensors with fewer than three dimensions are plain
// in nhwc too.
Arrangement make_arrangement(std::span<const std::int64_t> dims, MemoryLayout layout);
// Arranges a tensor whose plain form has the sizes `dims` in this order, with the given strides.
Arrangement strided_arrangement(std::span<const std::int64_t> dims,
                                std::span<const std::int64_t> packed_strides);
// Whether two layouts order the elements of a tensor with these sizes identically.
bool same_order(std::span<const std::int64_t> dims, MemoryLayout a, MemoryLayout b);

// Convert between a plain tensor and its packed form, both in host memory. Block padding is set to
// 0.
void arrange(const Arrangement& arrangement, DataType dtype, const void* plain, void* packed);
void restore(const Arrangement& arrangement, DataType dtype, const void* packed, void* plain);

}  // namespace bench::ops::cuda
