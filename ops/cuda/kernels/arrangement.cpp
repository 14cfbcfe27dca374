// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/arrangement.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace bench::ops::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) result *= size;
  return result;
}

// --- Functions that copy boxes.

struct Axis {
  std::int64_t size;
  std::int64_t from, to;  // strides of the source and of the target, in elements
};

// Returns the axes of a copy, the target's outermost first. Omits axes of one element, and merges
// axes that are contiguous in both source and target.
std::vector<Axis> merge_axes(std::span<const std::int64_t> dims, std::span<const std::int64_t> from,
                             std::span<const std::int64_t> to) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) axes.push_back({dims[i], from[i], to[i]});
  }
  std::ranges::stable_sort(axes, std::ranges::greater{}, &Axis::to);
  std::vector<Axis> result;
  for (const Axis& axis : axes) {
    const bool is_contiguous = !result.empty() && result.back().from == axis.from * axis.size &&
                               result.back().to == axis.to * axis.size;
    if (is_contiguous) {
      result.back() = {result.back().size * axis.size, axis.from, axis.to};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

// Edge length of a tile in elements. A source tile and a target tile together fit into the L1
// cache.
constexpr std::int64_t kTile = 32;

template <class Word>
void copy_plane(const Axis& rows, const Axis& columns, const Word* from, Word* to) {
  for (std::int64_t r = 0; r < rows.size; r += kTile) {
    const std::int64_t last_row = std::min(r + kTile, rows.size);
    for (std::int64_t c = 0; c < columns.size; c += kTile) {
      const std::int64_t last_column = std::min(c + kTile, columns.size);
      for (std::int64_t i = r; i < last_row; ++i) {
        const Word* source = from + i * rows.from;
        Word* target = to + i * rows.to;
        for (std::int64_t j = c; j < last_column; ++j) {
          target[j * columns.to] = source[j * columns.from];
        }
      }
    }
  }
}

template <class Word>
void copy_line(const Axis& axis, const Word* from, Word* to) {
  if (axis.from == 1 && axis.to == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(axis.size) * sizeof(Word));
    return;
  }
  for (std::int64_t i = 0; i < axis.size; ++i) to[i * axis.to] = from[i * axis.from];
}

// Copies a box plane by plane. `axes` start with the target's outermost axis. A plane consists of
// the innermost axes of source and target. If both are the same axis, this copies line by line.
template <class Word>
void copy_axes(std::vector<Axis> axes, const Word* from, Word* to) {
  if (axes.empty()) {
    *to = *from;
    return;
  }
  const Axis inner = axes.back();
  axes.pop_back();
  const auto source_inner = std::ranges::min_element(axes, {}, &Axis::from);
  const bool is_plane = source_inner != axes.end() && source_inner->from < inner.from;
  const Axis rows = is_plane ? *source_inner : Axis{1, 0, 0};
  if (is_plane) axes.erase(source_inner);
  std::vector<std::int64_t> index(axes.size(), 0);
  while (true) {
    if (is_plane) {
      copy_plane(rows, inner, from, to);
    } else {
      copy_line(inner, from, to);
    }
    std::size_t d = axes.size();
    while (d > 0) {
      --d;
      from += axes[d].from;
      to += axes[d].to;
      if (++index[d] < axes[d].size) break;
      from -= axes[d].from * axes[d].size;
      to -= axes[d].to * axes[d].size;
      index[d] = 0;
      if (d == 0) return;
    }
    if (axes.empty()) return;
  }
}

template <class Word>
void copy_box(std::vector<Axis> axes, const void* from, std::int64_t from_offset, void* to,
              std::int64_t to_offset) {
  copy_axes(std::move(axes), static_cast<const Word*>(from) + from_offset,
            static_cast<Word*>(to) + to_offset);
}

using CopyBox = void (*)(std::vector<Axis> axes, const void* from, std::int64_t from_offset,
                         void* to, std::int64_t to_offset);

CopyBox select_copy_box(DataType dtype) {
  switch (info(dtype).bytes) {
    case 1:
      return copy_box<std::uint8_t>;
    case 2:
      return copy_box<std::uint16_t>;
    case 4:
      return copy_box<std::uint32_t>;
    default:
      return copy_box<std::uint64_t>;
  }
}

// --- The blocked layout: n, blocks of c, spatial positions, channels within a block.

ArrangedBox blocked_box(std::span<const std::int64_t> dims, std::int64_t first_block,
                        std::int64_t blocks, std::int64_t channels) {
  const std::int64_t volume = product(dims.subspan(2));
  const std::int64_t all_blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  ArrangedBox box;
  box.dims = {dims[0], blocks, channels, volume};
  box.plain_strides = {dims[1] * volume, kChannelBlock * volume, volume, 1};
  box.packed_strides = {all_blocks * kChannelBlock * volume, kChannelBlock * volume, 1,
                        kChannelBlock};
  box.plain_offset = box.packed_offset = first_block * kChannelBlock * volume;
  return box;
}

Arrangement blocked_arrangement(std::span<const std::int64_t> dims) {
  Arrangement result;
  const std::int64_t full_blocks = dims[1] / kChannelBlock;
  const std::int64_t last_channels = dims[1] % kChannelBlock;
  if (full_blocks > 0) result.boxes.push_back(blocked_box(dims, 0, full_blocks, kChannelBlock));
  if (last_channels > 0) result.boxes.push_back(blocked_box(dims, full_blocks, 1, last_channels));
  result.plain_elements = product(dims);
  result.packed_elements = dims[0] * (full_blocks + (last_channels > 0 ? 1 : 0)) * kChannelBlock *
                           product(dims.subspan(2));
  return result;
}

}  // namespace

