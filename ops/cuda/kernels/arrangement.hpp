// SPDX-License-Identifier: Apache-2.0
// Where the elements of a tensor lie in a kernel's buffer, and the way there from the plain
// row-major form and back, on the host. Pure.
#pragma once

#include "base/units.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bench::ops::cuda {

// plain: row-major, which is nchw; nhwc: the second dimension innermost; blocked16: channels in
// blocks of 16 (nChw16c), the last one filled up with zeros.
inline constexpr std::int64_t kChannelBlock = 16;
enum class MemoryLayout { plain, nhwc, blocked16 };
std::string_view name_of(MemoryLayout layout);  // "nchw", "nhwc", "blocked16"

// Elements (i, j, ...) of `dims` lie at the sums of i * stride in both forms, from the offsets on.
struct ArrangedBox {
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> plain_strides, packed_strides;
  std::int64_t plain_offset = 0, packed_offset = 0;
};

// All of a tensor, in one box or, with a block that is not full, two.
struct Arrangement {
  std::vector<ArrangedBox> boxes;
  std::int64_t plain_elements = 0;
  std::int64_t packed_elements = 0;  // more where blocks are filled up

  Bytes packed_size(DataType dtype) const;
};

// Row-major strides.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> dims);
// Dense strides in the order of a layout's memory; not of blocked16.
std::vector<std::int64_t> layout_strides(std::span<const std::int64_t> dims, MemoryLayout layout);
// A tensor n, c, spatial in a layout. Tensors of less than three dimensions are plain in nhwc too.
Arrangement arrangement_of(std::span<const std::int64_t> dims, MemoryLayout layout);
// A tensor whose plain form has the sizes `dims` in this order, under given strides.
Arrangement strided_arrangement(std::span<const std::int64_t> dims,
                                std::span<const std::int64_t> packed_strides);
// Whether two layouts of these sizes are one order of elements.
bool same_order(std::span<const std::int64_t> dims, MemoryLayout a, MemoryLayout b);

// Between a plain tensor and its packed form, both in memory of the host. What blocks are filled up
// with becomes 0.
void arrange(const Arrangement& arrangement, DataType dtype, const void* plain, void* packed);
void restore(const Arrangement& arrangement, DataType dtype, const void* packed, void* plain);

}  // namespace bench::ops::cuda
