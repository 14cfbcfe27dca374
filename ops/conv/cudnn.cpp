// SPDX-License-Identifier: Apache-2.0
// Describes a convolution as an operation graph of cuDNN. Lists the convolutions for which cuDNN
// has no engine.
#include "ops/conv/conv.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Pointwise = GraphBuilder::Pointwise;

// One operation after the convolution: the bias, then the post-ops.
struct EpilogueStep {
  Pointwise function;
  std::optional<TensorForm> operand;
};

// Returns the type in which cuDNN reads the bias. Its precompiled engines read a bias of 16 bits
// for tensors of 16 bits; a wider one is left to engines that are compiled at run time.
DataType bias_type(const Problem& problem, std::size_t bias) {
  constexpr std::int64_t kHalfBytes = 2;
  const bool is_half = info(problem.dtype).bytes == kHalfBytes;
  return is_half ? representable_type(problem, problem.tensors[bias]) : problem.tensors[bias].dtype;
}

// Puts the first residual before the bias, as cudnnConvolutionBiasActivationForward adds them:
// cuDNN has precompiled engines for this order only. The sum is the same, because both are added in
// f32 before the result is rounded.
void put_residual_first(const Problem& problem, std::vector<EpilogueStep>& steps) {
  const bool begins_with_sums = steps.size() > 1 && steps[0].operand && steps[1].operand;
  if (begins_with_sums && !info(problem.dtype).is_integer) std::swap(steps[0], steps[1]);
}

Result<std::vector<EpilogueStep>, BackendError> make_epilogue_steps(const Problem& problem,
                                                                    const ConvForm& form) {
  std::vector<EpilogueStep> steps;
  std::size_t next =
      2;  // index of the next operand; the tensors are source, weights, [bias], residuals
  const Layout layout = chosen_layout(problem);
  const Pointwise add{CUDNN_POINTWISE_ADD};
  if (conv_shape(problem.parameters).bias == Bias::present) {
    std::vector<std::int64_t> dims(form.y.dims.size(), 1);
    dims[1] = form.y.dims[1];
    steps.push_back({add, tensor_form(problem, next, std::move(dims), layout)});
    steps.back().operand->dtype = bias_type(problem, next++);
  }
  for (const PostOp& post_op : problem.post_ops) {
    if (post_op.function == "add") {
      steps.push_back({add, tensor_form(problem, next++, form.y.dims, layout)});
      continue;
    }
    const auto function = unary_function(post_op.function, {post_op.alpha, post_op.beta});
    if (!function) {
      return unsupported(fmt::format("cuDNN has no pointwise function `{}`", post_op.function));
    }
    steps.push_back({*function, std::nullopt});
  }
  for (EpilogueStep& step : steps) step.function.compute = pointwise_compute_type(problem);
  put_residual_first(problem, steps);
  return steps;
}

// Returns the tensor that the convolution computes, among x, w and y.
std::size_t result_index(ConvKind kind) {
  switch (kind) {
    case ConvKind::forward:
      break;
    case ConvKind::data:
      return 0;
    case ConvKind::weights:
      return 1;
  }
  return 2;
}

void build_graph(GraphBuilder& builder, const Problem& problem, const ConvForm& form,
                 std::vector<EpilogueStep> steps) {
  const DataType compute = compute_type(problem);
  const TensorForm* const forms[] = {&form.x, &form.w, &form.y};
  std::size_t tensors[std::size(forms)];
  std::ranges::transform(forms, tensors,
                         [&](const TensorForm* each) { return builder.tensor(*each); });
  const std::size_t result = result_index(form.kind);
  const std::size_t destination = tensors[result];
  const auto make_intermediate = [&](std::size_t number, DataType dtype) {
    return builder.intermediate(fmt::format("result {}", number), dtype, forms[result]->dims,
                                forms[result]->strides);
  };
  // cuDNN's engines read the convolution's factor as an integer if they write integer sums to
  // memory, although its type is f32. They do not if they pass the sums on, here to an identity.
  if (info(forms[result]->dtype).is_integer && steps.empty()) {
    steps.push_back({{.mode = CUDNN_POINTWISE_IDENTITY, .compute = compute}, std::nullopt});
  }
  if (!steps.empty()) tensors[result] = make_intermediate(0, compute);
  std::size_t previous = tensors[result];
  builder.convolution(form, compute, tensors[0], tensors[1], tensors[2]);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::optional<std::size_t> operand;
    if (steps[i].operand) operand = builder.tensor(*steps[i].operand);
    const std::size_t next =
        i + 1 == steps.size() ? destination : make_intermediate(i + 1, steps[i].function.compute);
    builder.pointwise(steps[i].function, previous, operand, next);
    previous = next;
  }
}

