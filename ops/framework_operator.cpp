// SPDX-License-Identifier: Apache-2.0
// table: one row per operator, below the functions that the rows name
#include "ops/framework_operator.hpp"

#include "base/checked.hpp"
#include "ops/framework_arguments.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"
#include "ops/spatial.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::size_t kMatrixRank = 2;

struct CallRow;

// A problem with the same FLOPs as the call. exact: its parameters are those of the call.
enum class Fidelity { exact, work_only };
// Whether its tensors are those of the call, so that it has the same bytes.
enum class Tensors { same, others };
struct Equivalent {
  ProblemRequest request;
  Fidelity naming = Fidelity::work_only;
  std::int64_t more_flops = 0;  // FLOPs of the call that the problem does not have
  Tensors tensors = Tensors::same;
  // Elements of the call's own tensors, each counted once at its size, even if the problem
  // broadcasts it. nullopt: use the problem's.
  std::optional<std::int64_t> elements = {};
};
using Make = std::optional<Equivalent>(const FrameworkCall& call, const CallRow& row);

struct CallRow {
  std::string_view name;  // without "aten::" and the '_' of in-place operators
  Make* make;
  std::string_view function = {};  // function of pointwise
  std::size_t spatial_rank = 0;    // 0: any
};

// Returns the shape of argument `index`; empty if it is not a tensor or has no dimensions.
std::span<const std::int64_t> shape_of(const FrameworkCall& call, std::size_t index) {
  if (index >= call.inputs->size()) return {};
  return (*call.inputs)[index];
}

std::optional<Equivalent> equivalent(std::string_view op, ParameterSet parameters,
                                     Fidelity naming = Fidelity::work_only) {
  ProblemRequest request;
  request.op = find_operator(op);
  request.parameters = std::move(parameters);
  return Equivalent{.request = std::move(request), .naming = naming};
}

std::optional<Equivalent> with_other_tensors(std::optional<Equivalent> result) {
  if (result) result->tensors = Tensors::others;
  return result;
}

ParameterSet parameters_of(std::string_view op) {
  return ParameterSet(find_operator(op)->parameters);
}

bool is_image(std::span<const std::int64_t> shape) {
  return shape.size() > kFirstSpatial && shape.size() <= kFirstSpatial + kMaxSpatialRank;
}

