// SPDX-License-Identifier: Apache-2.0
#include "base/characters.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/import/benchdnn_primitive.hpp"
#include "harness/import/benchdnn_text.hpp"
#include "ops/operator.hpp"
#include "ops/verbose_text.hpp"
#include "profiler/onednn/memory_descriptor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace bench {
namespace {

constexpr std::size_t kMatrixDims = 2;

std::string format_dims(const ops::Dims& dims) { return fmt::format("{}", fmt::join(dims, "x")); }

// Returns the sizes of the only tensor, with the number of images that `--mb` gives.
Result<ops::Dims> parse_shape(std::string_view text, const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  if (shapes.size() != 1) return Error{"the descriptor has more than one tensor", {}, {}};
  ops::Dims shape = shapes.front();
  shape.front() = benchdnn_batch(values, shape.front());
  return shape;
}

// Returns the letters of a matrix; plain ones if the library chooses.
Result<std::string> matrix_letters(std::string_view tag, std::size_t rank) {
  std::string letters = benchdnn_tag_letters(tag, rank);
  if (letters.empty()) return plain_tag(rank);
  if (letters == plain_tag(rank) || letters == swapped_tag(rank)) return letters;
  return Error{
      fmt::format("matrices of a case are plain or transposed, not {}", quote(tag)), {}, {}};
}

// A scale or zero point: "src:common:0.25", of which the argument and the policy matter.
struct Quantity {
  std::string_view argument, policy;
};

Result<std::vector<Quantity>> parse_quantities(std::string_view text) {
  std::vector<Quantity> quantities;
  while (!text.empty()) {
    std::string_view item = cut_field(text, '+');
    const std::string_view argument = cut_field(item, ':');
    const std::string_view policy = cut_field(item, ':');
    cut_field(item, ':');  // the value
    const std::string_view dtype = cut_field(item, ':');
    if (!item.empty() || (!dtype.empty() && dtype != "f32" && dtype != "s32"))
      return Error{"scales and zero points of a case are f32 and s32, without groups", {}, {}};
    quantities.push_back({argument, policy});
  }
  return quantities;
}

struct ScaleRow {
  std::string_view argument, policy, parameter, value;
};
// The policy of a scale per column: dimension 1 of a product of two matrices.
constexpr std::array<ScaleRow, 4> kScaleRows = {{{"src", "common", "src_scale", "tensor"},
                                                 {"wei", "common", "weights_scale", "tensor"},
                                                 {"wei", "per_oc", "weights_scale", "channel"},
                                                 {"wei", "2", "weights_scale", "channel"}}};

Status set_scales(const BenchdnnValues& values, std::size_t rank, ops::ParameterSet& set) {
  BENCH_ASSIGN_OR_RETURN(const auto scales, parse_quantities(values["attr-scales"]));
  for (const Quantity& scale : scales) {
    const std::string policy = lower_case(scale.policy);
    const auto* row = std::ranges::find_if(kScaleRows, [&](const ScaleRow& candidate) {
      return candidate.argument == scale.argument && candidate.policy == policy;
    });
    if (row == kScaleRows.end() || (policy == "2" && rank != kMatrixDims))
      return Error{
          fmt::format("a product has no scale {}:{}", scale.argument, scale.policy), {}, {}};
    set.set(row->parameter, std::string(row->value));
  }
  BENCH_ASSIGN_OR_RETURN(const auto zero_points, parse_quantities(values["attr-zero-points"]));
  for (const Quantity& zero_point : zero_points) {
    if (zero_point.argument != "src" || lower_case(zero_point.policy) != "common")
      return Error{
          fmt::format("a product has no zero point {}:{}", zero_point.argument, zero_point.policy),
          {},
          {}};
    set.set("src_zero_point", true);
  }
  return Done{};
}

// Reads "0:3:8+4+2": the rows of each group of the source.
Result<ops::ProblemRequest> request_grouped(const std::vector<ops::Dims>& shapes,
                                            const BenchdnnValues& values) {
  std::string_view rest = values["grouped"];
  const std::string_view dimension = cut_field(rest, ':');
  cut_field(rest, ':');  // the number of groups
  std::string_view sizes = cut_field(rest, ':');
  if (dimension != "0" || shapes.size() < 2 || shapes[0].size() != kMatrixDims ||
      shapes[1].size() < kMatrixDims)
    return Error{"groups of a case divide the rows of the source", {}, {}};
  ops::Dims groups;
  std::int64_t sum = 0;
  while (!sizes.empty()) {
    const auto size = parse_number<std::int64_t>(cut_field(sizes, '+'));
    if (!size || *size < 0 || *size > shapes[0][0])
      return Error{"the rows of a group are not a number", {}, {}};
    sum += *size;
    if (*size > 0) groups.push_back(*size);
  }
  if (sum != shapes[0][0])
    return Error{fmt::format("the groups have {} rows, the source {}", sum, shapes[0][0]), {}, {}};
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 3));
  const auto dtype = data_type_from_name(types[0]);
  const bool is_uniform = types[1] == types[0] && types[2] == types[0];
  if (!dtype || !is_uniform || !values["attr-post-ops"].empty() || !values["attr-scales"].empty() ||
      !values["attr-zero-points"].empty() || values["attr-fpmath"] != "strict")
    return Error{"grouped_gemm has one data type, and neither scales nor post-ops", {}, {}};
  const ops::Operator* op = ops::find_operator("grouped_gemm");
  ops::ParameterSet set(op->parameters);
  set.set("groups", std::move(groups));
  set.set("k", shapes[0][1]);
  set.set("n", shapes[1].back());
  set.set("bias", values["bia-dt"] != "undef");
  const std::string weights = benchdnn_tag_letters(values["wtag"], shapes[1].size());
  set.set("trans_b", weights == swapped_tag(shapes[1].size()));
  return ops::ProblemRequest{.op = op, .dtype = *dtype, .parameters = std::move(set)};
}

