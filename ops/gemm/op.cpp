// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"
#include "base/random.hpp"
#include "ops/description.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using enum ParameterKind;

// oneDNN has no scales of a source's rows.
constexpr std::string_view kSourceScales[] = {"none", "tensor"};
constexpr std::string_view kWeightsScales[] = {"none", "tensor", "channel"};
constexpr std::string_view kDestinationTypes[] = {"default", "s8", "u8", "f32", "bf16"};

constexpr Parameter kParameters[] = {
    {"batch", "b", count, "1", "independent products"},
    {"source_batch", "sb", count, "batch",
     "matrices of the source; fewer than `batch`: consecutive products share one"},
    {"weights_batch", "wb", count, "batch",
     "matrices of the weights; fewer than `batch`: consecutive products share one"},
    {"m", "m", count, kRequired, "rows of source and destination"},
    {"n", "n", count, kRequired, "columns of weights and destination"},
    {"k", "k", count, kRequired, "columns of source, rows of weights"},
    {"trans_a", "ta", flag, "false", "source is stored as k x m"},
    {"trans_b", "tb", flag, "false", "weights are stored as n x k"},
    {"bias", "bias", flag, "false", "adds one value per column"},
    {"two_inputs", "two", flag, "false",
     "the weights change with each call, as in attention: they are inputs and stay plain"},
    {"src_scale", "ss", word, "none", "the scale of an s8 or u8 source: one factor for all sums", 1,
     kSourceScales},
    {"weights_scale", "ws", word, "none",
     "the scale of the weights: one factor, or one per column (channel)", 1, kWeightsScales},
    {"src_zero_point", "szp", flag, "false", "subtracts one number from an s8 or u8 source"},
    {"dst_dtype", "dst", word, "default", "type of the result of s8 and u8; default: s32", 1,
     kDestinationTypes},
};
constexpr Requirement kRequirements[] = {
    {"batch/source_batch > 0", "source_batch",
     "`source_batch` is {source_batch}, which does not divide the `batch` {batch}"},
    {"batch/weights_batch > 0", "weights_batch",
     "`weights_batch` is {weights_batch}, which does not divide the `batch` {batch}"},
    {"source_batch == batch or weights_batch == batch", "weights_batch",
     "`source_batch` is {source_batch} and `weights_batch` is {weights_batch}, but one of them "
     "must "
     "be the `batch`, {batch}"},
    {"integer and forward or src_scale == 'none'", "src_scale",
     "scales apply to forward products of integers only", "set `dtype` to s8 or u8"},
    {"integer and forward or weights_scale == 'none'", "weights_scale",
     "scales apply to forward products of integers only", "set `dtype` to s8 or u8"},
    {"integer and forward or not src_zero_point", "src_zero_point",
     "a zero point applies to forward products of integers only", "set `dtype` to s8 or u8"},
    {"integer and forward or dst_dtype == 'default'", "dst_dtype",
     "`dst_dtype` applies to forward products of integers only", "set `dtype` to s8 or u8"},
};
constexpr Quantity kQuantities[] = {
    {"B", "batch", Quantity::Shown::no},
    {"M", "m", Quantity::Shown::no},
    {"N", "n", Quantity::Shown::no},
    {"K", "k", Quantity::Shown::no},
    {"macs", "B*M*N*K"},
    {"scaled", "src_scale != 'none' or weights_scale != 'none'", Quantity::Shown::no},
    {"flops", "2*B*M*N*K", Quantity::Shown::yes, "not scaled and (not bias or backward_data)"},
    {"flops", "2*B*M*N*K + B*M*N", Quantity::Shown::yes,
     "not scaled and bias and not backward_data"},
    // One factor per result: the product of the scales.
    {"flops", "2*B*M*N*K + {1 + bias}*B*M*N", Quantity::Shown::yes, "scaled"},
    {"flops_valid", "flops"},
};
constexpr std::string_view kSourceSizes =
    "[batch > 1 ? source_batch : [], trans_a ? [k, m] : [m, k]]";
constexpr std::string_view kWeightsSizes =
    "[batch > 1 ? weights_batch : [], trans_b ? [n, k] : [k, n]]";
