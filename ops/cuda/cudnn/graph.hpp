// SPDX-License-Identifier: Apache-2.0
// Operation graphs of cuDNN from problems. Nothing here touches a device: graphs are built and
// checked on machines without a driver.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/descriptor.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

// Uid of the tensor that the gradient of max pooling reads beside those of its problem: where the
// forward pass found the maxima, one byte each.
inline constexpr std::int64_t kForwardMaxima = 2000;
// The result of that forward pass, which nobody reads.
inline constexpr std::int64_t kMaximaResult = 2001;

// Whom graphs are made for. No handle: no device, or one that is described by its properties.
struct CudnnTarget {
  CudnnTarget(std::shared_ptr<const CudnnApi> library, cudnnHandle_t device = nullptr)
      : api(std::move(library)), handle(device) {}
  std::shared_ptr<const CudnnApi> api;
  cudnnHandle_t handle;
};

struct OperationGraph {
  std::vector<Descriptor> parts;  // what `graph` refers to
  Descriptor graph;
  std::vector<TensorForm> tensors;  // those with buffers, in the problem's order
};

// Refusal: what cuDNN's graph API has no operation for, or does not accept in these sizes and
// types, in its own words.
Result<OperationGraph, Refusal> operation_graph(const CudnnTarget& target, const Problem& problem);

// What the gradient of a maximum needs before it: the pooling forward, which writes beside its
// result (kMaximaResult) where the maxima of the source (uid 1) are. `problem` is the gradient.
Result<OperationGraph, Refusal> maxima_graph(const CudnnTarget& target, const Problem& problem);

// cuDNN's code of a data type.
cudnnDataType_t cudnn_type(DataType dtype);
// In what a problem is computed: s32 for integers, f64 for f64, else f32.
DataType compute_type(const Problem& problem);

}  // namespace bench::ops::cuda
