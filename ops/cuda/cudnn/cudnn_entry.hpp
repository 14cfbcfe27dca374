// SPDX-License-Identifier: Apache-2.0
// How cuDNN computes an operator: one `extern const CudnnEntry <op>_cudnn` in ops/<op>/cudnn.cpp.
// The table cudnn_entries() is generated from ops/CMakeLists.txt (the word `cudnn`).
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

// Transformation of values before packing. inverse_deviation: 1 / sqrt(value + epsilon).
enum class PackedValues { unchanged, inverse_deviation };

struct PackedTensor {
  Arrangement arrangement;
  std::string layout;  // human-readable: "nchw", "nhwc", "plain"
  PackedValues values = PackedValues::unchanged;
};

// Problems for which cuDNN accepts a graph, but finds no engine.
struct CudnnGap {
  bool (*applies)(const Problem& problem);
  std::string_view reason;
  std::optional<ComputeCapability> before = {};  // engines exist from this capability on
};

struct CudnnEntry {
  std::string_view op;
  // BackendError: cuDNN's graph API has no such operation, or rejects these sizes and types.
  // nullptr: there is no operation for it, whatever the sizes.
  Result<OperationGraph, BackendError> (*graph)(const CudnnTarget& target,
                                                const Problem& problem) = nullptr;
  // Gaps that a native kernel fills, and gaps that nothing fills. Observed with cuDNN 9.19: the
  // first ones always, the second ones for described devices.
  std::span<const CudnnGap> gaps = {};
  std::span<const CudnnGap> expected_gaps = {};
  // Arranges a tensor otherwise than the graph's form says. nullopt: as the form says.
  std::optional<PackedTensor> (*pack)(const Problem& problem, std::size_t tensor,
                                      const TensorForm& form) = nullptr;
};

std::span<const CudnnEntry* const> cudnn_entries();
// Returns nullptr if no entry has the operator.
const CudnnEntry* find_cudnn_entry(std::string_view op);

// "nchw" or "nhwc"; "plain" below three dimensions.
std::string format_layout(const Problem& problem, std::size_t tensor, Layout layout);

// Conditions that the gaps of several operators share.
inline bool is_rank_3(const Problem& problem) { return problem.tensors[0].dims.size() == 3; }
inline bool is_f64(const Problem& problem) { return problem.dtype == DataType::f64; }
inline bool is_nchw(const Problem& problem) { return problem.layout == Layout::nchw; }
inline bool is_in_nchw(const Problem& problem) { return chosen_layout(problem) == Layout::nchw; }
inline bool is_f8(const Problem& problem) { return is_fp8(problem.dtype); }
inline bool always(const Problem& /*of the operator*/) { return true; }

}  // namespace bench::ops::cuda
