// SPDX-License-Identifier: Apache-2.0
#include "ops/logged_case.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "ops/operator.hpp"
#include "ops/parameter.hpp"
#include "ops/verbose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kProduct = "gemm";
constexpr std::size_t kMinSpatialRank = 3;

Error no_case(std::string what) { return {std::move(what), {}, {}}; }

// How a tensor lies in memory.
enum class Order {
  chosen,         // the program let the library choose, or the layout has blocks
  plain,          // abcd
  channels_last,  // acdb
  transposed,     // the last two dimensions swapped: ba, acb
  other,
};

Order find_order(const MemoryDescriptor& tensor) {
  const std::string_view tag = tensor.tag;
  if (tensor.properties.find('a') != std::string_view::npos) return Order::chosen;
  if (std::ranges::any_of(tag, [](char c) { return c < 'a' || c > 'z'; })) return Order::chosen;
  if (tag == plain_tag(tag.size())) return Order::plain;
  // Three dimensions in the order acb may be channels last as well: the operator decides.
  if (tag == swapped_tag(tag.size())) return Order::transposed;
  return tag == channels_last_tag(tag.size()) ? Order::channels_last : Order::other;
}

// Tensors whose layout the case does not name, or always chooses.
bool has_free_layout(const MemoryDescriptor& tensor) {
  constexpr std::array<std::string_view, 9> kFree = {
      "wei", "bia", "bias", "ws", "diff_wei", "stat", "scale", "shift", "scaleshift"};
  return std::ranges::find(kFree, tensor.argument) != kFree.end();
}

// Sets what the program's matrices say: plain weights are the second input of a product.
Status check_product(const VerbosePrimitive& primitive, ProblemRequest& request) {
  for (const MemoryDescriptor& tensor : primitive.memory) {
    const Order order = find_order(tensor);
    const bool is_weights = tensor.argument == "wei";
    if (has_free_layout(tensor) && !is_weights) continue;
    const bool is_result = tensor.argument == "dst";
    // A matrix of four dimensions in the order acdb is neither plain nor transposed.
    const bool is_foreign = order == Order::other || order == Order::channels_last ||
                            (order == Order::transposed && is_result);
    if (is_foreign && primitive.primitive != "inner_product")
      return no_case(fmt::format("a matrix has the layout {}", quote(tensor.tag)));
    if (is_weights && order != Order::chosen) request.parameters.set("two_inputs", true);
  }
  return Done{};
}

// Returns the layout that all tensors have.
Result<Layout> find_common_layout(const VerbosePrimitive& primitive, const Operator& op) {
  std::optional<Order> common;
  std::string tags;
  for (const MemoryDescriptor& tensor : primitive.memory) {
    if (has_free_layout(tensor)) continue;
    Order order = find_order(tensor);
    const bool is_spatial = op.name == "conv" || op.name == "pool";
    if (order == Order::transposed && tensor.tag.size() == kMinSpatialRank && is_spatial)
      order = Order::channels_last;
    tags += fmt::format("{}{}", tags.empty() ? "" : " ", tensor.tag);
    if (order == Order::other || order == Order::transposed)
      return no_case(fmt::format("cases do not have the layout {}", quote(tensor.tag)));
    if (common && *common != order)
      return no_case(fmt::format("the tensors have different layouts ({})", tags));
    common = order;
  }
  if (common == Order::channels_last) return Layout::nhwc;
  // Cases store tensors of fewer dimensions plainly unless they say otherwise.
  const bool is_named = primitive.memory.front().tag.size() > kMinSpatialRank ||
                        (op.name == "conv" || op.name == "pool");
  return common == Order::plain && is_named ? Layout::nchw : Layout::any;
}

Result<Math> parse_math_mode(std::string_view mode) {
  if (mode == "strict") return Math::standard;
  if (mode == "tf32") return Math::tf32;
  return no_case(fmt::format("cases do not have the math mode {}", quote(mode)));
}

struct QuantityRow {
  std::string_view argument, parameter;
  bool per_column;
  std::string_view value;
};
constexpr std::array<QuantityRow, 4> kLoggedScales = {{{"src", "src_scale", false, "tensor"},
                                                       {"src0", "src_scale", false, "tensor"},
                                                       {"wei", "weights_scale", false, "tensor"},
                                                       {"wei", "weights_scale", true, "channel"}}};