// Returns the sizes of the product of matrices whose leading dimensions may be broadcast.
Result<ops::Dims> product_dims(const std::vector<ops::Dims>& shapes) {
  const ops::Dims& source = shapes[0];
  const ops::Dims& weights = shapes[1];
  if (source.size() < kMatrixDims || weights.size() != source.size())
    return Error{"source and weights are not matrices with the same number of dimensions", {}, {}};
  ops::Dims result = source;
  for (std::size_t i = 0; i + kMatrixDims < result.size(); ++i)
    result[i] = std::max(source[i], weights[i]);
  result.back() = weights.back();
  if (shapes.size() > 2 && shapes[2] != result)
    return Error{"the destination does not have the sizes of the product", {}, {}};
  return result;
}

struct ShapedAlgorithm {
  std::string_view name, algorithm;
};
constexpr std::array<ShapedAlgorithm, 3> kSoftmaxAlgorithms = {{
    {"softmax", "softmax_accurate"},
    {"logsoftmax", "softmax_log"},
    {"softmax_inf_as_zero", "softmax_accurate_inf_as_zero"},
}};

// The memory of a primitive whose tensors all have plain letters.
BenchdnnPrimitive::Memory plain_memory(std::string_view argument, std::string_view dtype,
                                       std::size_t rank) {
  return {argument, dtype, plain_tag(rank)};
}

// "2.0" -> "2", as the library prints it.
std::string format_like_library(std::string_view number) {
  const auto value = ops::parse_real(number);
  return value ? fmt::format("{:g}", *value) : std::string(number);
}

// The letters of a tag that only permutes the dimensions; nullopt for blocked ones.
std::optional<std::string> find_permutation(std::string_view tag, std::size_t rank) {
  std::string letters = benchdnn_tag_letters(tag, rank);
  std::string sorted = letters;
  std::ranges::sort(sorted);
  return sorted == plain_tag(rank) ? std::optional(letters) : std::nullopt;
}

// A tensor whose dimensions lie in the order of `from` in memory is a plain one with permuted
// sizes; the destination permutes them again.
ops::ProblemRequest request_permutation(const ops::Dims& shape, const std::string& from,
                                        const std::string& to, DataType source,
                                        std::string_view destination) {
  const ops::Operator* op = ops::find_operator("reorder");
  ops::ParameterSet set(op->parameters);
  ops::Dims sizes;
  for (const char letter : from) sizes.push_back(shape[static_cast<std::size_t>(letter - 'a')]);
  ops::Dims permutation;
  for (const char letter : to) permutation.push_back(static_cast<std::int64_t>(from.find(letter)));
  set.set("shape", std::move(sizes));
  set.set("permutation", std::move(permutation));
  if (destination != info(source).name) set.set("dst_dtype", std::string(destination));
  return {.op = op, .dtype = source, .parameters = std::move(set)};
}

}  // namespace

