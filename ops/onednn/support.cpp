// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/support.hpp"

#include "base/available_memory.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/library.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::ops {
namespace {

constexpr std::size_t kMaxDimensions = DNNL_MAX_NDIMS;

struct Requirement {
  DataType type;
  std::string_view instruction_sets;
};

// From oneDNN's documentation, "Data Types".
constexpr std::array<Requirement, 2> kRequirements = {{
    {DataType::bf16, "AVX512_CORE or AVX2_VNNI_2"},
    {DataType::f16, "AVX512_CORE_FP16 or AVX2_VNNI_2"},
}};

}  // namespace

const OnednnKernelEntry* find_onednn_kernel(std::string_view op) {
  const auto table = onednn_kernels();
  const auto row = std::ranges::find(table, op, &OnednnKernelEntry::op);
  return row == table.end() ? nullptr : *row;
}

std::string describe(const Problem& problem) {
  std::string text = fmt::format("{} {} {}", problem.op->name, to_string(problem.direction),
                                 info(problem.dtype).name);
  for (const PostOp& post_op : problem.post_ops) text += " +" + format_post_op(post_op);
  return text;
}

Result<Done, BackendError> check_supported(const Problem& problem) {
  if (find_onednn_kernel(problem.op->name) == nullptr) {
    return unsupported(fmt::format("the oneDNN backend has no kernel for {}", problem.op->name));
  }
  if (problem.math == Math::tf32) {
    return unsupported(
        "tf32 is a format of GPUs; oneDNN on a CPU can only compute f32 in bf16 "
        "instead, which is not the same");
  }
  if (problem.math == Math::fast_accumulation) {
    return unsupported(
        "oneDNN has no fast accumulation of fp8; leave `math: fast_accumulation` out, or use "
        "backend cublaslt on a GPU");
  }
  if (problem.direction != Direction::forward && info(problem.dtype).is_integer) {
    return unsupported(fmt::format("oneDNN has no gradients of {}", info(problem.dtype).name));
  }
  return check_tensors(problem);
}

Result<Done, BackendError> check_tensors(const Problem& problem) {
  for (const Tensor& tensor : problem.tensors) {
    if (!find_onednn_type(tensor.dtype)) {
      return unsupported(fmt::format("the oneDNN backend (oneDNN {}) has no {} on a CPU",
                                     onednn_version(), info(tensor.dtype).name));
    }
    if (tensor.dims.size() > kMaxDimensions) {
      return unsupported(fmt::format("`{}` has {} dimensions, oneDNN's tensors have at most {}",
                                     tensor.name, tensor.dims.size(), kMaxDimensions));
    }
  }
  return Done{};
}

Result<Done, BackendError> check_memory(std::optional<Bytes> needed, std::string_view what) {
  const std::optional<Bytes> available = available_memory("");
  if (needed && (!available || *needed <= *available)) return Done{};
  return BackendError{BackendError::Kind::skipped,
                      fmt::format("not enough memory: {} needs {}, {} available", what,
                                  needed ? format_bytes(*needed) : "more than 2^63 bytes",
                                  available ? format_bytes(*available) : std::string(kUnknown))};
}

std::optional<Bytes> total_size(std::span<const Tensor> tensors) {
  Checked total = 0;
  for (const Tensor& tensor : tensors) total += tensor.size().count;
  const auto bytes = total.value();
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

BackendError with_data_type_cause(OnednnContext& context, DataType type, BackendError error) {
  if (error.kind != BackendError::Kind::unsupported || context.computes(type)) return error;
  std::string reason = fmt::format("oneDNN {} does not compute {} on this CPU ({})",
                                   onednn_version(), info(type).name, onednn_instruction_set());
  const auto* row = std::ranges::find(kRequirements, type, &Requirement::type);
  if (row != kRequirements.end()) reason += fmt::format("; it needs {}", row->instruction_sets);
  return {error.kind, std::move(reason)};
}

}  // namespace bench::ops