// The FLOPs of a convolution depend only on output, kernel and channels. A convolution that covers
// its input densely therefore has the same FLOPs.
std::optional<Equivalent> make_dense_convolution(const FrameworkCall& call) {
  const auto source = shape_of(call, 0);
  const auto weights = shape_of(call, 1);
  if (call.output == nullptr || !is_image(source) || weights.size() != source.size()) {
    return std::nullopt;
  }
  const std::span<const std::int64_t> output(*call.output);
  const bool fits = output.size() == source.size() && output[0] == source[0] &&
                    output[1] == weights[0] && weights[1] > 0 && source[1] % weights[1] == 0;
  if (!fits) return std::nullopt;
  ParameterSet set = parameters_of("conv");
  set.set("n", source[0]);
  set.set("c", source[1]);
  set.set("k", weights[0]);
  set.set("g", source[1] / weights[1]);
  set.set("bias", !shape_of(call, 2).empty());
  Dims sizes;
  for (std::size_t i = kFirstSpatial; i < source.size(); ++i) {
    const auto size = (Checked(output[i]) + weights[i] - 1).value();
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  set_spatial_sizes(set, kSpatialSizeNames, sizes);
  set_spatial_sizes(set, kKernelSizeNames, weights.subspan(kFirstSpatial));
  return with_other_tensors(equivalent("conv", std::move(set)));
}

std::optional<Equivalent> make_convolution(const FrameworkCall& call, const CallRow&) {
  return make_dense_convolution(call);
}

// Whether it is transposed is a flag that the range lacks, so this requires channels that determine
// it.
std::optional<Equivalent> make_any_convolution(const FrameworkCall& call, const CallRow&) {
  const auto source = shape_of(call, 0);
  const auto weights = shape_of(call, 1);
  if (call.output == nullptr || call.output->size() < 2 || source.size() < 2 ||
      weights.size() < 2 || weights[1] == 0) {
    return std::nullopt;
  }
  const bool may_be_transposed = weights[0] == source[1] && (*call.output)[1] % weights[1] == 0;
  return may_be_transposed ? std::nullopt : make_dense_convolution(call);
}

// Counts at the input. Groups cancel out: each input channel contributes to as many outputs as the
// weights have per input channel.
std::optional<Equivalent> make_transposed_convolution(const FrameworkCall& call, const CallRow&) {
  const auto source = shape_of(call, 0);
  const auto weights = shape_of(call, 1);
  const bool has_bias = !shape_of(call, 2).empty();
  const bool fits = is_image(source) && weights.size() == source.size() && weights[0] == source[1];
  if (!fits || (has_bias && call.output == nullptr)) return std::nullopt;
  ParameterSet set = parameters_of("conv");
  set.set("n", source[0]);
  set.set("c", source[1]);
  set.set("k", weights[1]);
  set.set("transposed", true);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  set_spatial_sizes(set, kKernelSizeNames, weights.subspan(kFirstSpatial));
  auto result = with_other_tensors(equivalent("conv", std::move(set)));
  if (!has_bias) return result;
  const auto outputs = element_count(*call.output);
  if (!outputs) return std::nullopt;
  result->more_flops = *outputs;
  return result;
}

enum class Bias { absent, present };

std::optional<Equivalent> make_product(std::optional<std::int64_t> batch,
                                       std::optional<std::int64_t> m, std::int64_t n,
                                       std::int64_t k, Bias bias) {
  if (!batch || !m) return std::nullopt;
  ParameterSet set = parameters_of("gemm");
  set.set("batch", *batch);
  set.set("m", *m);
  set.set("n", n);
  set.set("k", k);
  set.set("bias", bias == Bias::present);
  return equivalent("gemm", std::move(set));
}

// Counts all tensors that a product reads, and its `m` x `n` result in each of `batch`.
std::optional<Equivalent> with_elements(std::optional<Equivalent> product,
                                        std::initializer_list<std::span<const std::int64_t>> read) {
  if (!product) return std::nullopt;
  const ParameterSet& set = product->request.parameters;
  Checked elements = Checked(set.count("batch")) * set.count("m") * set.count("n");
  for (const auto shape : read) {
    if (shape.empty()) continue;  // an optional tensor that is missing
    const auto count = element_count(shape);
    if (!count) return std::nullopt;
    elements += *count;
  }
  product->elements = elements.value();
  return product->elements ? product : std::nullopt;
}

// Source [..., k] with weights [n, k] or [k].
std::optional<Equivalent> make_linear(const FrameworkCall& call, const CallRow&) {
  const auto source = shape_of(call, 0);
  const auto weights = shape_of(call, 1);
  if (source.empty() || weights.empty() || weights.size() > kMatrixRank ||
      source.back() != weights.back()) {
    return std::nullopt;
  }
  const std::int64_t n = weights.size() == kMatrixRank ? weights[0] : 1;
  const auto bias = shape_of(call, 2);
  return with_elements(make_product(1, element_count(source.first(source.size() - 1)), n,
                                    source.back(), bias.empty() ? Bias::absent : Bias::present),
                       {source, weights, bias});
}

// Returns the product of the leading dimensions after broadcasting.
std::optional<std::int64_t> broadcast_count(std::span<const std::int64_t> a,
                                            std::span<const std::int64_t> b) {
  Checked count = 1;
  for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
    const std::int64_t left = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t right = i <= b.size() ? b[b.size() - i] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    count *= left == 1 ? right : left;
  }
  return count.value();
}

// As in matmul: vectors are rows on the left and columns on the right.
std::optional<Equivalent> multiply(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                   Bias bias) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool a_is_vector = a.size() == 1;
  const bool b_is_vector = b.size() == 1;
  const std::int64_t m = a_is_vector ? 1 : a[a.size() - kMatrixRank];
  const std::int64_t k = a.back();
  const std::int64_t n = b_is_vector ? 1 : b.back();
  if (k != (b_is_vector ? b.back() : b[b.size() - kMatrixRank])) return std::nullopt;
  const auto leading = [](std::span<const std::int64_t> shape) {
    return shape.first(shape.size() < kMatrixRank ? 0 : shape.size() - kMatrixRank);
  };
  return make_product(broadcast_count(leading(a), leading(b)), m, n, k, bias);
}