Result<ops::ProblemRequest> request_benchdnn_matmul(std::string_view text,
                                                    const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(auto shapes, parse_benchdnn_shapes(text));
  if (!values["grouped"].empty()) return request_grouped(shapes, values);
  if (shapes.size() < 2 || shapes.size() > 3)
    return Error{"the descriptor does not have two tensors or three", {}, {}};
  // The library appends missing dimensions.
  const std::size_t rank = std::max(shapes[0].size(), shapes[1].size());
  for (ops::Dims& shape : shapes) shape.resize(std::max(rank, shape.size()), 1);
  BENCH_ASSIGN_OR_RETURN(const ops::Dims result, product_dims(shapes));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 3));
  BENCH_ASSIGN_OR_RETURN(const std::string source, matrix_letters(values["stag"], rank));
  BENCH_ASSIGN_OR_RETURN(const std::string weights, matrix_letters(values["wtag"], rank));
  BENCH_ASSIGN_OR_RETURN(const std::string destination, matrix_letters(values["dtag"], rank));
  if (destination == swapped_tag(rank)) return Error{"the result of a case is plain", {}, {}};
  BenchdnnPrimitive primitive{
      .primitive = "matmul",
      .problem = fmt::format("{}:{}", format_dims(shapes[0]), format_dims(shapes[1])),
      .memory = {{"src", types[0], source},
                 {"wei", types[1], weights},
                 {"dst", types[2], destination}},
      .destination = result};
  if (values["bia-dt"] != "undef") {
    primitive.memory.push_back(
        {"bia", values["bia-dt"], destination, fmt::format("f0_mask{}", values["bia_mask"])});
  }
  BENCH_ASSIGN_OR_RETURN(auto request, find_benchdnn_case(primitive, values));
  BENCH_RETURN_IF_ERROR(set_scales(values, rank, request.parameters));
  // Weights that stay as they are.
  if (!benchdnn_tag_letters(values["wtag"], rank).empty())
    request.parameters.set("two_inputs", true);
  return request;
}

Result<ops::ProblemRequest> request_benchdnn_softmax(std::string_view text,
                                                     const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const ops::Dims shape, parse_shape(text, values));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  BENCH_ASSIGN_OR_RETURN(
      const ops::Layout layout,
      find_plain_benchdnn_layout({{values["stag"]}, {values["dtag"]}}, shape.size()));
  std::string algorithm = lower_case(values["alg"]);
  const auto* row = std::ranges::find(kSoftmaxAlgorithms, algorithm, &ShapedAlgorithm::name);
  if (row != kSoftmaxAlgorithms.end()) algorithm = row->algorithm;
  return find_benchdnn_case({.primitive = "softmax",
                             .propagation = direction.propagation,
                             .auxiliary = fmt::format("alg:{} axis:{}", algorithm, values["axis"]),
                             .problem = format_dims(shape),
                             .memory = {plain_memory("src", values["sdt"], shape.size()),
                                        plain_memory("dst", values["ddt"], shape.size())},
                             .destination = shape,
                             .layout = layout},
                            values);
}

Result<ops::ProblemRequest> request_benchdnn_lnorm(std::string_view text,
                                                   const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const ops::Dims shape, parse_shape(text, values));
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["dt"], 2));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["tag"], 2}}, shape.size()));
  if (layout != ops::Layout::any || (values["ss_dt"] != "f32" && !values["flags"].empty()))
    return Error{"a layer_norm is plain, with scale and shift in f32", {}, {}};
  return find_benchdnn_case({.primitive = "layer_normalization",
                             .propagation = direction.propagation,
                             .auxiliary = fmt::format("flags:{}", values["flags"]),
                             .problem = format_dims(shape),
                             .memory = {plain_memory("src", types[0], shape.size()),
                                        plain_memory("dst", types[1], shape.size())},
                             .destination = shape},
                            values);
}

Result<ops::ProblemRequest> request_benchdnn_eltwise(std::string_view text,
                                                     const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const ops::Dims shape, parse_shape(text, values));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["tag"]}}, shape.size()));
  return find_benchdnn_case({.primitive = "eltwise",
                             .propagation = direction.propagation,
                             .auxiliary = fmt::format("alg:{} alpha:{} beta:{}",
                                                      benchdnn_algorithm(values["alg"], "eltwise_"),
                                                      values["alpha"], values["beta"]),
                             .problem = format_dims(shape),
                             .memory = {plain_memory("src", values["dt"], shape.size()),
                                        plain_memory("dst", values["dt"], shape.size())},
                             .destination = shape,
                             .layout = layout},
                            values);
}

Result<ops::ProblemRequest> request_benchdnn_binary(std::string_view text,
                                                    const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  if (shapes.size() != 2) return Error{"a case has two operands", {}, {}};
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["sdt"], 2));
  const std::size_t rank = shapes[0].size();
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["stag"], 2}, {values["dtag"]}}, rank));
  ops::Dims result = shapes[0];
  for (std::size_t i = 0; i < std::min(result.size(), shapes[1].size()); ++i)
    result[i] = std::max(result[i], shapes[1][i]);
  return find_benchdnn_case(
      {.primitive = "binary",
       .auxiliary = "alg:" + benchdnn_algorithm(values["alg"], "binary_"),
       .problem = fmt::format("{}:{}", format_dims(shapes[0]), format_dims(shapes[1])),
       .memory = {plain_memory("src", types[0], rank),
                  plain_memory("src", types[1], shapes[1].size()),
                  plain_memory("dst", values["ddt"], rank)},
       .destination = std::move(result),
       .layout = layout},
      values);
}