Result<OperationGraph, BackendError> conv_graph(const CudnnTarget& target, const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(const ConvForm form, conv_form(problem));
  std::vector<EpilogueStep> steps;
  if (problem.direction == Direction::forward) {
    BENCH_ASSIGN_OR_RETURN(steps, make_epilogue_steps(problem, form));
  }
  if (!steps.empty() && form.kind == ConvKind::data) {
    return unsupported(
        "cuDNN fuses nothing after a transposed convolution; leave bias and post-ops out");
  }
  GraphBuilder builder(target);
  build_graph(builder, problem, form, std::move(steps));
  return builder.finish();
}

bool requests_fast_accumulation(const Problem& problem) {
  return problem.math == Math::fast_accumulation;
}

// Returns the form of the convolution; nullopt if its data type differs or cuDNN has no operation
// for it.
std::optional<ConvForm> find_conv_form(const Problem& problem, bool (*has_type)(const Problem&)) {
  if (!has_type(problem)) return std::nullopt;
  const auto form = conv_form(conv_part(problem, problem.dtype));
  return form ? std::optional(*form) : std::nullopt;
}
bool is_byte_integer(const Problem& problem) {
  return problem.dtype == DataType::s8 || problem.dtype == DataType::u8;
}
constexpr auto kIsOne = [](std::int64_t number) { return number == 1; };
constexpr auto kIsZero = [](std::int64_t number) { return number == 0; };
std::int64_t count_groups(const ConvForm& form) { return form.x.dims[1] / form.w.dims[1]; }
// An H100 ran such a problem (cuDNN 9.19), although cuDNN lists no engine for a described one.
bool is_s8_data_gradient_in_nhwc(const Problem& problem) {
  const auto form = find_conv_form(problem, is_byte_integer);
  return form && problem.dtype == DataType::s8 && !is_in_nchw(problem) &&
         problem.direction == Direction::backward_data && count_groups(*form) == 1 &&
         std::ranges::all_of(form->stride, kIsOne);
}
bool is_other_integer_gradient(const Problem& problem) {
  const auto form = find_conv_form(problem, is_byte_integer);
  return form && form->kind != ConvKind::forward && !is_s8_data_gradient_in_nhwc(problem);
}
// Whether the result is an integer that only tensor cores compute and pass on to another operation.
bool is_integer_sum_without_tensor_cores(const Problem& problem) {
  return is_byte_integer(problem) && info(problem.tensors.back().dtype).is_integer &&
         (is_in_nchw(problem) || problem.dtype == DataType::u8);
}

// Returns whether the convolution is a matrix product: the channels of each pixel times one matrix.
bool is_pixelwise(const Problem& problem, const ConvForm& form) {
  return !is_in_nchw(problem) && form.kind == ConvKind::data && count_groups(form) == 1 &&
         std::all_of(form.w.dims.begin() + 2, form.w.dims.end(), kIsOne) &&
         std::ranges::all_of(form.stride, kIsOne) &&
         std::ranges::all_of(form.pad_before, kIsZero) &&
         std::ranges::all_of(form.pad_after, kIsZero);
}
bool is_f8_gradient(const Problem& problem) {
  const auto form = find_conv_form(problem, is_f8);
  return form && form->kind != ConvKind::forward && !is_pixelwise(problem, *form);
}
bool is_f8_gradient_of_odd_channels(const Problem& problem) {
  const auto form = find_conv_form(problem, is_f8);
  constexpr std::int64_t kChannels = 16;
  return is_f8_gradient(problem) && (form->w.dims[1] % kChannels != 0 ||
                                     form->w.dims[0] / count_groups(*form) % kChannels != 0);
}
bool is_f8_gradient_of_strided_data(const Problem& problem) {
  const auto form = find_conv_form(problem, is_f8);
  return form && form->kind == ConvKind::data && !std::ranges::all_of(form->stride, kIsOne);
}
bool is_f8_in_odd_groups(const Problem& problem) {
  const auto form = find_conv_form(problem, is_f8);
  constexpr std::int64_t kChannels = 4;
  return form && count_groups(*form) > 1 && form->w.dims[1] % kChannels != 0;
}