std::optional<Equivalent> make_matrix_product(const FrameworkCall& call, const CallRow&) {
  const auto a = shape_of(call, 0);
  const auto b = shape_of(call, 1);
  return with_elements(multiply(a, b, Bias::absent), {a, b});
}

// The addend is the first argument; each element of the result takes one addition.
std::optional<Equivalent> make_added_product(const FrameworkCall& call, const CallRow&) {
  const auto a = shape_of(call, 1);
  const auto b = shape_of(call, 2);
  return with_elements(multiply(a, b, Bias::present), {shape_of(call, 0), a, b});
}

std::optional<Equivalent> make_elementwise(std::span<const std::int64_t> shape, const CallRow& row,
                                           Direction direction, Fidelity naming) {
  if (shape.empty()) return std::nullopt;
  ParameterSet set = parameters_of("pointwise");
  set.set("function", std::string(row.function));
  set.set("shape", Dims(shape.begin(), shape.end()));
  auto result = equivalent("pointwise", std::move(set), naming);
  result->request.direction = direction;
  return result;
}

std::optional<Equivalent> make_unary(const FrameworkCall& call, const CallRow& row) {
  return make_elementwise(shape_of(call, 0), row, Direction::forward, Fidelity::exact);
}

// For a function with coefficients, which are numbers.
std::optional<Equivalent> make_shaped_unary(const FrameworkCall& call, const CallRow& row) {
  return make_elementwise(shape_of(call, 0), row, Direction::forward, Fidelity::work_only);
}

// The arguments are the gradient and the source of the forward pass.
std::optional<Equivalent> make_gradient(const FrameworkCall& call, const CallRow& row) {
  const auto gradient = shape_of(call, 0);
  if (!std::ranges::equal(gradient, shape_of(call, 1))) return std::nullopt;
  return make_elementwise(gradient, row, Direction::backward_data, Fidelity::work_only);
}

// A number instead of a tensor counts as one element.
std::optional<Equivalent> make_binary(const FrameworkCall& call, const CallRow& row) {
  const auto a = shape_of(call, 0);
  const auto b = shape_of(call, 1);
  if (call.inputs->size() < 2 || (a.empty() && b.empty())) return std::nullopt;
  const auto dims = [](std::span<const std::int64_t> shape, std::size_t rank) {
    Dims result(rank - shape.size(), 1);
    result.insert(result.end(), shape.begin(), shape.end());
    return result;
  };
  const std::size_t rank = std::max(a.size(), b.size());
  ParameterSet set = parameters_of("pointwise");
  set.set("function", std::string(row.function));
  set.set("a", dims(a, rank));
  set.set("b", dims(b, rank));
  auto result = equivalent("pointwise", std::move(set), Fidelity::work_only);
  return a.empty() || b.empty() ? with_other_tensors(std::move(result)) : result;
}

std::optional<Equivalent> make_softmax(const FrameworkCall& call, const CallRow&) {
  const auto shape = shape_of(call, 0);
  if (shape.empty()) return std::nullopt;
  ParameterSet set = parameters_of("softmax");
  set.set("shape", Dims(shape.begin(), shape.end()));
  set.set("axis", static_cast<std::int64_t>(shape.size() - 1));  // every axis costs the same
  return equivalent("softmax", std::move(set));
}

// Supports only windows of one size: the output must divide the input.
std::optional<Equivalent> make_adaptive_average(const FrameworkCall& call, const CallRow& row) {
  const auto source = shape_of(call, 0);
  if (call.output == nullptr || source.size() != kFirstSpatial + row.spatial_rank ||
      call.output->size() != source.size()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> window;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::int64_t size = (*call.output)[i];
    if (size < 1 || source[i] % size != 0) return std::nullopt;
    if (i < kFirstSpatial && size != source[i]) return std::nullopt;
    if (i >= kFirstSpatial) window.push_back(source[i] / size);
  }
  ParameterSet set = parameters_of("pool");
  set.set("function", std::string("avg_exclude_pad"));
  set.set("n", source[0]);
  set.set("c", source[1]);
  set_spatial_sizes(set, kSpatialSizeNames, source.subspan(kFirstSpatial));
  set.set("window", std::move(window));
  return equivalent("pool", std::move(set));
}

