// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/own_forms.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/conv/conv.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/operator.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace bench::ops::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;
using Formed = Result<NativeForm, Refusal>;

constexpr std::string_view kElementwise = "bench:elementwise";
constexpr std::string_view kCopy = "bench:reorder_strided";
constexpr std::string_view kTranspose = "bench:reorder_tiled";
constexpr std::string_view kSoftmax = "bench:softmax_block";
constexpr std::string_view kChannelSum = "bench:channel_sum_block";

std::string layout_name(std::span<const std::int64_t> dims, MemoryLayout layout) {
  return std::string(dims.size() < 3 ? "plain" : name_of(layout));
}

std::int64_t product(const Sizes& sizes, std::size_t first, std::size_t last) {
  std::int64_t result = 1;
  for (std::size_t i = first; i < last; ++i) result *= sizes[i];
  return result;
}

OwnTensor own_tensor(const Tensor& tensor, MemoryLayout layout) {
  return {arrangement_of(tensor.dims, layout), tensor.dtype, layout_name(tensor.dims, layout)};
}

// Shapes are aligned at the last dimension, as in broadcasts.
Sizes aligned(const Dims& dims, std::size_t rank) {
  Sizes result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

// The strides for reading a tensor at every element of a result: 0 in broadcast dimensions.
Sizes stretched(const Sizes& dims, Sizes strides) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) strides[i] = 0;
  }
  return strides;
}

// An elementwise launch over a problem's tensors, each in one layout.
class ProblemElements {
 public:
  ProblemElements(const Problem& problem, MemoryLayout layout)
      : problem_(problem),
        layout_(layout),
        dims_(problem.tensors.back().dims),
        planner_(dims_, precision_of(problem.dtype)) {}

  ElementwisePlanner& planner() { return planner_; }

  // Adds a tensor whose sizes, aligned at the last, equal the result's or are 1.
  int operand(std::size_t tensor) {
    const Tensor& given = problem_.tensors[tensor];
    const Sizes dims = aligned(given.dims, dims_.size());
    const Sizes strides = layout_strides(dims, layout_);
    add({strided_arrangement(dims, strides), given.dtype, layout_name(given.dims, layout_)});
    return planner_.operand(count() - 1, given.dtype, stretched(dims, strides));
  }
  // Adds a tensor with one value per channel.
  int channels(std::size_t tensor) {
    const Tensor& given = problem_.tensors[tensor];
    Sizes strides(dims_.size(), 0);
    strides[1] = 1;
    add(own_tensor(given, MemoryLayout::plain));
    return planner_.operand(count() - 1, given.dtype, std::move(strides));
  }
  // Adds a tensor with the result's sizes and another type.
  int intermediate(DataType dtype) {
    add({arrangement_of(dims_, layout_), dtype, layout_name(dims_, layout_)});
    return planner_.operand(count() - 1, dtype, layout_strides(dims_, layout_));
  }

  Formed finish(std::string kind) {
    const Tensor& given = problem_.tensors.back();
    add(own_tensor(given, layout_));
    planner_.destination(count() - 1, given.dtype, layout_strides(dims_, layout_));
    BENCH_ASSIGN_OR_RETURN(ElementwisePlan plan, planner_.finish());
    return NativeForm{std::string(kElementwise), std::move(kind), plan, std::move(tensors_)};
  }

 private:
  void add(OwnTensor tensor) { tensors_.push_back(std::move(tensor)); }
  int count() const { return static_cast<int>(tensors_.size()); }

  const Problem& problem_;
  MemoryLayout layout_;
  Sizes dims_;
  ElementwisePlanner planner_;
  std::vector<OwnTensor> tensors_;
};

ElementStep function_step(Function function, double alpha, double beta) {
  ElementStep step;
  step.function = function;
  step.alpha = alpha;
  step.beta = beta;
  return step;
}

ElementStep combine_step(Combination combination, int operand) {
  ElementStep step;
  step.kind = ElementStep::Kind::combine;
  step.combination = combination;
  step.operand = operand;
  return step;
}

