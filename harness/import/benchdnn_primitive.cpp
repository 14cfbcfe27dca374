// SPDX-License-Identifier: Apache-2.0
#include "harness/import/benchdnn_primitive.hpp"

#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "ops/verbose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace bench {
namespace {

constexpr std::array<BenchdnnDirection, 7> kDirections = {{
    {"FWD_B", "forward_training", true},
    {"FWD_D", "forward_training"},
    {"FWD_I", "forward_inference"},
    {"BWD_D", "backward_data"},
    {"BWD_W", "backward_weights"},
    {"BWD_WB", "backward_weights", true},
    {"BWD_DW", "backward"},
}};

struct TagName {
  std::string_view name, letters;
};
// The names of oneDNN for tensors whose dimensions have a meaning.
constexpr std::array<TagName, 11> kTagNames = {{{"x", "a"},
                                                {"nc", "ab"},
                                                {"cn", "ba"},
                                                {"ncw", "abc"},
                                                {"nwc", "acb"},
                                                {"nchw", "abcd"},
                                                {"nhwc", "acdb"},
                                                {"chwn", "bcda"},
                                                {"ncdhw", "abcde"},
                                                {"ndhwc", "acdeb"},
                                                {"tnc", "abc"}}};

// The bits of the dimensions in which a tensor of a post-op extends.
struct MaskPolicy {
  std::string_view name;
  std::uint32_t mask;
};
constexpr std::array<MaskPolicy, 9> kMaskPolicies = {{{"common", 0},
                                                      {"per_oc", 2},
                                                      {"per_ocic", 3},
                                                      {"per_dim_0", 1},
                                                      {"per_dim_1", 2},
                                                      {"per_dim_01", 3},
                                                      {"per_dim_2", 4},
                                                      {"per_dim_3", 8},
                                                      {"per_tensor", ~std::uint32_t{0}}}};

constexpr std::array<std::string_view, 13> kBinaryKinds = {
    "add", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne", "select", "sub"};

constexpr std::string_view kDifferentLayouts = "the tensors have different layouts";

// Splits "bf16:f32" into the values of `count` tensors; one value stands for all. Error: another
// number of values.
Result<std::vector<std::string_view>> split_values(std::string_view text, std::size_t count,
                                                   std::string_view noun) {
  std::vector<std::string_view> values;
  for (std::string_view rest = text; !rest.empty();) values.push_back(cut_field(rest, ':'));
  if (values.size() == 1) values.resize(count, values.front());
  if (values.size() != count)
    return Error{fmt::format("{} is not one {} or {}", quote(text), noun, count), {}, {}};
  return values;
}

// Returns the mask of "per_oc" or "2", without dimensions of the size 1, as the library prints it.
std::optional<std::uint32_t> find_mask(std::string_view policy, const ops::Dims& dims) {
  std::optional<std::uint32_t> mask = parse_number<std::uint32_t>(policy);
  if (const auto* row = std::ranges::find(kMaskPolicies, lower_case(policy), &MaskPolicy::name);
      row != kMaskPolicies.end())
    mask = row->mask;
  if (!mask) return std::nullopt;
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < dims.size() && i < 32; ++i) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((*mask & bit) != 0 && dims[i] != 1) result |= bit;
  }
  return result;
}

// Converts "add:f32:per_oc:abx". Without a policy, the tensor has one element. Its layout must not
// be another one than that of the case.
Result<std::string> convert_binary(std::string_view kind, std::string_view rest,
                                   const BenchdnnPrimitive& primitive) {
  const std::string_view dtype = cut_field(rest, ':');
  const std::string_view policy = cut_field(rest, ':');
  const auto mask = find_mask(policy.empty() ? "common" : policy, primitive.destination);
  if (!mask)
    return Error{fmt::format("the post-op has the unknown mask {}", quote(policy)), {}, {}};
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_benchdnn_layout({{rest}}, primitive.destination.size()));
  const bool is_channels_last = layout == ops::Layout::nhwc;
  if (layout != ops::Layout::any && is_channels_last != (primitive.layout == ops::Layout::nhwc))
    return Error{std::string(kDifferentLayouts), {}, {}};
  return fmt::format("binary_{}:{}:{}", kind, dtype.empty() ? "f32" : dtype, *mask);
}

Result<std::string> convert_post_op(std::string_view text, const BenchdnnPrimitive& primitive) {
  std::string_view rest = text;
  std::string kind = lower_case(cut_field(rest, ':'));
  constexpr std::string_view kBinary = "binary_";
  if (kind.starts_with(kBinary)) kind.erase(0, kBinary.size());
  if (std::ranges::find(kBinaryKinds, kind) != kBinaryKinds.end())
    return convert_binary(kind, rest, primitive);
  if (kind == "sum" || kind == "prelu" || kind == "dw") return std::string(text);
  const std::string name = benchdnn_algorithm(kind, "eltwise_");
  return rest.empty() ? name : fmt::format("{}:{}", name, rest);
}