constexpr std::string_view kDestinationSizes = "[batch > 1 ? batch : [], m, n]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kSourceSizes, ElementType::source, "not backward_data"},
    {"diff_destination", TensorRole::input, kDestinationSizes, ElementType::source, "not forward"},
    {"weights", TensorRole::weights, kWeightsSizes, ElementType::weights,
     "not backward_weights and not two_inputs"},
    {"weights", TensorRole::input, kWeightsSizes, ElementType::weights,
     "not backward_weights and two_inputs"},
    {"bias", TensorRole::weights, "[n]", ElementType::statistic, "forward and bias"},
    {"src_scale", TensorRole::weights, "[1]", ElementType::f32, "src_scale == 'tensor'"},
    {"weights_scale", TensorRole::weights, "[weights_scale == 'channel' ? n : 1]", ElementType::f32,
     "weights_scale != 'none'"},
    {"src_zero_point", TensorRole::weights, "[1]", ElementType::s32, "src_zero_point"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::destination,
     "forward and dst_dtype == 'default'"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::s8, "dst_dtype == 's8'"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::u8, "dst_dtype == 'u8'"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::f32, "dst_dtype == 'f32'"},
    {"destination", TensorRole::output, kDestinationSizes, ElementType::bf16,
     "dst_dtype == 'bf16'"},
    {"diff_source", TensorRole::output, kSourceSizes, ElementType::destination, "backward_data"},
    {"diff_weights", TensorRole::output, kWeightsSizes, ElementType::destination,
     "backward_weights"},
    {"diff_bias", TensorRole::output, "[n]", ElementType::statistic, "backward_weights and bias"},
};
// Standard deviation of results with scales.
constexpr double kScaledDeviation = 40;

constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr std::string_view kProductLibraries[] = {"onednn", "openblas", "blis", "mkl"};
constexpr std::string_view kExamples[] = {"m16n32k64", "m16n32k64+bias+relu", "b3m16n32k64+ta+tb",
                                          "b6wb2m16n32k64", "b3m16n32k64+tb+two"};

std::size_t count_inputs(const ParameterSet& written) {
  return written.has("two_inputs") && written.flag("two_inputs") ? 2 : 1;
}

struct MatrixSizes {
  std::int64_t batch, rows, columns;
};

