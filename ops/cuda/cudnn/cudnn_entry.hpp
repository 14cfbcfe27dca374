// SPDX-License-Identifier: Apache-2.0
// Describes how cuDNN computes an operator. Each operator that cuDNN supports defines one
// `extern const CudnnEntry <op>_cudnn` in ops/<op>/cudnn.cpp. The build generates the table
// cudnn_entries() from the operators with the word `cudnn` in ops/CMakeLists.txt.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/support.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

// How packed values are stored. inverse_deviation: as 1 / sqrt(value + epsilon).
enum class PackedValues { unchanged, inverse_deviation };

struct PackedTensor {
  Arrangement arrangement;
  std::string layout;  // human-readable: "nchw", "nhwc", "plain"
  PackedValues values = PackedValues::unchanged;
};

// A set of problems that no cuDNN engine computes, even if cuDNN accepts a graph.
struct CudnnGap {
  bool (*applies)(const Problem& problem);
  std::string_view reason;
  // If set, the gap exists only on devices below this capability.
  std::optional<ComputeCapability> before = {};
  // If set, the gap exists only on devices from this capability on.
  std::optional<ComputeCapability> from = {};
};

struct CudnnEntry {
  std::string_view op;
  // Builds the graph of a problem. BackendError: cuDNN's graph API has no such operation, or
  // rejects these sizes and types. The pointer is null if cuDNN has no operation for the operator.
  Result<OperationGraph, BackendError> (*graph)(const CudnnTarget& target,
                                                const Problem& problem) = nullptr;
  // Gaps observed with cuDNN 9.19. `gaps` hold on every device, also if cuDNN offers an engine;
  // native kernels compute their problems. `expected_gaps` were observed for described devices, and
  // only predict what cuDNN answers on a device.
  std::span<const CudnnGap> gaps = {};
  std::span<const CudnnGap> expected_gaps = {};
  // Returns a tensor's arrangement if it differs from the graph's form, else nullopt. The pointer
  // may be null.
  std::optional<PackedTensor> (*pack)(const Problem& problem, std::size_t tensor,
                                      const TensorForm& form) = nullptr;
};

std::span<const CudnnEntry* const> cudnn_entries();
// Returns nullptr if no entry has the operator.
const CudnnEntry* find_cudnn_entry(std::string_view op);

// Returns "nchw" or "nhwc", or "plain" for tensors with fewer than three dimensions.
std::string format_layout(const Problem& problem, std::size_t tensor, Layout layout);

// Conditions of gaps (CudnnGap::applies) that several operators share.
inline bool is_rank_3(const Problem& problem) { return problem.tensors[0].dims.size() == 3; }
inline bool is_f64(const Problem& problem) { return problem.dtype == DataType::f64; }
inline bool is_nchw(const Problem& problem) { return problem.layout == Layout::nchw; }
inline bool is_in_nchw(const Problem& problem) { return chosen_layout(problem) == Layout::nchw; }
inline bool is_f8(const Problem& problem) { return is_fp8(problem.dtype); }
inline bool always(const Problem& /*of the operator*/) { return true; }

}  // namespace bench::ops::cuda