// Sets the scales of "src0:0:f32+wei:2:f32": argument, mask of dimensions, data type.
Status set_logged_scales(std::string_view text, const VerbosePrimitive& primitive,
                         ProblemRequest& request) {
  const std::size_t rank = primitive.memory.front().rank().value_or(2);
  const bool is_inner_product = primitive.primitive == "inner_product";
  while (!text.empty()) {
    std::string_view scale = cut_field(text, '+');
    const std::string_view argument = cut_field(scale, ':');
    const auto mask = parse_number<std::uint64_t>(cut_field(scale, ':'));
    const bool is_float = scale.empty() || scale == "f32";
    // Those of an inner product are outputs x inputs.
    const std::uint64_t columns = is_inner_product ? 1 : std::uint64_t{1} << (rank - 1);
    const auto* row = std::ranges::find_if(kLoggedScales, [&](const QuantityRow& candidate) {
      return candidate.argument == argument && mask == (candidate.per_column ? columns : 0);
    });
    if (!is_float || row == kLoggedScales.end() || request.op->name != kProduct)
      return no_case(fmt::format("{} has no such scale of {}", request.op->name, argument));
    request.parameters.set(row->parameter, std::string(row->value));
  }
  return Done{};
}

Status set_logged_zero_points(std::string_view text, ProblemRequest& request) {
  while (!text.empty()) {
    std::string_view point = cut_field(text, '+');
    const std::string_view argument = cut_field(point, ':');
    const bool is_common = cut_field(point, ':') == "0" && (point.empty() || point == "s32");
    if (!is_common || !argument.starts_with("src") || request.op->name != kProduct)
      return no_case(fmt::format("{} has no such zero point of {}", request.op->name, argument));
    request.parameters.set("src_zero_point", true);
  }
  return Done{};
}

// Applies the attributes that find_exact_case() does not read.
Status apply_attributes(const VerbosePrimitive& primitive, ProblemRequest& request) {
  std::string_view rest = primitive.attributes;
  while (!rest.empty()) {
    std::string_view value = cut_field(rest, ' ');
    const std::string_view name = cut_field(value, ':');
    // Post-ops are known already. Where the scratchpad is does not change what is computed.
    constexpr std::array<std::string_view, 5> kDone = {"", "attr-post-ops", "post_ops",
                                                       "attr-scratchpad", "scratchpad_mode"};
    if (std::ranges::find(kDone, name) != kDone.end()) continue;
    if (name == "attr-fpmath") {
      BENCH_ASSIGN_OR_RETURN(request.math, parse_math_mode(value));
    } else if (name == "attr-scales") {
      BENCH_RETURN_IF_ERROR(set_logged_scales(value, primitive, request));
    } else if (name == "attr-zero-points") {
      BENCH_RETURN_IF_ERROR(set_logged_zero_points(value, request));
    } else {
      return no_case(fmt::format("cases do not have the attribute {}", quote(name)));
    }
  }
  return Done{};
}

}  // namespace

Result<ProblemRequest> find_logged_case(const Activity& execution) {
  const std::string_view engine = execution.attributes.text(Attribute::engine);
  if (!engine.empty() && !engine.starts_with("cpu"))
    return no_case(fmt::format("it ran on the engine {}; imports are of a CPU", quote(engine)));
  if (execution.attributes.text(Attribute::auxiliary).find("winograd") != std::string_view::npos)
    return no_case("a case cannot ask for the algorithm of Winograd");
  std::vector<MemoryDescriptor> descriptors;
  const VerbosePrimitive primitive = collect_primitive(execution, descriptors);
  BENCH_ASSIGN_OR_RETURN(ProblemRequest request, find_exact_case(primitive));
  const auto partial = std::ranges::find_if(
      descriptors, [](const MemoryDescriptor& tensor) { return !tensor.strides.empty(); });
  if (partial != descriptors.end())
    return no_case(
        fmt::format("{} is not dense: it has the strides {}", partial->argument, partial->strides));
  if (request.op->name == kProduct) {
    BENCH_RETURN_IF_ERROR(check_product(primitive, request));
  } else if (request.op->name != "reorder") {  // its layouts are parameters
    BENCH_ASSIGN_OR_RETURN(request.layout, find_common_layout(primitive, *request.op));
  }
  BENCH_RETURN_IF_ERROR(apply_attributes(primitive, request));
  BENCH_RETURN_IF_ERROR(make_problem(request));
  return request;
}

}  // namespace bench::ops