// Returns the sizes of matrices, all but the last two dimensions being the batch.
Result<MatrixSizes> matrix_sizes(const Dims& dims, Storage storage) {
  if (dims.size() < 2) {
    return Error{
        .what = fmt::format("the input {} has one dimension, a matrix has two", join_dims(dims)),
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

namespace {

Storage flipped(Storage storage) {
  return storage == Storage::plain ? Storage::transposed : Storage::plain;
}

// Where the factors of a product are stored, and its result.
struct Operands {
  GemmOperand source, weights, destination;
};

Operands stored_operands(const ParameterSet& complete) {
  const auto storage = [&](std::string_view name) {
    return complete.flag(name) ? Storage::transposed : Storage::plain;
  };
  return {.source = {0, storage("trans_a"), complete.count("source_batch")},
          .weights = {1, storage("trans_b"), complete.count("weights_batch")},
          .destination = {0, Storage::plain, complete.count("batch")}};
}

// Describes a result that is stored transposed: the transposed product is stored plain.
void transpose(GemmShape& shape) {
  std::swap(shape.rows, shape.columns);
  std::swap(shape.left, shape.right);
  shape.left.storage = flipped(shape.left.storage);
  shape.right.storage = flipped(shape.right.storage);
}

// Merges products that are added up into one, if their factors' matrices continue each other along
// the inner dimension.
void merge_sums(GemmShape& shape) {
  const std::int64_t count = shape.share(shape.result_batch);
  const bool continues = shape.left.storage == Storage::transposed &&
                         shape.right.storage == Storage::plain && shape.left.batch == shape.batch &&
                         shape.right.batch == shape.batch;
  if (count == 1 || !continues) return;
  shape.batch = shape.left.batch = shape.right.batch = shape.result_batch;
  shape.inner.count *= count;  // in range: the operands' element counts are
}

GemmShape forward_shape(const ParameterSet& complete) {
  const Operands stored = stored_operands(complete);
  return {.batch = complete.count("batch"),
          .rows = {"m", complete.count("m")},
          .columns = {"n", complete.count("n")},
          .inner = {"k", complete.count("k")},
          .left = stored.source,
          .right = stored.weights,
          .result_batch = complete.count("batch"),
          .has_bias = complete.flag("bias")};
}

// diff_source = diff_destination * transposed weights
GemmShape source_gradient(const ParameterSet& complete) {
  const Operands stored = stored_operands(complete);
  GemmShape shape = forward_shape(complete);
  std::swap(shape.columns, shape.inner);
  shape.has_bias = false;
  shape.left = stored.destination;
  shape.right.storage = flipped(stored.weights.storage);
  shape.result_batch = stored.source.batch;
  if (stored.source.storage == Storage::transposed) transpose(shape);
  return shape;
}

// diff_weights = transposed source * diff_destination
GemmShape weights_gradient(const ParameterSet& complete) {
  const Operands stored = stored_operands(complete);
  GemmShape shape = forward_shape(complete);
  std::swap(shape.rows, shape.inner);
  const bool has_bias = std::exchange(shape.has_bias, false);
  shape.left.storage = flipped(stored.source.storage);
  shape.right = stored.destination;
  shape.right.tensor = 1;
  shape.result_batch = stored.weights.batch;
  const bool is_transposed = stored.weights.storage == Storage::transposed;
  if (has_bias)
    shape.bias_gradient = is_transposed ? GemmShape::Side::left : GemmShape::Side::right;
  if (is_transposed) transpose(shape);
  return shape;
}

}  // namespace

GemmShape gemm_shape(const Problem& problem) {
  // In the order of Direction.
  constexpr std::array kShapes = {forward_shape, source_gradient, weights_gradient};
  GemmShape shape = kShapes[static_cast<std::size_t>(problem.direction)](problem.parameters);
  shape.result = problem.input_count();
  merge_sums(shape);
  return shape;
}

std::optional<std::int64_t> shared_batch(std::span<const std::int64_t> product,
                                         std::span<const std::int64_t> operand) {
  std::size_t same = 0;
  while (same < operand.size() && same < product.size() && operand[same] == product[same]) ++same;
  const auto rest = operand.subspan(same);
  const bool are_ones = std::ranges::all_of(rest, [](std::int64_t size) { return size == 1; });
  if (operand.size() != product.size() || !are_ones) return std::nullopt;
  return element_count(operand);
}

bool is_quantised(const ParameterSet& complete) {
  return complete.word("src_scale") != "none" || complete.word("weights_scale") != "none" ||
         complete.flag("src_zero_point") || complete.word("dst_dtype") != "default";
}

namespace {

// Standard deviation of the sum of k products of random integers (ops/fill.hpp), at most.
double sum_deviation(const Problem& problem) {
  constexpr double kProduct = 50;
  return kProduct * std::sqrt(static_cast<double>(problem.parameters.count("k")));
}

bool is_scaled(const Problem& problem) { return quantity(problem, "scaled") != 0; }

// A quantised result may differ by one unit, since the factor of a sum is a product of roundings. A
// floating-point result has the roundings of two factors and the bias, which a post-op enlarges.
Tolerance quantised_tolerance(const Problem& problem) {
  const DataType dtype = problem.tensors.back().dtype;
  if (info(dtype).is_integer) {
    const bool is_exact =
        !is_scaled(problem) && problem.post_ops.empty() && !problem.parameters.flag("bias");
    return is_exact ? Tolerance{}
                    : Tolerance{.absolute = 1, .relative = info(DataType::f32).epsilon};
  }
  constexpr double kMaxSlope = 64;
  const double magnitude = 2 * (is_scaled(problem) ? kScaledDeviation : sum_deviation(problem));
  return {.absolute = kMaxSlope * info(DataType::f32).epsilon * magnitude,
          .relative = info(dtype).epsilon};
}

// Scales give the results a standard deviation of about a third of the range of s8, so that few are
// saturated.
std::optional<std::vector<double>> fill_quantisation(const Problem& problem, std::size_t tensor,
                                                     std::uint64_t stream) {
  const Tensor& description = problem.tensors[tensor];
  constexpr std::uint64_t kZeroPoints = 7;
  if (description.name == "src_zero_point") {
    return std::vector<double>{1 + static_cast<double>(mix(stream) % kZeroPoints)};
  }
  const bool is_weights_scale = description.name == "weights_scale";
  if (description.name != "src_scale" && !is_weights_scale) return std::nullopt;
  const bool is_only_scale = is_weights_scale || problem.parameters.word("weights_scale") == "none";
  const double factor = is_only_scale ? kScaledDeviation / sum_deviation(problem) : 1;
  std::vector<double> values(static_cast<std::size_t>(description.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = factor * (0.5 + static_cast<double>(mix(stream + i) >> 41) * 0x1p-23);
  }
  round_all_to(DataType::f32, values);
  return values;
}

}  // namespace

// Weights are scaled so that outputs are of order 1. A gradient of weights sums up unscaled values,
// that of a bias those of all products.
Tolerance gemm_tolerance(const Problem& problem) {
  if (is_quantised(problem.parameters)) return quantised_tolerance(problem);
  const GemmShape shape = gemm_shape(problem);
  const std::int64_t sums = shape.bias_gradient ? shape.batch : shape.share(shape.result_batch);
  const std::int64_t terms = (Checked(shape.inner.count) * sums)
                                 .value()
                                 .value_or(std::numeric_limits<std::int64_t>::max());
  const bool is_scaled = problem.direction != Direction::backward_weights;
  return accumulation_tolerance(problem, terms,
                                is_scaled ? 1 : std::sqrt(static_cast<double>(terms)));
}

const Operator gemm_operator =
    describe({.name = "gemm",
              .help = "matrix product, batched, with transposed operands and bias (inner product)",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "k",
              .directions = kDirections,
              .takes_post_ops = true},
             {.reference = reference_gemm,
              .tolerance = gemm_tolerance,
              .inference = {count_inputs, infer_gemm, "two_inputs"},
              .filling = {.values = fill_quantisation},
              .product = {.facts = gemm_facts},
              .examples = kExamples,
              .cpu = kProductLibraries,
              .cuda = kOnCublas});

}  // namespace bench::ops