Result<ops::ProblemRequest> request_benchdnn_reduction(std::string_view text,
                                                       const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  if (shapes.size() != 2) return Error{"a reduction has a source and a destination", {}, {}};
  const std::size_t rank = shapes[0].size();
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["stag"]}, {values["dtag"]}}, rank));
  const std::string algorithm = benchdnn_algorithm(values["alg"], "reduction_");
  return find_benchdnn_case(
      {.primitive = "reduction",
       .auxiliary = fmt::format("alg:{} p:{}", algorithm, format_like_library(values["p"])),
       .problem = fmt::format("{}:{}", format_dims(shapes[0]), format_dims(shapes[1])),
       .memory = {plain_memory("src", values["sdt"], rank),
                  plain_memory("dst", values["ddt"], rank)},
       .destination = shapes[1],
       .layout = layout},
      values);
}

Result<ops::ProblemRequest> request_benchdnn_reorder(std::string_view text,
                                                     const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  if (shapes.size() != 1) return Error{"the descriptor has more than one tensor", {}, {}};
  const ops::Dims& shape = shapes.front();
  const std::size_t rank = shape.size();
  const std::string from = benchdnn_tag_letters(values["stag"], rank);
  const std::string to = benchdnn_tag_letters(values["dtag"], rank);
  const auto exact =
      find_benchdnn_case({.primitive = "reorder",
                          .problem = format_dims(shape),
                          .memory = {{"src", values["sdt"], from}, {"dst", values["ddt"], to}},
                          .destination = shape},
                         values);
  const auto source = find_permutation(values["stag"], rank);
  const auto destination = find_permutation(values["dtag"], rank);
  const auto dtype = data_type_from_name(values["sdt"]);
  const bool is_permutation = source && destination && dtype &&
                              data_type_from_name(values["ddt"]) && values["attr-post-ops"].empty();
  if (!exact.ok() && is_permutation)
    return request_permutation(shape, *source, *destination, *dtype, values["ddt"]);
  return exact;
}

Result<ops::ProblemRequest> request_benchdnn_concat(std::string_view text,
                                                    const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  const std::size_t rank = shapes.front().size();
  BENCH_ASSIGN_OR_RETURN(
      const ops::Layout layout,
      find_plain_benchdnn_layout({{values["stag"], shapes.size()}, {values["dtag"]}}, rank));
  std::vector<BenchdnnPrimitive::Memory> memory(shapes.size(),
                                                plain_memory("src", values["sdt"], rank));
  memory.push_back(plain_memory("dst", values["ddt"], rank));
  std::vector<std::string> sizes;
  for (const ops::Dims& shape : shapes) sizes.push_back(format_dims(shape));
  return find_benchdnn_case({.primitive = "concat",
                             .auxiliary = fmt::format("axis:{}", values["axis"]),
                             .problem = fmt::format("{}", fmt::join(sizes, ":")),
                             .memory = std::move(memory),
                             .destination = shapes.front(),
                             .layout = layout},
                            values);
}

Result<ops::ProblemRequest> request_benchdnn_prelu(std::string_view text,
                                                   const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const auto shapes, parse_benchdnn_shapes(text));
  if (shapes.size() != 2) return Error{"a case has a source and slopes", {}, {}};
  const std::size_t rank = shapes[0].size();
  BENCH_ASSIGN_OR_RETURN(const auto types, split_benchdnn_types(values["sdt"], 2));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["stag"], 2}}, rank));
  return find_benchdnn_case(
      {.primitive = "prelu",
       .propagation = direction.propagation,
       .problem = fmt::format("{}:{}", format_dims(shapes[0]), format_dims(shapes[1])),
       .memory = {plain_memory("src", types[0], rank), plain_memory("wei", types[1], rank),
                  plain_memory("dst", types[0], rank)},
       .destination = shapes[0],
       .layout = layout},
      values);
}

Result<ops::ProblemRequest> request_benchdnn_shuffle(std::string_view text,
                                                     const BenchdnnValues& values) {
  BENCH_ASSIGN_OR_RETURN(const ops::Dims shape, parse_shape(text, values));
  BENCH_ASSIGN_OR_RETURN(const auto direction, parse_benchdnn_direction(values["dir"]));
  BENCH_ASSIGN_OR_RETURN(const ops::Layout layout,
                         find_plain_benchdnn_layout({{values["tag"]}}, shape.size()));
  return find_benchdnn_case(
      {.primitive = "shuffle",
       .propagation = direction.propagation,
       .auxiliary = fmt::format("axis:{} group:{}", values["axis"], values["group"]),
       .problem = format_dims(shape),
       .memory = {plain_memory("src", values["dt"], shape.size()),
                  plain_memory("dst", values["dt"], shape.size())},
       .destination = shape,
       .layout = layout},
      values);
}

}  // namespace bench
