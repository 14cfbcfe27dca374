// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

namespace bench::ops {
namespace {

using enum ParameterKind;

constexpr Parameter kParameters[] = {
    {"batch", "b", count, "1", "independent products"},
    {"m", "m", count, kRequired, "rows of source and destination"},
    {"n", "n", count, kRequired, "columns of weights and destination"},
    {"k", "k", count, kRequired, "columns of source, rows of weights"},
    {"trans_a", "ta", flag, "false", "source is stored as k x m"},
    {"trans_b", "tb", flag, "false", "weights are stored as n x k"},
    {"bias", "bias", flag, "false", "adds one value per column"},
};
constexpr Quantity kQuantities[] = {
    {"B", "batch", Quantity::Shown::no},
    {"M", "m", Quantity::Shown::no},
    {"N", "n", Quantity::Shown::no},
    {"K", "k", Quantity::Shown::no},
    {"macs", "B*M*N*K"},
    {"flops", "2*B*M*N*K", Quantity::Shown::yes, "not bias"},
    {"flops", "2*B*M*N*K + B*M*N", Quantity::Shown::yes, "bias"},
    {"flops_valid", "flops"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[batch > 1 ? batch : [], trans_a ? [k, m] : [m, k]]",
     ElementType::source},
    {"weights", TensorRole::weights, "[batch > 1 ? batch : [], trans_b ? [n, k] : [k, n]]",
     ElementType::weights},
    {"bias", TensorRole::weights, "[n]", ElementType::statistic, "bias"},
    {"destination", TensorRole::output, "[batch > 1 ? batch : [], m, n]", ElementType::destination},
};
constexpr std::string_view kExamples[] = {"m16n32k64", "m16n32k64+bias+relu", "b3m16n32k64+ta+tb"};

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

Tolerance gemm_tolerance(const Problem& problem) {
  return accumulation_tolerance(problem, gemm_shape(problem.parameters).k, 1);
}

const Operator gemm_operator =
    describe({.name = "gemm",
              .help = "matrix product, batched, with transposed operands and bias (inner product)",
              .parameters = kParameters,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "k",
              .takes_post_ops = true},
             {.reference = reference_gemm,
              .tolerance = gemm_tolerance,
              .inference = {one_input, infer_gemm},
              .product = {.facts = gemm_facts},
              .examples = kExamples,
              .cuda = kOnCublas});

}  // namespace bench::ops
