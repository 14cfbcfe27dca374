// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/layout.hpp"

#include <dnnl_debug.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace bench::ops {
namespace {

using dnnl::memory;

// Returns a descriptor with dense strides. `order` lists the dimensions, outermost first.
memory::desc ordered_desc(const memory::dims& dims, memory::data_type type,
                          const std::vector<std::size_t>& order) {
  memory::dims strides(dims.size());
  memory::dim stride = 1;
  for (auto dimension = order.rbegin(); dimension != order.rend(); ++dimension) {
    strides[*dimension] = stride;
    stride *= dims[*dimension];
  }
  return {dims, type, strides};
}

std::vector<std::size_t> natural_order(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Returns how many elements of each dimension the innermost block contains.
memory::dims block_sizes(const memory::desc& desc) {
  memory::dims sizes(desc.get_dims().size(), 1);
  const auto blocks = desc.get_inner_blks();
  const auto blocked = desc.get_inner_idxs();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    sizes[static_cast<std::size_t>(blocked[i])] *= blocks[i];
  }
  return sizes;
}

// Whether the elements are contiguous. `order` lists the dimensions, innermost last.
bool is_dense(const memory::desc& desc, const std::vector<std::size_t>& order) {
  const auto strides = desc.get_strides();
  const auto padded = desc.get_padded_dims();
  const memory::dims blocks = block_sizes(desc);
  memory::dim expected_stride = 1;
  for (const memory::dim block : blocks) expected_stride *= block;
  for (auto dimension = order.rbegin(); dimension != order.rend(); ++dimension) {
    const memory::dim count = padded[*dimension] / blocks[*dimension];
    if (count != 1 && strides[*dimension] != expected_stride) return false;
    expected_stride *= count;
  }
  return true;
}

// One loop of the nest that visits the elements in memory order.
struct Loop {
  std::size_t dimension;
  memory::dim count;
  memory::dim stride;
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Whether strides and blocks describe the layout completely, without padding or offset.
bool is_defined_by_strides(const memory::desc& desc) {
  return desc.get_format_kind() == memory::format_kind::blocked &&
         desc.get_padded_dims() == desc.get_dims() && desc.get_submemory_offset() == 0;
}

// Returns the loops, outermost first. Omits loops with one step, and merges loops that continue
// each other.
std::vector<Loop> find_loops(const memory::desc& desc) {
  const auto dims = desc.get_dims();
  const auto strides = desc.get_strides();
  const auto blocks = desc.get_inner_blks();
  const auto blocked = desc.get_inner_idxs();
  const memory::dims sizes = block_sizes(desc);
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < dims.size(); ++i)
    loops.push_back({i, dims[i] / sizes[i], strides[i]});
  memory::dim stride = 1;
  for (const memory::dim block : blocks) stride *= block;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    stride /= blocks[i];
    loops.push_back({static_cast<std::size_t>(blocked[i]), blocks[i], stride});
  }
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, std::ranges::greater(), &Loop::stride);
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    const bool continues_previous = !merged.empty() && merged.back().dimension == loop.dimension &&
                                    merged.back().stride == loop.stride * loop.count;
    if (continues_previous) {
      merged.back().count *= loop.count;
      merged.back().stride = loop.stride;
    } else {
      merged.push_back(loop);
    }
  }
  return merged;
}

}  // namespace

std::optional<memory::data_type> find_onednn_type(DataType type) {
  switch (type) {
    case DataType::f32:
      return memory::data_type::f32;
    case DataType::f16:
      return memory::data_type::f16;
    case DataType::bf16:
      return memory::data_type::bf16;
    case DataType::s32:
      return memory::data_type::s32;
    case DataType::s8:
      return memory::data_type::s8;
    case DataType::u8:
      return memory::data_type::u8;
    case DataType::f64:
    case DataType::f8_e4m3:
    case DataType::f8_e5m2:
      return std::nullopt;
  }
  return std::nullopt;
}

memory::data_type onednn_type(DataType type) {
  const auto onednn_data_type = find_onednn_type(type);
  assert(onednn_data_type.has_value());
  return *onednn_data_type;
}

memory::desc any_desc(const Dims& dims, DataType type) {
  return {dims, onednn_type(type), memory::format_tag::any};
}

memory::desc row_major_desc(const memory::dims& dims, memory::data_type type) {
  return ordered_desc(dims, type, natural_order(dims.size()));
}

memory::desc plain_desc(const Dims& dims, DataType type) {
  return row_major_desc(dims, onednn_type(type));
}

memory::desc channels_last_desc(const Dims& dims, DataType type) {
  std::vector<std::size_t> order = natural_order(dims.size());
  if (is_spatial(dims)) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return ordered_desc(dims, onednn_type(type), order);
}

memory::desc make_layout_desc(Layout layout, const Dims& dims, DataType type) {
  switch (layout) {
    case Layout::any:
      break;
    case Layout::nchw:
      return plain_desc(dims, type);
    case Layout::nhwc:
      return channels_last_desc(dims, type);
  }
  return any_desc(dims, type);
}

bool same_order(const memory::desc& a, const memory::desc& b) {
  if (a == b) return true;
  return is_defined_by_strides(a) && is_defined_by_strides(b) && a.get_dims() == b.get_dims() &&
         a.get_data_type() == b.get_data_type() && find_loops(a) == find_loops(b);
}

std::string format_layout(const memory::desc& desc) {
  if (desc.get_format_kind() == memory::format_kind::any) return "any";
  if (desc.get_format_kind() != memory::format_kind::blocked) return "opaque";
  const auto strides = desc.get_strides();
  const memory::dims sizes = block_sizes(desc);
  std::vector<std::size_t> order = natural_order(strides.size());
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  std::string text;
  for (const std::size_t dimension : order) {
    text += static_cast<char>((sizes[dimension] > 1 ? 'A' : 'a') + static_cast<int>(dimension));
  }
  const auto blocks = desc.get_inner_blks();
  const auto blocked = desc.get_inner_idxs();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    text += fmt::format("{}{}", blocks[i], static_cast<char>('a' + blocked[i]));
  }
  if (!is_dense(desc, order)) text += fmt::format(" strides {}", fmt::join(strides, "x"));
  return text;
}

std::optional<memory::desc> parse_desc(const std::string& text, const Dims& dims, DataType type) {
  for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
    const char* const name = dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag));
    if (text != name) continue;
    return memory::desc(dims, onednn_type(type), static_cast<memory::format_tag>(tag));
  }
  return std::nullopt;
}

}  // namespace bench::ops
