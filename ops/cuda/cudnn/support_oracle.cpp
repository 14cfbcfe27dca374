// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/support_oracle.hpp"

#include "ops/conv/conv.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/descriptor.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench::ops::cuda {
namespace {

Support check_product_support(const Problem& problem, const SupportQuestion& question) {
  std::string reasons;
  for (const auto& [library, name] : {std::pair(ProductLibrary::cublaslt, "cuBLASLt"),
                                      std::pair(ProductLibrary::cublas, "cuBLAS")}) {
    const auto parts = product_parts(problem, library, question.capability);
    if (parts) return {Runnable::yes, product_name(name, *parts), reasons};
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, parts.error().reason);
  }
  return {Runnable::no, "", reasons};
}

// Returns why no single cuDNN graph computes the problem, or nullopt if cuDNN accepts its graph.
std::optional<std::string> graph_error(const Problem& problem, const SupportQuestion& question) {
  if (auto gap = known_gap(problem)) return gap;
  if (auto gap = expected_gap(problem, question.capability)) return gap;
  const auto graph = operation_graph(question.api, problem);
  if (graph) return std::nullopt;
  return graph.error().reason;
}

std::string format_split_support(ConvSplit split) {
  return split == ConvSplit::epilogue ? "cuDNN + bench:elementwise"
                                      : "cuDNN + bench:channel_sum_block";
}

// Whether cuDNN accepts its part of a split convolution, and a native kernel exists for the rest.
bool is_part_accepted(const Problem& problem, ConvSplit split, const SupportQuestion& question) {
  if (split == ConvSplit::bias_gradient) {
    return !graph_error(conv_part(problem, problem.dtype), question);
  }
  for (const DataType intermediate_dtype : intermediate_types(problem)) {
    if (!graph_error(conv_part(problem, intermediate_dtype), question)) {
      return epilogue_form(problem, intermediate_dtype, MemoryLayout::plain).ok();
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> missing_type_reason(const Problem& problem,
                                               ComputeCapability capability) {
  constexpr ComputeCapability kBf16 = {8, 0}, kF8 = {8, 9};
  if (capability == kNoDevice || problem.op->name != "conv") return std::nullopt;
  const auto format_missing = [&](std::string_view type, ComputeCapability minimum) {
    return fmt::format("{} needs compute capability {}.{}, this is {}.{}", type, minimum.major,
                       minimum.minor, capability.major, capability.minor);
  };
  if (problem.dtype == DataType::bf16 && capability < kBf16) return format_missing("bf16", kBf16);
  if (is_fp8(problem.dtype) && capability < kF8) return format_missing("f8", kF8);
  return std::nullopt;
}

Support check_support(const Problem& problem, const SupportQuestion& question) {
  if (is_product(problem)) return check_product_support(problem, question);
  if (const auto type_reason = missing_type_reason(problem, question.capability))
    return {Runnable::no, "", *type_reason};
  const auto native = native_form(problem);
  std::string reason = known_gap(problem).value_or("");
  if (reason.empty() && question.api == nullptr) {
    const std::string missing = "cuDNN was not found: " + question.missing;
    return native ? Support{Runnable::yes, native->implementation, missing}
                  : Support{Runnable::unknown, "", missing};
  }
  if (reason.empty()) {
    const auto error = graph_error(problem, question);
    if (!error) return {Runnable::yes, "cuDNN", ""};
    reason = *error;
    const ConvSplit split = conv_split(problem);
    if (split != ConvSplit::none && is_part_accepted(problem, split, question)) {
      return {Runnable::yes, format_split_support(split), reason};
    }
  }
  if (native) return {Runnable::yes, native->implementation, reason};
  const bool only_native = find_cudnn_entry(problem.op->name) == nullptr;
  return {Runnable::no, "", only_native ? native.error().reason : reason};
}

Result<std::string> read_device_json(const std::shared_ptr<const CudnnApi>& api, int device) {
  BENCH_ASSIGN_OR_RETURN(
      const Descriptor properties,
      DescriptorBuilder(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device's properties")
          .code(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, std::int32_t{device})
          .finish());
  constexpr std::int64_t kMaxJsonBytes = 64 << 10;  // the text has about 1 KiB (40 numbers)
  std::vector<char> text(static_cast<std::size_t>(kMaxJsonBytes));
  std::int64_t count = 0;
  const cudnnStatus_t status =
      api->get_attribute(properties.get(), CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                         CUDNN_TYPE_CHAR, kMaxJsonBytes, &count, text.data());
  if (status != CUDNN_STATUS_SUCCESS) return Error{api->text(status), "", ""};
  std::string json(text.data(), static_cast<std::size_t>(std::min(count, kMaxJsonBytes)));
  // The count may include the terminating zero.
  while (!json.empty() && json.back() == '\0') json.pop_back();
  return json;
}

}  // namespace bench::ops::cuda
