// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/serving.hpp"

#include "ops/conv/conv.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/operator.hpp"
#include "ops/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace bench::ops::cuda {
namespace {

bool is_broadcast(const Problem& problem) {
  return std::ranges::any_of(problem.tensors, [&](const Tensor& tensor) {
    return tensor.dims != problem.tensors.back().dims;
  });
}

using Applies = bool (*)(const Problem& problem);
struct GapRow {
  std::string_view op;
  Applies applies;
  std::string_view reason;
  std::optional<ComputeCapability> before = {};  // engines exist from this capability on
};

bool is_rank_3(const Problem& problem) { return problem.tensors[0].dims.size() == 3; }
bool asks_nhwc_of_rank_3(const Problem& problem) {
  return problem.layout == Layout::nhwc && is_rank_3(problem);
}
bool is_f64(const Problem& problem) { return problem.dtype == DataType::f64; }
bool is_nchw(const Problem& problem) { return problem.layout == Layout::nchw; }
bool is_nchw_broadcast(const Problem& problem) { return is_nchw(problem) && is_broadcast(problem); }
// Below four dimensions, the last one takes the place of the channels.
bool stretches_channels(const Problem& problem) {
  const Dims& result = problem.tensors.back().dims;
  return result.size() < 4 && std::ranges::any_of(problem.tensors, [&](const Tensor& tensor) {
           return tensor.dims != result &&
                  tensor.elements() != (tensor.dims.empty() ? 1 : tensor.dims.back());
         });
}
bool always(const Problem& /*of an operator*/) { return true; }
bool asks_fast_accumulation(const Problem& problem) {
  return problem.math == Math::fast_accumulation;
}

// Observed with cuDNN 9.19: graphs that it accepts but finds no engine for.
constexpr GapRow kGaps[] = {
    {"conv", asks_fast_accumulation,
     "only backend cublaslt supports fast accumulation of fp8; leave `math: "
     "fast_accumulation` out"},
    {"softmax", always, "cuDNN's graph API has no operation for softmax"},
    {"reorder", always, "cuDNN has no engine that only moves a tensor"},
    {"pointwise", is_f64, "cuDNN has no engine for pointwise functions of f64"},
    {"batch_norm", is_f64, "cuDNN has no engine for pointwise functions of f64"},
    {"pointwise", is_nchw_broadcast, "cuDNN has no engine for broadcasts in nchw"},
    {"pointwise", stretches_channels,
     "cuDNN has no engine for broadcasts except along the channels"},
    {"batch_norm", is_nchw, "cuDNN has no engine for a batch norm in nchw"},
    {"pointwise", asks_nhwc_of_rank_3, "cuDNN's pointwise engines take nhwc from 4 dimensions on"},
    {"batch_norm", is_rank_3, "cuDNN has no engine for a batch norm of one spatial dimension"},
};

bool is_f8(const Problem& problem) { return is_fp8(problem.dtype); }
bool is_in_nchw(const Problem& problem) { return chosen_layout(problem) == Layout::nchw; }
bool is_maximum_gradient_in_nchw(const Problem& problem) {
  return problem.direction != Direction::forward && is_in_nchw(problem) &&
         problem.parameters.word("function") == kPoolMax;
}
bool is_byte_in_nchw(const Problem& problem) {
  return is_in_nchw(problem) && (is_f8(problem) || problem.dtype == DataType::u8);
}
bool is_f64_in_nhwc(const Problem& problem) { return is_f64(problem) && !is_in_nchw(problem); }

// Returns nullopt if the type differs, or cuDNN has no operation for it.
std::optional<ConvForm> form_of_conv(const Problem& problem, bool (*has_type)(const Problem&)) {
  if (!has_type(problem)) return std::nullopt;
  const auto form = conv_form(conv_part(problem, problem.dtype));
  return form ? std::optional(*form) : std::nullopt;
}
bool is_byte_integer(const Problem& problem) {
  return problem.dtype == DataType::s8 || problem.dtype == DataType::u8;
}
bool is_integer_gradient(const Problem& problem) {
  const auto form = form_of_conv(problem, is_byte_integer);
  return form && form->kind != ConvKind::forward;
}

constexpr auto kIsOne = [](std::int64_t number) { return number == 1; };
constexpr auto kIsZero = [](std::int64_t number) { return number == 0; };
std::int64_t groups_of(const ConvForm& form) { return form.x.dims[1] / form.w.dims[1]; }
// A matrix product: each pixel's channels times one matrix.
bool is_pixelwise(const Problem& problem, const ConvForm& form) {
  return !is_in_nchw(problem) && form.kind == ConvKind::data && groups_of(form) == 1 &&
         std::all_of(form.w.dims.begin() + 2, form.w.dims.end(), kIsOne) &&
         std::ranges::all_of(form.stride, kIsOne) &&
         std::ranges::all_of(form.pad_before, kIsZero) &&
         std::ranges::all_of(form.pad_after, kIsZero);
}
bool is_f8_gradient(const Problem& problem) {
  const auto form = form_of_conv(problem, is_f8);
  return form && form->kind != ConvKind::forward && !is_pixelwise(problem, *form);
}
bool is_f8_gradient_of_odd_channels(const Problem& problem) {
  const auto form = form_of_conv(problem, is_f8);
  constexpr std::int64_t kChannels = 16;
  return is_f8_gradient(problem) &&
         (form->w.dims[1] % kChannels != 0 || form->w.dims[0] / groups_of(*form) % kChannels != 0);
}
bool is_f8_gradient_of_strided_data(const Problem& problem) {
  const auto form = form_of_conv(problem, is_f8);
  return form && form->kind == ConvKind::data && !std::ranges::all_of(form->stride, kIsOne);
}
bool is_f8_in_odd_groups(const Problem& problem) {
  const auto form = form_of_conv(problem, is_f8);
  constexpr std::int64_t kChannels = 4;
  return form && groups_of(*form) > 1 && form->w.dims[1] % kChannels != 0;
}

constexpr ComputeCapability kBlackwell = {10, 0};

// Observed with cuDNN 9.19 for a described sm_90; the f8 rows for a described sm_89 and sm_100.
constexpr GapRow kExpectedGaps[] = {
    {"conv", is_integer_gradient,
     "cuDNN has no engine for gradients of 8-bit integers, and transposed convolutions run as "
     "gradients"},
    {"conv", is_f8_gradient,
     "before compute capability 10.0 cuDNN has no engine for gradients of f8, and transposed "
     "convolutions run as gradients",
     kBlackwell},
    {"conv", is_f8_gradient_of_strided_data,
     "cuDNN has no engine for the gradient of an f8 convolution's data with strides"},
    {"conv", is_f8_gradient_of_odd_channels,
     "cuDNN's engines for gradients of f8 need channels in multiples of 16"},
    {"conv", is_f8_in_odd_groups,
     "cuDNN's engines for f8 need groups of channels in multiples of 4"},
    {"pool", is_maximum_gradient_in_nchw,
     "cuDNN has no engine for the gradient of a maximum in nchw"},
    {"pool", is_byte_in_nchw, "cuDNN has no engine for pooling of u8 and f8 in nchw"},
    {"pool", is_f64_in_nhwc, "cuDNN has no engine for pooling of f64 in nhwc"},
};

std::optional<std::string> find_gap(std::span<const GapRow> rows, const Problem& problem,
                                    ComputeCapability of) {
  for (const GapRow& row : rows) {
    const bool has_engines = row.before && (of == kNoDevice || of >= *row.before);
    if (has_engines || row.op != problem.op->name || !row.applies(problem)) continue;
    return std::string(row.reason);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> known_gap(const Problem& problem) {
  return find_gap(kGaps, problem, kNoDevice);
}

std::optional<std::string> expected_gap(const Problem& problem, ComputeCapability of) {
  return find_gap(kExpectedGaps, problem, of);
}

ConvSplit conv_split(const Problem& problem) {
  if (problem.op->name != "conv") return ConvSplit::none;
  const bool bias = conv_shape(problem.parameters).bias == Bias::present;
  if (problem.direction == Direction::forward) {
    return bias || !problem.post_ops.empty() ? ConvSplit::epilogue : ConvSplit::none;
  }
  const bool sums = problem.direction == Direction::backward_weights && bias;
  return sums ? ConvSplit::bias_gradient : ConvSplit::none;
}

Problem conv_part(const Problem& problem, DataType between) {
  Problem part = problem;
  const std::size_t last = problem.tensors.size() - 1;
  part.post_ops.clear();
  part.parameters.set("bias", false);
  const bool forward = problem.direction == Direction::forward;
  part.tensors = {problem.tensors[0], problem.tensors[1], problem.tensors[forward ? last : 2]};
  if (forward) part.tensors.back().dtype = between;
  return part;
}

std::vector<DataType> between_types(const Problem& problem) {
  const DataTypeInfo& type = info(problem.dtype);
  constexpr std::int64_t kWordBytes = 4;
  if (type.is_integer) return {DataType::f32, DataType::s32};
  if (type.bytes < kWordBytes) return {DataType::f32, problem.dtype};
  return {problem.dtype};
}

std::string plan_key(const Problem& problem) {
  std::string types;
  for (const Tensor& tensor : problem.tensors) {
    types += fmt::format(" {}", info(tensor.dtype).name);
  }
  return fmt::format(
      "{} {} {} {} {} {}{}", problem.op->name,
      direction_names()[static_cast<std::size_t>(problem.direction)], info(problem.dtype).name,
      layout_names()[static_cast<std::size_t>(chosen_layout(problem))],
      math_names()[static_cast<std::size_t>(problem.math)], problem_tokens(problem), types);
}

}  // namespace bench::ops::cuda