constexpr ComputeCapability kHopper = {9, 0};

constexpr CudnnGap kGaps[] = {
    {requests_fast_accumulation,
     "only backend cublaslt supports fast accumulation of fp8; leave `math: "
     "fast_accumulation` out"},
};

constexpr CudnnGap kExpectedGaps[] = {
    {is_s8_data_gradient_in_nhwc,
     "before compute capability 9.0 cuDNN has no engine for gradients of 8-bit integers", kHopper},
    {is_other_integer_gradient,
     "cuDNN has no engine for gradients of 8-bit integers, and transposed convolutions run as "
     "gradients"},
    {is_integer_sum_without_tensor_cores, "cuDNN has engines for sums in s32 only for s8 in nhwc"},
    {is_f8_gradient,
     "before compute capability 9.0 cuDNN has no engine for gradients of f8, and transposed "
     "convolutions run as gradients",
     kHopper},
    {is_f8_gradient_of_strided_data,
     "cuDNN has no engine for the gradient of an f8 convolution's data with strides"},
    {is_f8_gradient_of_odd_channels,
     "cuDNN's engines for gradients of f8 need channels in multiples of 16"},
    {is_f8_in_odd_groups, "cuDNN's engines for f8 need groups of channels in multiples of 4"},
};

// Returns the arrangement of the weights, which are stored as [g,] k/g, c/g, taps. cuDNN runs a
// transposed convolution as the gradient of a plain one, in which c and k are swapped. The tensor
// of a padded convolution has fewer channels than the form (padded_part()).
Arrangement make_weights_arrangement(const ConvShape& shape, const Tensor& weights,
                                     const TensorForm& form) {
  const bool transposed = shape.sweep == Sweep::transposed;
  const std::int64_t outer = form.strides[0], inner = form.strides[1];
  const std::int64_t channels = shape.groups > 1 ? shape.group_c() : weights.dims[1];
  std::vector<std::int64_t> dims = {shape.groups, shape.group_k(), channels};
  std::vector<std::int64_t> strides = {
      (transposed ? shape.group_c() : shape.group_k()) * outer,
      transposed ? inner : outer,
      transposed ? outer : inner,
  };
  dims.insert(dims.end(), form.dims.begin() + 2, form.dims.end());
  strides.insert(strides.end(), form.strides.begin() + 2, form.strides.end());
  return padded_arrangement(dims, strides, element_count(form.dims).value());
}

bool is_weights(const Problem& problem, std::size_t tensor) {
  const std::string_view name = problem.tensors[tensor].name;
  return name == "weights" || name == "diff_weights";
}

std::optional<PackedTensor> pack_weights(const Problem& problem, std::size_t tensor,
                                         const TensorForm& form) {
  if (!is_weights(problem, tensor)) return std::nullopt;
  return PackedTensor{
      make_weights_arrangement(conv_shape(problem.parameters), problem.tensors[tensor], form),
      format_layout(problem, tensor, chosen_layout(problem))};
}

}  // namespace

extern const CudnnEntry conv_cudnn;
const CudnnEntry conv_cudnn = {.op = "conv",
                               .graph = conv_graph,
                               .gaps = kGaps,
                               .expected_gaps = kExpectedGaps,
                               .pack = pack_weights};

}  // namespace bench::ops::cuda