Formed pointwise_form(const Problem& problem) {
  ProblemElements elements(problem, asked_layout(problem));
  const std::string& word = problem.parameters.word("function");
  elements.operand(0);
  if (const auto combination = combination_of(word)) {
    elements.planner().step(combine_step(*combination, elements.operand(1)));
    return elements.finish("binary");
  }
  const auto function = function_of(word);
  if (!function) return unsupported(fmt::format("there is no native kernel for `{}`", word));
  const Coefficients coefficients = pointwise_coefficients(problem.parameters);
  ElementStep step = function_step(*function, coefficients.alpha, coefficients.beta);
  if (problem.direction != Direction::forward) {
    step.kind = ElementStep::Kind::gradient;
    step.operand = elements.operand(1);
  }
  elements.planner().step(step);
  return elements.finish("pointwise");
}

Formed batch_norm_form(const Problem& problem) {
  ProblemElements elements(problem, asked_layout(problem));
  elements.operand(0);
  const int mean = elements.channels(1);
  ElementStep normalise;
  normalise.kind = ElementStep::Kind::normalise;
  normalise.operand = elements.channels(2);
  normalise.alpha = problem.parameters.real("epsilon");
  const int scale = elements.channels(3);
  const int shift = elements.channels(4);
  elements.planner().step(combine_step(Combination::sub, mean));
  elements.planner().step(normalise);
  elements.planner().step(combine_step(Combination::mul, scale));
  elements.planner().step(combine_step(Combination::add, shift));
  return elements.finish("batch_norm");
}

Formed softmax_form(const Problem& problem) {
  const Dims& dims = problem.tensors[0].dims;
  const MemoryLayout layout = asked_layout(problem);
  std::vector<std::size_t> order(dims.size());  // order of the dimensions in memory
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (layout == MemoryLayout::nhwc && dims.size() > 2) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  SoftmaxPlan plan;
  plan.type = element_of(problem.dtype);
  plan.precision = precision_of(problem.dtype);
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t* count = &plan.outer;
  for (const std::size_t dim : order) {
    if (dim == axis) {
      plan.size = dims[dim];
      count = &plan.inner;
    } else {
      *count *= dims[dim];
    }
  }
  return NativeForm{
      std::string(kSoftmax),
      "softmax",
      plan,
      {own_tensor(problem.tensors[0], layout), own_tensor(problem.tensors[1], layout)}};
}

// --- Reorders.

// Strides of n, block of channels, channel within the block, position.
Sizes split_strides(const Dims& dims, MemoryLayout layout) {
  const std::int64_t volume = product(dims, 2, dims.size());
  const std::int64_t blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  switch (layout) {
    case MemoryLayout::plain:
      return {dims[1] * volume, kChannelBlock * volume, volume, 1};
    case MemoryLayout::nhwc:
      return {dims[1] * volume, kChannelBlock, 1, dims[1]};
    case MemoryLayout::blocked16:
      break;
  }
  return {blocks * kChannelBlock * volume, kChannelBlock * volume, 1, kChannelBlock};
}

Result<ElementwisePlan, Refusal> blocked_copy(const Dims& dims, DataType dtype, MemoryLayout from,
                                              MemoryLayout to) {
  constexpr int kBlockDim = 1, kWithinDim = 2;
  const std::int64_t blocks = (dims[1] + kChannelBlock - 1) / kChannelBlock;
  ElementwisePlanner planner({dims[0], blocks, kChannelBlock, product(dims, 2, dims.size())},
                             precision_of(dtype));
  planner.operand(0, dtype, split_strides(dims, from));
  planner.destination(1, dtype, split_strides(dims, to));
  if (dims[1] % kChannelBlock != 0) {
    planner.outside(to == MemoryLayout::blocked16 ? Outside::zero : Outside::skip, kBlockDim,
                    kWithinDim, kChannelBlock, dims[1]);
  }
  return planner.finish();
}

Result<ElementwisePlan, Refusal> plain_copy(const Dims& dims, DataType dtype, MemoryLayout from,
                                            MemoryLayout to) {
  ElementwisePlanner planner(dims, precision_of(dtype));
  planner.operand(0, dtype, layout_strides(dims, from));
  planner.destination(1, dtype, layout_strides(dims, to));
  return planner.finish();
}

TransposePlan transpose(const Dims& dims, DataType dtype, MemoryLayout from) {
  const std::int64_t volume = product(dims, 2, dims.size());
  TransposePlan plan;
  plan.batch = dims[0];
  plan.rows = from == MemoryLayout::plain ? dims[1] : volume;
  plan.columns = from == MemoryLayout::plain ? volume : dims[1];
  plan.bytes = static_cast<int>(info(dtype).bytes);
  return plan;
}