Bytes Arrangement::packed_size(DataType dtype) const {
  return {packed_elements * info(dtype).bytes};
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> dims) {
  Sizes strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::vector<std::int64_t> layout_strides(std::span<const std::int64_t> dims, MemoryLayout layout) {
  assert(layout != MemoryLayout::blocked16);
  Sizes strides = row_major_strides(dims);
  if (layout == MemoryLayout::plain || dims.size() < 3) return strides;
  strides[1] = 1;
  std::int64_t step = dims[1];
  for (std::size_t i = dims.size(); i-- > 2;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;  // the stride of the images is unchanged
}

Arrangement strided_arrangement(std::span<const std::int64_t> dims,
                                std::span<const std::int64_t> packed_strides) {
  Arrangement result;
  result.boxes.push_back({Sizes(dims.begin(), dims.end()), row_major_strides(dims),
                          Sizes(packed_strides.begin(), packed_strides.end())});
  result.plain_elements = result.packed_elements = product(dims);
  return result;
}

Arrangement padded_arrangement(std::span<const std::int64_t> dims,
                               std::span<const std::int64_t> packed_strides,
                               std::int64_t packed_elements) {
  Arrangement result = strided_arrangement(dims, packed_strides);
  result.packed_elements = packed_elements;
  return result;
}

Arrangement make_arrangement(std::span<const std::int64_t> dims, MemoryLayout layout) {
  if (layout == MemoryLayout::blocked16) return blocked_arrangement(dims);
  return strided_arrangement(dims, layout_strides(dims, layout));
}

bool same_order(std::span<const std::int64_t> dims, MemoryLayout a, MemoryLayout b) {
  if (a == b) return true;
  if (a == MemoryLayout::blocked16 || b == MemoryLayout::blocked16) return false;
  return dims.size() < 3 || dims[1] == 1 || product(dims.subspan(2)) == 1;
}

void arrange(const Arrangement& arrangement, DataType dtype, const void* plain, void* packed) {
  if (arrangement.packed_elements > arrangement.plain_elements) {
    std::memset(packed, 0, static_cast<std::size_t>(arrangement.packed_size(dtype).count));
  }
  for (const ArrangedBox& box : arrangement.boxes) {
    select_copy_box(dtype)(merge_axes(box.dims, box.plain_strides, box.packed_strides), plain,
                           box.plain_offset, packed, box.packed_offset);
  }
}

void restore(const Arrangement& arrangement, DataType dtype, const void* packed, void* plain) {
  for (const ArrangedBox& box : arrangement.boxes) {
    select_copy_box(dtype)(merge_axes(box.dims, box.packed_strides, box.plain_strides), packed,
                           box.packed_offset, plain, box.plain_offset);
  }
}

}  // namespace bench::ops::cuda
