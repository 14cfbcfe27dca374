// SPDX-License-Identifier: Apache-2.0
// Describes where a kernel's buffer stores the elements of a tensor. Converts tensors on the host
// from the plain row-major form and back. Pure.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops::cuda {

// Channels per block of the layout blocked16.
inline constexpr std::int64_t kChannelBlock = 16;
// plain: row-major, which is nchw. nhwc: the second dimension is innermost. blocked16: channels in
// blocks of 16 (nChw16c); zeros pad the last block.
BENCH_ENUM(MemoryLayout, (plain, "nchw"), nhwc, blocked16);

// A box of elements. In both the plain and the packed form, element (i, j, ...) is at
// offset + i * strides[0] + j * strides[1] + ...
struct ArrangedBox {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> plain_strides, packed_strides;
  std::int64_t plain_offset = 0, packed_offset = 0;
};

// The positions of all elements of a tensor: one box, or two if the last block is not full.
struct Arrangement {
  std::vector<ArrangedBox> boxes;
  std::int64_t plain_elements = 0;
  std::int64_t packed_elements = 0;  // more than plain_elements if there is padding

  Bytes packed_size(DataType dtype) const;
};

// Returns row-major strides.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> dims);
// Returns dense strides in a layout. Not for blocked16.
std::vector<std::int64_t> layout_strides(std::span<const std::int64_t> dims, MemoryLayout layout);
// Returns the arrangement in a layout of a tensor with dimensions n, c and spatial ones. Tensors
// with fewer than three dimensions are plain in nhwc too.
Arrangement make_arrangement(std::span<const std::int64_t> dims, MemoryLayout layout);
// Returns an arrangement whose packed form has the given strides. `dims` are the sizes of the plain
// form, in the same order.
Arrangement strided_arrangement(std::span<const std::int64_t> dims,
                                std::span<const std::int64_t> packed_strides);
// The same with a packed form of `packed_elements`, some of which belong to no element of the
// tensor.
Arrangement padded_arrangement(std::span<const std::int64_t> dims,
                               std::span<const std::int64_t> packed_strides,
                               std::int64_t packed_elements);
// Whether two layouts order the elements of a tensor with these sizes identically.
bool same_order(std::span<const std::int64_t> dims, MemoryLayout a, MemoryLayout b);

// Convert a plain tensor to its packed form (arrange) and back (restore), both in host memory.
// arrange() sets the elements of padding to 0.
void arrange(const Arrangement& arrangement, DataType dtype, const void* plain, void* packed);
void restore(const Arrangement& arrangement, DataType dtype, const void* packed, void* plain);

}  // namespace bench::ops::cuda
