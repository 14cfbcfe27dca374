// SPDX-License-Identifier: Apache-2.0
// operation_graph() operator by operator, and what they share.
#pragma once

#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/graph_builder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bench::ops::cuda {

Result<OperationGraph, Refusal> conv_graph(const CudnnTarget& target, const Problem& problem);
Result<OperationGraph, Refusal> pool_graph(const CudnnTarget& target, const Problem& problem);
Result<OperationGraph, Refusal> pointwise_graph(const CudnnTarget& target, const Problem& problem);
// The tensor `variance` is to hold 1/sqrt(variance + epsilon).
Result<OperationGraph, Refusal> batch_norm_graph(const CudnnTarget& target, const Problem& problem);
Result<OperationGraph, Refusal> reorder_graph(const CudnnTarget& target, const Problem& problem);

// Whether elementwise graphs of a problem have channels innermost; else their tensors are plain.
bool has_channels_innermost(const Problem& problem);

// A function of ops/pointwise in cuDNN's words. Absent: cuDNN has none that is the same.
struct Coefficient {
  double alpha = 0, beta = 0;
};
std::optional<GraphBuilder::Pointwise> unary_function(std::string_view name,
                                                      const Coefficient& coefficients);
std::optional<GraphBuilder::Pointwise> unary_gradient(std::string_view name,
                                                      const Coefficient& coefficients);
std::optional<GraphBuilder::Pointwise> binary_function(std::string_view name);

// In what the pointwise parts of a problem are computed: f64 for f64, else f32.
DataType pointwise_compute_type(const Problem& problem);

}  // namespace bench::ops::cuda
