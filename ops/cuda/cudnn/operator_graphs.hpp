// SPDX-License-Identifier: Apache-2.0
// Functions that the graph builders of several operators (CudnnEntry::graph) share.
#pragma once

#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/graph_builder.hpp"
#include "ops/pointwise/functions.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Whether channels are innermost in the elementwise graph of a problem. If not, the graph's tensors
// are plain.
bool has_channels_innermost(const Problem& problem);
// Returns `dims` with at least four dimensions. Adds dimensions of size 1 in front, as broadcasts
// do.
std::vector<std::int64_t> padded_dims(const Dims& dims);
// Describes a tensor of an elementwise graph. cuDNN's pointwise engines expect the second dimension
// innermost, and elementwise operations do not depend on what a dimension means. For plain tensors
// the last dimension therefore becomes the second one.
TensorForm elementwise_form(const Problem& problem, std::size_t tensor,
                            std::vector<std::int64_t> dims);
TensorForm elementwise_form(const Problem& problem, std::size_t tensor);
// Implements CudnnEntry::pack for elementwise graphs. Returns the plain arrangement if channels are
// not innermost, because elementwise_form() then permutes the dimensions. Tensors with one
// dimension are plain too.
std::optional<PackedTensor> pack_elementwise(const Problem& problem, std::size_t tensor,
                                             const TensorForm& form);

// Describe a function of ops/pointwise, or its gradient, in cuDNN's terms. Return nullopt if cuDNN
// has no identical function.
std::optional<GraphBuilder::Pointwise> unary_function(std::string_view name,
                                                      const PointwiseCoefficients& coefficients);
std::optional<GraphBuilder::Pointwise> unary_gradient(std::string_view name,
                                                      const PointwiseCoefficients& coefficients);
std::optional<GraphBuilder::Pointwise> binary_function(std::string_view name);

// Returns the type that the pointwise parts of a problem are computed in: f64 for f64, else f32.
DataType pointwise_compute_type(const Problem& problem);

}  // namespace bench::ops::cuda
