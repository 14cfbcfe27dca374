// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/support_oracle.hpp"

#include "ops/conv/conv.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <optional>

namespace bench::ops::cuda {
namespace {

Support product_support(const Problem& problem, const SupportQuestion& asked) {
  std::string reasons;
  for (const auto& [library, name] : {std::pair(ProductLibrary::cublaslt, "cuBLASLt"),
                                      std::pair(ProductLibrary::cublas, "cuBLAS")}) {
    const auto form = gemm_form(problem, library);
    const std::optional<BackendError> refused =
        form ? refused_by_device(*form, asked.of) : std::optional(form.error());
    if (!refused) return {Runs::yes, name, reasons};
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, refused->reason);
  }
  return {Runs::no, "", reasons};
}

// Returns why a device of this compute capability does not support the type.
std::optional<std::string> lacking_type(const Problem& problem, const SupportQuestion& asked) {
  constexpr ComputeCapability kBf16 = {8, 0}, kF8 = {8, 9};
  if (asked.of == kNoDevice || problem.op->name != "conv") return std::nullopt;
  const auto lacks = [&](std::string_view type, ComputeCapability least) {
    return fmt::format("{} needs compute capability {}.{}, this is {}.{}", type, least.major,
                       least.minor, asked.of.major, asked.of.minor);
  };
  if (problem.dtype == DataType::bf16 && asked.of < kBf16) return lacks("bf16", kBf16);
  if (is_fp8(problem.dtype) && asked.of < kF8) return lacks("f8", kF8);
  return std::nullopt;
}

// Returns why one cuDNN graph does not serve the problem, or nullopt if cuDNN accepts it.
std::optional<std::string> graph_error(const Problem& problem, const SupportQuestion& asked) {
  if (auto gap = known_gap(problem)) return gap;
  if (auto gap = expected_gap(problem, asked.of)) return gap;
  const auto graph = operation_graph(asked.api, problem);
  if (graph) return std::nullopt;
  return graph.error().reason;
}

std::string name_behind(ConvSplit split) {
  return split == ConvSplit::epilogue ? "cuDNN + bench:elementwise"
                                      : "cuDNN + bench:channel_sum_block";
}

// Whether cuDNN accepts its part of a split convolution.
bool part_is_accepted(const Problem& problem, ConvSplit split, const SupportQuestion& asked) {
  if (split == ConvSplit::bias_gradient) {
    return !graph_error(conv_part(problem, problem.dtype), asked);
  }
  for (const DataType between : between_types(problem)) {
    if (!graph_error(conv_part(problem, between), asked)) {
      return epilogue_form(problem, between, MemoryLayout::plain).ok();
    }
  }
  return false;
}

}  // namespace

Support check_support(const Problem& problem, const SupportQuestion& asked) {
  if (problem.op->name == "gemm") return product_support(problem, asked);
  if (const auto lacking = lacking_type(problem, asked)) return {Runs::no, "", *lacking};
  const auto native = native_form(problem);
  std::string reason = known_gap(problem).value_or("");
  if (reason.empty() && asked.api == nullptr) {
    const std::string missing = "cuDNN was not found: " + asked.missing;
    return native ? Support{Runs::yes, native->implementation, missing}
                  : Support{Runs::unknown, "", missing};
  }
  if (reason.empty()) {
    const auto error = graph_error(problem, asked);
    if (!error) return {Runs::yes, "cuDNN", ""};
    reason = *error;
    const ConvSplit split = conv_split(problem);
    if (split != ConvSplit::none && part_is_accepted(problem, split, asked)) {
      return {Runs::yes, name_behind(split), reason};
    }
  }
  if (native) return {Runs::yes, native->implementation, reason};
  const bool only_native = find_cudnn_entry(problem.op->name) == nullptr;
  return {Runs::no, "", only_native ? native.error().reason : reason};
}

}  // namespace bench::ops::cuda