// Returns the post-ops of `--attr-post-ops` in the words of a verbose line: "relu:0.1" ->
// "attr-post-ops:eltwise_relu:0.1". A policy such as `per_tensor` becomes a mask of the result's
// dimensions.
Result<std::string> convert_post_ops(std::string_view post_ops,
                                     const BenchdnnPrimitive& primitive) {
  std::string result;
  while (!post_ops.empty()) {
    BENCH_ASSIGN_OR_RETURN(const std::string post_op,
                           convert_post_op(cut_field(post_ops, '+'), primitive));
    result += (result.empty() ? "attr-post-ops:" : "+") + post_op;
  }
  return result;
}

Result<ops::Math> parse_math(std::string_view mode) {
  if (mode.empty() || mode == "strict") return ops::Math::standard;
  if (mode == "tf32") return ops::Math::tf32;
  return Error{fmt::format("cases do not have the math mode {}", quote(mode)), {}, {}};
}

}  // namespace

Result<ops::ProblemRequest> find_benchdnn_case(const BenchdnnPrimitive& primitive,
                                               const BenchdnnValues& values) {
  std::vector<MemoryDescriptor> memory;
  for (const BenchdnnPrimitive::Memory& tensor : primitive.memory) {
    memory.push_back({.argument = tensor.argument,
                      .dtype = tensor.dtype,
                      .properties = {},
                      .kind = "blocked",
                      .tag = tensor.tag,
                      .strides = {},
                      .flags = tensor.flags});
  }
  BENCH_ASSIGN_OR_RETURN(const std::string attributes,
                         convert_post_ops(values["attr-post-ops"], primitive));
  BENCH_ASSIGN_OR_RETURN(const ops::Math math, parse_math(values["attr-fpmath"]));
  BENCH_ASSIGN_OR_RETURN(ops::ProblemRequest request,
                         ops::find_exact_case({.primitive = primitive.primitive,
                                               .propagation = primitive.propagation,
                                               .attributes = attributes,
                                               .auxiliary = primitive.auxiliary,
                                               .problem = primitive.problem,
                                               .memory = memory}));
  request.layout = primitive.layout;
  request.math = math;
  return request;
}

Result<BenchdnnDirection> parse_benchdnn_direction(std::string_view text) {
  const auto* row = std::ranges::find(kDirections, text, &BenchdnnDirection::name);
  if (row == kDirections.end())
    return Error{fmt::format("the direction {} is unknown", quote(text)), {}, {}};
  return *row;
}

Result<std::vector<std::string_view>> split_benchdnn_types(std::string_view text,
                                                           std::size_t count) {
  return split_values(text, count, "data type");
}

std::string benchdnn_tag_letters(std::string_view tag, std::size_t rank) {
  if (tag.empty() || tag == "any" || tag == "undef") return {};
  if (tag == "abx") return plain_tag(rank);
  if (tag == "axb") return channels_last_tag(rank);
  if (const auto* row = std::ranges::find(kTagNames, tag, &TagName::name); row != kTagNames.end())
    return std::string(row->letters);
  constexpr std::string_view kBlocked = "aBx";
  if (tag.starts_with(kBlocked) && rank > 2)
    return fmt::format("aB{}{}", plain_tag(rank).substr(2), tag.substr(kBlocked.size()));
  return std::string(tag);
}

Result<ops::Layout> find_benchdnn_layout(std::initializer_list<BenchdnnTags> options,
                                         std::size_t rank) {
  std::vector<std::string_view> all;
  for (const BenchdnnTags& option : options) {
    if (option.text.empty()) continue;
    BENCH_ASSIGN_OR_RETURN(const auto tags, split_values(option.text, option.tensors, "layout"));
    all.insert(all.end(), tags.begin(), tags.end());
  }
  ops::Layout layout = ops::Layout::any;
  for (const std::string_view tag : all) {
    const std::string letters = benchdnn_tag_letters(tag, rank);
    if (letters.empty()) continue;
    const bool is_plain = letters == plain_tag(rank);
    if (!is_plain && letters != channels_last_tag(rank))
      return Error{fmt::format("cases do not have the layout {}", quote(tag)), {}, {}};
    const ops::Layout named = is_plain ? ops::Layout::nchw : ops::Layout::nhwc;
    if (layout != ops::Layout::any && layout != named)
      return Error{std::string(kDifferentLayouts), {}, {}};
    layout = named;
  }
  return layout;
}

Result<ops::Layout> find_plain_benchdnn_layout(std::initializer_list<BenchdnnTags> options,
                                               std::size_t rank) {
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout, find_benchdnn_layout(options, rank));
  return layout == ops::Layout::nchw ? ops::Layout::any : layout;
}

std::string benchdnn_algorithm(std::string_view name, std::string_view prefix) {
  std::string result = lower_case(name);
  if (!result.starts_with(prefix)) result.insert(0, prefix);
  constexpr std::string_view kShort = "_dst";
  if (result.ends_with(kShort))
    result.replace(result.size() - kShort.size(), kShort.size(), "_use_dst_for_bwd");
  return result;
}

std::int64_t benchdnn_batch(const BenchdnnValues& values, std::int64_t written) {
  const auto batch = parse_number<std::int64_t>(values["mb"]);
  return batch && *batch > 0 ? *batch : written;
}

}  // namespace bench
