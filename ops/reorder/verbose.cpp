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

std::optional<VerboseProblem> parse_request(const VerbosePrimitive& primitive) {
  const MemoryDescriptor* source = primitive.find("src");
  const MemoryDescriptor* destination = primitive.find("dst");
  auto shape = parse_dims(primitive.problem);
  if (!shape || !is_plain(source) || !is_plain(destination)) return std::nullopt;
  std::string_view from = find_layout(*source);
  std::string_view to = find_layout(*destination);
  VerboseProblem result;
  if (from.empty() || to.empty() || source->rank() != shape->size()) {
    // Each element is moved once, whatever the layout.
    const auto elements = element_count(*shape);
    if (!elements) return std::nullopt;
    shape = Dims{1, 1, *elements};
    from = to = reorder_layouts().front();
    result.fidelity = VerboseFidelity::work_only;
  }
  ParameterSet set(reorder_operator.parameters);
  set.set("shape", std::move(*shape));
  set.set("from", std::string(from));
  set.set("to", std::string(to));
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