constexpr std::array kCallRows = {
    CallRow{"conv1d", make_convolution},
    CallRow{"conv2d", make_convolution},
    CallRow{"conv3d", make_convolution},
    CallRow{"cudnn_convolution", make_convolution},
    CallRow{"mkldnn_convolution", make_convolution},
    CallRow{"convolution", make_any_convolution},
    CallRow{"_convolution", make_any_convolution},
    CallRow{"conv_transpose1d", make_transposed_convolution},
    CallRow{"conv_transpose2d", make_transposed_convolution},
    CallRow{"conv_transpose3d", make_transposed_convolution},
    CallRow{"linear", make_linear},
    CallRow{"mm", make_matrix_product},
    CallRow{"bmm", make_matrix_product},
    CallRow{"matmul", make_matrix_product},
    CallRow{"mv", make_matrix_product},
    CallRow{"dot", make_matrix_product},
    CallRow{"addmm", make_added_product},
    CallRow{"addmv", make_added_product},
    CallRow{"baddbmm", make_added_product},
    CallRow{"relu", make_unary, "relu"},
    CallRow{"sigmoid", make_unary, "sigmoid"},
    CallRow{"tanh", make_unary, "tanh"},
    CallRow{"exp", make_unary, "exp"},
    CallRow{"log", make_unary, "log"},
    CallRow{"sqrt", make_unary, "sqrt"},
    CallRow{"abs", make_unary, "abs"},
    CallRow{"square", make_unary, "square"},
    CallRow{"silu", make_unary, "swish"},
    CallRow{"hardswish", make_unary, "hardswish"},
    CallRow{"leaky_relu", make_shaped_unary, "leaky_relu"},
    CallRow{"elu", make_shaped_unary, "elu"},
    CallRow{"clamp", make_shaped_unary, "clip"},
    CallRow{"clamp_min", make_shaped_unary, "clip"},
    CallRow{"clamp_max", make_shaped_unary, "clip"},
    CallRow{"hardtanh", make_shaped_unary, "clip"},
    CallRow{"relu6", make_shaped_unary, "clip"},
    CallRow{"threshold_backward", make_gradient, "relu"},
    CallRow{"leaky_relu_backward", make_gradient, "leaky_relu"},
    CallRow{"silu_backward", make_gradient, "swish"},
    CallRow{"hardswish_backward", make_gradient, "hardswish"},
    CallRow{"hardtanh_backward", make_gradient, "clip"},
    CallRow{"add", make_binary, "add"},
    CallRow{"sub", make_binary, "sub"},
    CallRow{"rsub", make_binary, "sub"},
    CallRow{"mul", make_binary, "mul"},
    CallRow{"div", make_binary, "div"},
    CallRow{"maximum", make_binary, "max"},
    CallRow{"minimum", make_binary, "min"},
    CallRow{"softmax", make_softmax},
    CallRow{"_softmax", make_softmax},
    CallRow{"adaptive_avg_pool1d", make_adaptive_average, {}, 1},
    CallRow{"adaptive_avg_pool2d", make_adaptive_average, {}, 2},
    CallRow{"_adaptive_avg_pool2d", make_adaptive_average, {}, 2},
    CallRow{"adaptive_avg_pool3d", make_adaptive_average, {}, 3},
};
// They copy their argument, in an unknown layout: no FLOPs, whatever the shapes.
constexpr std::array<std::string_view, 2> kCopies = {"copy", "clone"};

// Python's operators, including in-place and reflected ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kPythonNames = {
    {{"__add__", "add"},
     {"__iadd__", "add"},
     {"__radd__", "add"},
     {"__sub__", "sub"},
     {"__isub__", "sub"},
     {"__rsub__", "sub"},
     {"__mul__", "mul"},
     {"__imul__", "mul"},
     {"__rmul__", "mul"},
     {"__truediv__", "div"},
     {"__itruediv__", "div"},
     {"__matmul__", "matmul"},
     {"__abs__", "abs"}}};

