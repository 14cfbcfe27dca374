// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "ops/data_types.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/model.hpp"
#include "ops/tensor.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>

namespace bench::ops {
namespace {

using enum ParameterKind;

constexpr std::array<Parameter, 7> kParameters = {{
    {"batch", "b", count, "1", "independent products"},
    {"m", "m", count, "required", "rows of source and destination"},
    {"n", "n", count, "required", "columns of weights and destination"},
    {"k", "k", count, "required", "columns of source, rows of weights"},
    {"trans_a", "ta", flag, "false", "source is stored as k x m"},
    {"trans_b", "tb", flag, "false", "weights are stored as n x k"},
    {"bias", "bias", flag, "false", "adds one value per column"},
}};

constexpr std::string_view kExamples[] = {"m16n32k64", "m16n32k64+bias+relu", "b3m16n32k64+ta+tb"};

constexpr std::array<Direction, 1> kDirections = {Direction::forward};

std::vector<Extent> matrix_extents(const GemmShape& shape, Storage storage, Extent rows,
                                   Extent columns) {
  std::vector<Extent> extents;
  if (shape.batch > 1) extents.push_back({"batch", shape.batch});
  const bool is_plain = storage == Storage::plain;
  extents.push_back(is_plain ? rows : columns);
  extents.push_back(is_plain ? columns : rows);
  return extents;
}

Result<std::vector<Tensor>> make_tensors(const GemmShape& shape, DataType dtype) {
  const OperandTypes types = operand_types(dtype);
  const Extent m{"m", shape.m};
  const Extent n{"n", shape.n};
  const Extent k{"k", shape.k};
  std::vector<Tensor> tensors;
  BENCH_ASSIGN_OR_RETURN(Tensor source, make_tensor("source", TensorRole::input, types.source,
                                                    matrix_extents(shape, shape.a, m, k)));
  tensors.push_back(std::move(source));
  BENCH_ASSIGN_OR_RETURN(Tensor weights, make_tensor("weights", TensorRole::weights, types.weights,
                                                     matrix_extents(shape, shape.b, k, n)));
  tensors.push_back(std::move(weights));
  if (shape.has_bias) {
    BENCH_ASSIGN_OR_RETURN(Tensor bias, make_tensor("bias", TensorRole::weights, types.bias, {n}));
    tensors.push_back(std::move(bias));
  }
  BENCH_ASSIGN_OR_RETURN(Tensor destination,
                         make_tensor("destination", TensorRole::output, types.destination,
                                     matrix_extents(shape, Storage::plain, m, n)));
  tensors.push_back(std::move(destination));
  return tensors;
}

std::vector<Formula> make_formulas(const GemmShape& shape, const Work& work) {
  const std::string macs = fmt::format("{}*{}*{}*{}", shape.batch, shape.m, shape.n, shape.k);
  const std::string bias =
      shape.has_bias ? fmt::format(" + {}*{}*{}", shape.batch, shape.m, shape.n) : "";
  const std::string_view bias_letters = shape.has_bias ? " + B*M*N" : "";
  return {{"macs", "B*M*N*K", macs, work.macs.value_or(0)},
          {"flops", fmt::format("2*B*M*N*K{}", bias_letters), fmt::format("2*{}{}", macs, bias),
           work.flops},
          {"flops_valid", "flops", fmt::to_string(work.flops), work.flops_valid}};
}

Status infer_gemm(ParameterSet& set, std::span<const Dims> inputs) {
  const Dims& dims = inputs[0];
  if (dims.size() < 2) {
    return Error{
        .what = fmt::format("the input {} has no dimension besides the batch", join_dims(dims)),
        .where = "inputs",
        .next = {}};
  }
  const std::optional<std::int64_t> columns = element_count(std::span(dims).subspan(1));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "batch", std::int64_t{1}));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "trans_a", false));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "m", dims[0]));
  BENCH_RETURN_IF_ERROR(
      put_inferred(set, "k", *columns));  // has a value: it divides the input's element count
  if (!set.has("trans_b")) set.set("trans_b", true);
  return Done{};
}

}  // namespace

GemmShape gemm_shape(const ParameterSet& complete) {
  const auto storage = [&](std::string_view name) {
    return complete.flag(name) ? Storage::transposed : Storage::plain;
  };
  return {.batch = complete.count("batch"),
          .m = complete.count("m"),
          .n = complete.count("n"),
          .k = complete.count("k"),
          .a = storage("trans_a"),
          .b = storage("trans_b"),
          .has_bias = complete.flag("bias")};
}

Result<ParameterSet> complete_gemm(const ParameterSet& given) {
  ParameterSet set = given;
  for (const std::string_view name : {"m", "n", "k"}) BENCH_RETURN_IF_ERROR(require(set, name));
  if (!set.has("batch")) set.set("batch", std::int64_t{1});
  for (const std::string_view name : {"trans_a", "trans_b", "bias"}) {
    if (!set.has(name)) set.set(name, false);
  }
  return set;
}

Result<Model> model_gemm(const Problem& problem) {
  const GemmShape shape = gemm_shape(problem.parameters);
  Model model;
  BENCH_ASSIGN_OR_RETURN(model.tensors, make_tensors(shape, problem.dtype));
  const Checked outputs = Checked(shape.batch) * shape.m * shape.n;
  const Checked bias_flops = shape.has_bias ? outputs : Checked(0);
  BENCH_ASSIGN_OR_RETURN(model.work.flops,
                         in_range(outputs * shape.k * 2 + bias_flops, "flops", "k"));
  model.work.macs = *(outputs * shape.k).value();
  model.work.flops_valid = model.work.flops;
  BENCH_RETURN_IF_ERROR(count_bytes(model.tensors, model.work));
  model.formulas = make_formulas(shape, model.work);
  model.formulas.push_back(bytes_formula(model.tensors));
  return model;
}

Tolerance gemm_tolerance(const Problem& problem) {
  return accumulation_tolerance(problem, gemm_shape(problem.parameters).k, 1);
}

const Operator gemm_operator = {
    .name = "gemm",
    .help = "matrix product, batched, with transposed operands and bias (inner product)",
    .parameters = kParameters,
    .directions = kDirections,
    .takes_post_ops = true,
    .complete = complete_gemm,
    .model = model_gemm,
    .reference = reference_gemm,
    .tolerance = gemm_tolerance,
    .inference = {one_input, infer_gemm},
    .product = {.facts = gemm_facts},
    .examples = kExamples,
    .cuda = kOnCublas,
};

}  // namespace bench::ops
