// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "ops/operator.hpp"
#include "ops/reorder/reorder.hpp"
#include "ops/verbose_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {

extern const Operator reorder_operator;

namespace {

constexpr std::array<std::string_view, 1> kPrimitives = {"reorder"};

struct LayoutRow {
  std::string_view tag;
  std::string_view layout;
};
constexpr std::array<LayoutRow, 9> kTags = {{
    {"abc", "nchw"},
    {"abcd", "nchw"},
    {"abcde", "nchw"},
    {"acb", "nhwc"},
    {"acdb", "nhwc"},
    {"acdeb", "nhwc"},
    {"aBc16b", "blocked16"},
    {"aBcd16b", "blocked16"},
    {"aBcde16b", "blocked16"},
}};

// Returns an empty name if the operator does not have the layout.
std::string_view find_layout(const MemoryDescriptor& descriptor) {
  const auto* row = std::ranges::find(kTags, descriptor.tag, &LayoutRow::tag);
  return row == kTags.end() || !descriptor.strides.empty() ? std::string_view() : row->layout;
}

// Returns false if the primitive also writes compensations of int8 weights. They are sums over the
// weights and thus additional work.
bool is_plain(const MemoryDescriptor* descriptor) {
  return descriptor != nullptr && (descriptor->flags.empty() || descriptor->flags == "f0");
}

// Only weights have blocks of their first dimension, the outputs of a convolution, or of both
// dimensions of a matrix. On a CPU, the first dimension of other tensors is the batch.
bool has_blocks_of_weights(std::string_view tag) { return tag.find('A') != std::string_view::npos; }

Error no_permutation(std::string what) { return {std::move(what), {}, {}}; }

Error padded_block(std::string_view tag) {
  std::string what = fmt::format(
      "the layout {} pads the last block of a dimension, which no case does", quote(tag));
  if (has_blocks_of_weights(tag))
    what +=
        "; a case of the primitive that reads these weights packs them before it measures "
        "(`reorder_ns`)";
  return no_permutation(std::move(what));
}

// A part of a dimension: one element of the part is `step` indices of the dimension. A tensor with
// blocks has the parts of a dimension at several places.
struct MemoryAxis {
  std::size_t dim = 0;
  std::int64_t step = 1;
  std::int64_t size = 1;
  friend bool operator==(const MemoryAxis&, const MemoryAxis&) = default;
};
using MemoryAxes = std::vector<MemoryAxis>;  // from the outermost to the innermost

// Reads the letters of "AcdB16b64a", one per dimension, which is upper-case if it has blocks, and
// the sizes of its blocks. nullopt: the tag has another form.
std::optional<MemoryAxes> parse_tag(std::string_view tag, std::size_t rank) {
  if (rank == 0 || tag.size() < rank) return std::nullopt;
  std::string letters = lower_case(tag.substr(0, rank));
  MemoryAxes axes;
  for (const char letter : letters) axes.push_back({.dim = static_cast<std::size_t>(letter - 'a')});
  std::ranges::sort(letters);
  if (letters != plain_tag(rank)) return std::nullopt;
  for (tag.remove_prefix(rank); !tag.empty();) {
    const std::size_t digits = std::min(tag.find_first_not_of("0123456789"), tag.size());
    const auto size = parse_number<std::int64_t>(tag.substr(0, digits));
    tag.remove_prefix(digits);
    const bool is_block = size && *size > 0 && !tag.empty() && tag[0] >= 'a' &&
                          static_cast<std::size_t>(tag[0] - 'a') < rank;
    if (!is_block) return std::nullopt;
    axes.push_back({.dim = static_cast<std::size_t>(tag[0] - 'a'), .size = *size});
    tag.remove_prefix(1);
  }
  return axes;
}

// Error: the tensor is not dense, or a block of it is not full.
Result<MemoryAxes> split_axes(const MemoryDescriptor& descriptor, const Dims& shape) {
  if (!descriptor.strides.empty())
    return no_permutation("a tensor has the strides of a larger one");
  auto axes = parse_tag(descriptor.tag, shape.size());
  if (!axes)
    return no_permutation(fmt::format("cases do not have the layout {}", quote(descriptor.tag)));
  Dims steps(shape.size(), 1);
  for (std::size_t i = axes->size(); i-- > shape.size();) {
    MemoryAxis& block = (*axes)[i];
    std::int64_t& step = steps[block.dim];
    block.step = step;
    if (block.size > shape[block.dim] / step) return padded_block(descriptor.tag);
    step *= block.size;
    if (shape[block.dim] % step != 0) return padded_block(descriptor.tag);
  }
  for (MemoryAxis& axis : std::span(*axes).first(shape.size())) {
    axis.step = steps[axis.dim];
    axis.size = shape[axis.dim] / axis.step;
  }
  return *std::move(axes);
}

// Splits parts where those of another tensor begin. Error: blocks are not multiples of others.
Result<MemoryAxes> refine_axes(const MemoryAxes& axes, const MemoryAxes& others) {
  MemoryAxes refined;
  for (const MemoryAxis& axis : axes) {
    std::int64_t end = axis.step * axis.size;
    std::vector<std::int64_t> steps = {axis.step};
    for (const MemoryAxis& other : others)
      if (other.dim == axis.dim && other.step > axis.step && other.step < end)
        steps.push_back(other.step);
    std::ranges::sort(steps, std::greater());
    for (const std::int64_t step : steps) {
      if (end % step != 0) return no_permutation("the blocks of its layouts do not fit together");
      refined.push_back({axis.dim, step, end / step});
      end = step;
    }
  }
  return refined;
}

// Sets the order of axes: the case's source has the order of the source in memory. A block is an
// axis of its own, so each element moves as it does in the library. A conversion to a type of cases
// that keeps the order needs no permutation.
Status set_permutation(const Dims& shape, const MemoryDescriptor& source,
                       const MemoryDescriptor& destination, ParameterSet& set) {
  BENCH_ASSIGN_OR_RETURN(const MemoryAxes whole_source, split_axes(source, shape));
  BENCH_ASSIGN_OR_RETURN(const MemoryAxes whole_destination, split_axes(destination, shape));
  BENCH_ASSIGN_OR_RETURN(MemoryAxes from, refine_axes(whole_source, whole_destination));
  BENCH_ASSIGN_OR_RETURN(MemoryAxes to, refine_axes(whole_destination, whole_source));
  if (from.size() != shape.size() || to.size() != shape.size()) {
    const auto is_single = [](const MemoryAxis& axis) { return axis.size == 1; };
    std::erase_if(from, is_single);
    std::erase_if(to, is_single);
  }
  Dims stored, permutation;
  for (const MemoryAxis& axis : from) stored.push_back(axis.size);
  for (const MemoryAxis& axis : to)
    permutation.push_back(std::ranges::find(from, axis) - from.begin());
  if (!std::ranges::is_permutation(from, to) || from.empty())
    return no_permutation("the blocks of its layouts do not fit together");
  set.set("shape", std::move(stored));
  const bool converts =
      source.dtype != destination.dtype && data_type_from_name(destination.dtype).has_value();
  if (from != to || !converts) set.set("permutation", std::move(permutation));
  return Done{};
}

// Sets layouts of which the operator has no names. Each element is moved once, whatever the layout.
// Returns false if their number is too large.
bool set_moved_elements(const Dims& shape, VerboseProblem& result, ParameterSet& set) {
  const auto elements = element_count(shape);
  if (!elements) return false;
  const std::string layout(reorder_layouts().front());
  set.set("shape", Dims{1, 1, *elements});
  set.set("from", layout);
  set.set("to", layout);
  result.fidelity = VerboseFidelity::work_only;
  return true;
}

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const MemoryDescriptor* source = primitive.find("src");
  const MemoryDescriptor* destination = primitive.find("dst");
  auto shape = parse_dims(primitive.problem);
  if (!shape || !is_plain(source) || !is_plain(destination)) return std::nullopt;
  const std::string_view from = find_layout(*source);
  const std::string_view to = find_layout(*destination);
  VerboseProblem result;
  ParameterSet set(reorder_operator.parameters);
  if (!from.empty() && !to.empty() && source->rank() == shape->size()) {
    set.set("shape", *shape);
    set.set("from", std::string(from));
    set.set("to", std::string(to));
  } else if (const Status status = set_permutation(*shape, *source, *destination, set);
             !status.ok()) {
    if (!set_moved_elements(*shape, result, set)) return std::nullopt;
    result.obstacle = status.error().what;
  }
  if (destination->dtype != source->dtype) {
    // The library has types that cases have not.
    if (data_type_from_name(destination->dtype)) {
      set.set("dst_dtype", std::string(destination->dtype));
    } else {
      result.fidelity = VerboseFidelity::work_only;
    }
  }
  result.request.parameters = std::move(set);
  return result;
}

}  // namespace

extern const VerboseMapping reorder_verbose;
const VerboseMapping reorder_verbose = {
    .op = "reorder", .primitives = kPrimitives, .request = parse_request};

}  // namespace bench::ops
