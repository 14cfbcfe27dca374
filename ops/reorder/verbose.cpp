// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/operator.hpp"
#include "ops/reorder/reorder.hpp"
#include "ops/verbose_text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

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

// Returns whether the tensor is dense and has no blocks: its tag has each letter once.
bool is_dense(const MemoryDescriptor& descriptor, std::size_t rank) {
  std::string letters(descriptor.tag);
  std::ranges::sort(letters);
  return descriptor.strides.empty() && letters == plain_tag(rank);
}

// Only weights have blocks of their first dimension, the outputs of a convolution, or of both
// dimensions of a matrix. On a CPU, the first dimension of other tensors is the batch.
bool has_blocks_of_weights(const MemoryDescriptor& descriptor) {
  return descriptor.tag.find('A') != std::string_view::npos;
}

constexpr std::string_view kPacksWeights =
    "it packs weights in the blocked layout that the primitive which reads them has chosen; a case "
    "of that primitive packs them before it measures";

// Sets the order of axes of tensors without blocks: the case's source has the order of the source
// in memory. A conversion to a type of cases that keeps the order needs no permutation.
void set_permutation(const Dims& shape, const MemoryDescriptor& source,
                     const MemoryDescriptor& destination, ParameterSet& set) {
  const std::string_view from = source.tag, to = destination.tag;
  Dims stored, permutation;
  for (const char letter : from) stored.push_back(shape[static_cast<std::size_t>(letter - 'a')]);
  for (const char letter : to) permutation.push_back(static_cast<std::int64_t>(from.find(letter)));
  set.set("shape", std::move(stored));
  const bool converts =
      source.dtype != destination.dtype && data_type_from_name(destination.dtype).has_value();
  if (from != to || !converts) set.set("permutation", std::move(permutation));
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
  } else if (is_dense(*source, shape->size()) && is_dense(*destination, shape->size())) {
    set_permutation(*shape, *source, *destination, set);
  } else {
    if (!set_moved_elements(*shape, result, set)) return std::nullopt;
    if (has_blocks_of_weights(*destination)) result.obstacle = kPacksWeights;
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