std::string_view plain_name(std::string_view name) {
  for (const auto& [python, plain] : kPythonNames) {
    if (name == python) return plain;
  }
  constexpr std::string_view kNamespace = "aten::";
  if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

std::optional<DataType> dtype_of(const FrameworkCall& call) {
  return call.arguments == nullptr ? std::nullopt : dtype_of_arguments(*call.arguments);
}

// Formats "eligible (RULE)" or "not eligible (RULE: why)". Empty if there is no product, or no rule
// covers it.
std::string tensor_cores_of(const Problem& problem, const Platform& platform) {
  const TensorCoreEligibility verdict = verdict_of(problem, platform);
  if (verdict.answer == TensorCoreAnswer::not_applicable) return {};
  const bool eligible = verdict.answer == TensorCoreAnswer::eligible;
  return fmt::format("{} ({}{}{})", name_of(verdict.answer), verdict.rule, eligible ? "" : ": ",
                     eligible ? "" : verdict.reason);
}

// Assumes that all tensors of a call have one data type.
std::optional<std::int64_t> bytes_of(const Problem& problem,
                                     const std::optional<std::int64_t>& elements) {
  if (elements) return (Checked(*elements) * info(problem.dtype).bytes).value();
  return (Checked(problem.work.bytes_read) + problem.work.bytes_written).value();
}

std::optional<FrameworkWork> describe(const FrameworkCall& call, Equivalent same,
                                      const std::optional<Platform>& platform) {
  const auto dtype = dtype_of(call);
  if (dtype) same.request.dtype = *dtype;
  const Result<Problem> problem = make_problem(std::move(same.request));
  if (!problem.ok()) return std::nullopt;
  const auto flops = (Checked(problem->work.flops) + same.more_flops).value();
  if (!flops) return std::nullopt;
  FrameworkWork work;
  work.op = problem->op->name;
  if (same.naming == Fidelity::exact) work.parameters = problem_tokens(*problem);
  work.macs = problem->work.macs;
  work.flops = *flops;
  if (!dtype) return work;
  work.dtype = info(*dtype).name;
  if (same.tensors == Tensors::same) work.bytes = bytes_of(*problem, same.elements);
  if (platform) work.tensor_cores = tensor_cores_of(*problem, *platform);
  return work;
}

// Caches results, because programs repeat themselves.
class RememberingCallWork {
 public:
  explicit RememberingCallWork(const std::optional<Platform>& platform) : platform_(platform) {}

  std::optional<FrameworkWork> operator()(const FrameworkCall& call) {
    if (call.arguments != nullptr) return work_of_framework_call(call, platform_);
    std::string key = fmt::format("{} {}", call.name, *call.inputs);
    if (call.output != nullptr) key += fmt::format(" {}", *call.output);
    const auto known = works_.find(key);
    if (known != works_.end()) return known->second;
    constexpr std::size_t kMaxWorks = 16384;
    if (works_.size() >= kMaxWorks) works_.clear();
    return works_.emplace(std::move(key), work_of_framework_call(call, platform_)).first->second;
  }

 private:
  std::optional<Platform> platform_;
  std::map<std::string, std::optional<FrameworkWork>> works_;
};

}  // namespace

std::optional<FrameworkWork> work_of_framework_call(const FrameworkCall& call,
                                                    const std::optional<Platform>& platform) {
  const auto is_empty = [](const FrameworkRange::Shape& shape) {
    return std::ranges::any_of(shape, [](std::int64_t size) { return size < 1; });
  };
  if (std::ranges::any_of(*call.inputs, is_empty)) return std::nullopt;
  if (call.output != nullptr && is_empty(*call.output)) return std::nullopt;
  const std::string_view name = plain_name(call.name);
  if (std::ranges::find(kCopies, name) != kCopies.end()) return FrameworkWork{.op = "reorder"};
  if (call.arguments != nullptr) {
    auto request = request_of_arguments(name, *call.arguments);
    if (request) {
      return describe(call, {.request = std::move(*request), .naming = Fidelity::exact}, platform);
    }
  }
  const auto row = std::ranges::find(kCallRows, name, &CallRow::name);
  if (row == kCallRows.end()) return std::nullopt;
  auto same = row->make(call, *row);
  return same ? describe(call, std::move(*same), platform) : std::nullopt;
}

FrameworkWorkOf make_framework_work_of(const std::optional<Platform>& platform) {
  return RememberingCallWork(platform);
}

std::vector<std::string_view> framework_operator_names() {
  std::vector<std::string_view> names;
  for (const CallRow& row : kCallRows) names.push_back(row.name);
  names.insert(names.end(), kCopies.begin(), kCopies.end());
  return names;
}

}  // namespace bench::ops