Formed reorder_problem_form(const Problem& problem) {
  const auto layout = [&](std::string_view parameter) {
    const std::string& word = problem.parameters.word(parameter);
    constexpr std::array kAll = {MemoryLayout::plain, MemoryLayout::nhwc, MemoryLayout::blocked16};
    return *std::ranges::find(kAll, word, [](MemoryLayout each) { return name_of(each); });
  };
  return reorder_form(problem.tensors[0].dims, problem.dtype, layout("from"), layout("to"));
}

using MakeForm = Formed (*)(const Problem& problem);
struct OperatorRow {
  std::string_view name;
  MakeForm make;
};
constexpr OperatorRow kOperators[] = {{"pointwise", pointwise_form},
                                      {"batch_norm", batch_norm_form},
                                      {"softmax", softmax_form},
                                      {"reorder", reorder_problem_form}};

}  // namespace

MemoryLayout asked_layout(const Problem& problem) {
  return problem.layout == Layout::nhwc ? MemoryLayout::nhwc : MemoryLayout::plain;
}

Formed own_form(const Problem& problem) {
  for (const OperatorRow& row : kOperators) {
    if (row.name == problem.op->name) return row.make(problem);
  }
  return unsupported(fmt::format("there is no native kernel for {}", problem.op->name));
}

Formed reorder_form(const Dims& dims, DataType dtype, MemoryLayout from, MemoryLayout to) {
  NativeForm form;
  form.kind = "reorder";
  form.tensors = {{arrangement_of(dims, from), dtype, layout_name(dims, from)},
                  {arrangement_of(dims, to), dtype, layout_name(dims, to)}};
  const bool blocked = from == MemoryLayout::blocked16 || to == MemoryLayout::blocked16;
  if (!blocked && !same_order(dims, from, to)) {
    form.implementation = kTranspose;
    form.plan = transpose(dims, dtype, from);
    return form;
  }
  form.implementation = kCopy;
  if (blocked) {
    BENCH_ASSIGN_OR_RETURN(form.plan, blocked_copy(dims, dtype, from, to));
  } else {
    BENCH_ASSIGN_OR_RETURN(form.plan, plain_copy(dims, dtype, from, to));
  }
  return form;
}

std::size_t epilogue_start(const Problem& problem) {
  constexpr std::size_t kBehindWeights = 2;
  const bool adds_own_bias = problem.op->name == "gemm" && problem.parameters.flag("bias");
  return kBehindWeights + (adds_own_bias ? 1 : 0);
}

Formed epilogue_form(const Problem& problem, DataType between, MemoryLayout layout) {
  ProblemElements elements(problem, layout);
  elements.intermediate(between);
  std::size_t next = epilogue_start(problem);
  if (problem.op->name == "conv" && conv_shape(problem.parameters).bias == Bias::present) {
    elements.planner().step(combine_step(Combination::add, elements.channels(next++)));
  }
  for (const PostOp& post_op : problem.post_ops) {
    if (post_op.function == "add") {
      elements.planner().step(combine_step(Combination::add, elements.operand(next++)));
      continue;
    }
    const auto function = function_of(post_op.function);
    if (!function) {
      return unsupported(fmt::format("there is no native kernel for `{}`", post_op.function));
    }
    elements.planner().step(function_step(*function, post_op.alpha, post_op.beta));
  }
  return elements.finish("epilogue");
}

NativeForm bias_gradient_form(const Problem& problem, MemoryLayout layout) {
  const Tensor& source = problem.tensors[1];  // source, diff_destination, diff_weights, diff_bias
  const Tensor& destination = problem.tensors.back();
  ChannelSumPlan plan;
  plan.images = source.dims[0];
  plan.channels = source.dims[1];
  plan.volume = product(source.dims, 2, source.dims.size());
  plan.image_stride = plan.channels * plan.volume;
  const bool channels_innermost = layout == MemoryLayout::nhwc;
  plan.channel_stride = channels_innermost ? 1 : plan.volume;
  plan.position_stride = channels_innermost ? plan.channels : 1;
  plan.source_type = element_of(source.dtype);
  plan.destination_type = element_of(destination.dtype);
  plan.precision = precision_of(source.dtype);
  return {std::string(kChannelSum),
          "bias_gradient",
          plan,
          {own_tensor(source, layout), own_tensor(destination, MemoryLayout::plain)}};
}

}  // namespace bench::ops::cuda
