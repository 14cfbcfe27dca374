// SPDX-License-Identifier: Apache-2.0
#include "ops/description.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

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
    {"two_inputs", "two", flag, "false",
     "the weights change with each call, as in attention: they are inputs and stay plain"},
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
constexpr std::string_view kWeightsSizes = "[batch > 1 ? batch : [], trans_b ? [n, k] : [k, n]]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[batch > 1 ? batch : [], trans_a ? [k, m] : [m, k]]",
     ElementType::source},
    {"weights", TensorRole::weights, kWeightsSizes, ElementType::weights, "not two_inputs"},
    {"weights", TensorRole::input, kWeightsSizes, ElementType::weights, "two_inputs"},
    {"bias", TensorRole::weights, "[n]", ElementType::statistic, "bias"},
    {"destination", TensorRole::output, "[batch > 1 ? batch : [], m, n]", ElementType::destination},
};
constexpr std::string_view kExamples[] = {"m16n32k64", "m16n32k64+bias+relu", "b3m16n32k64+ta+tb",
                                          "b3m16n32k64+tb+two"};

std::size_t count_inputs(const ParameterSet& written) {
  return written.has("two_inputs") && written.flag("two_inputs") ? 2 : 1;
}

struct MatrixSizes {
  std::int64_t batch, rows, columns;
};

// Returns the sizes of matrices, all but the last two dimensions being the batch.
Result<MatrixSizes> matrix_sizes(const Dims& dims, Storage storage) {
  if (dims.size() < 2) {
    return Error{.what = fmt::format("the input {} has one dimension, a matrix has two", join_dims(dims)),
                 .where = "inputs",
                 .next = {}};
  }
  const auto batch = element_count(std::span(dims).first(dims.size() - 2));
  MatrixSizes sizes{*batch, dims[dims.size() - 2],
                    dims.back()};  // in range: it divides the input's
  if (storage == Storage::transposed) std::swap(sizes.rows, sizes.columns);
  return sizes;
}

// The product of two activations.
Status infer_product(ParameterSet& set, std::span<const Dims> inputs) {
  const auto storage = [&](std::string_view name) {
    return set.has(name) && set.flag(name) ? Storage::transposed : Storage::plain;
  };
  BENCH_ASSIGN_OR_RETURN(const MatrixSizes left, matrix_sizes(inputs[0], storage("trans_a")));
  BENCH_ASSIGN_OR_RETURN(const MatrixSizes right, matrix_sizes(inputs[1], storage("trans_b")));
  if (left.batch != right.batch || left.columns != right.rows) {
    return Error{.what = fmt::format("the inputs {} and {} have no product: {} matrices of {} "
                                     "columns, and {} of {} rows",
                                     join_dims(inputs[0]), join_dims(inputs[1]), left.batch,
                                     left.columns, right.batch, right.rows),
                 .where = "inputs",
                 .next = "`trans_b: true` multiplies by the second input transposed"};
  }
  BENCH_RETURN_IF_ERROR(put_inferred(set, "batch", left.batch));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "m", left.rows));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "n", right.columns));
  return put_inferred(set, "k", left.columns);
}

Status infer_gemm(ParameterSet& set, std::span<const Dims> inputs) {
  if (inputs.size() == 2) return infer_product(set, inputs);
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
              .inference = {count_inputs, infer_gemm, "two_inputs"},
              .product = {.facts = gemm_facts},
              .examples = kExamples,
              .cuda = kOnCublas});

}  // namespace bench::ops
