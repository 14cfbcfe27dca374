// SPDX-License-Identifier: Apache-2.0
// operation_graph() for each operator, and what these functions share.
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
// The tensor `variance` must hold 1/sqrt(variance + epsilon).
Result<OperationGraph, Refusal> batch_norm_graph(const CudnnTarget& target, const Problem& problem);
Result<OperationGraph, Refusal> reorder_graph(const CudnnTarget& target, const Problem& problem);

// Whether channels are innermost in the elementwise graphs of a problem. If not, their tensors are
// plain.
bool has_channels_innermost(const Problem& problem);

// These map a function of ops/pointwise to cuDNN's terms. They return nullopt if cuDNN has no
// identical function.
struct Coefficient {
  double alpha = 0, beta = 0;
};
std::optional<GraphBuilder::Pointwise> unary_function(std::string_view name,
                                                      const Coefficient& coefficients);
std::optional<GraphBuilder::Pointwise> unary_gradient(std::string_view name,
                                                      const Coefficient& coefficients);
std::optional<GraphBuilder::Pointwise> binary_function(std::string_view name);

// The type that the pointwise parts of a problem are computed in: f64 for f64, else f32.
DataType pointwise_compute_type(const Problem& problem);

}  // namespace bench::ops::cuda
