// SPDX-License-Identifier: Apache-2.0
// Builds cuDNN operation graphs from problems. Nothing here uses a device, so graphs are built and
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

// Uids of what the gradient of max pooling reads of the forward pass. They are not tensors of the
// problem. In nhwc it reads the positions of the maxima, one byte each; in nchw the result.
inline constexpr std::int64_t kForwardMaxima = 2000;
inline constexpr std::int64_t kMaximaResult = 2001;
// Uids of source and result of the forward pass for the gradient of an average in nchw, whose
// engine demands their addresses but does not read them. Any memory of their sizes will do.
inline constexpr std::int64_t kUnreadSource = 2002;
inline constexpr std::int64_t kUnreadResult = 2003;

// Uids of a graph's first constant (GraphConstant) and first scratch tensor.
inline constexpr std::int64_t kFirstConstant = 3000;
inline constexpr std::int64_t kFirstScratch = 4000;

// Alignment in bytes that graphs declare for every tensor, so it is also what plans require of
// their addresses. Device memory and the parts of one allocation have it.
inline constexpr std::int64_t kTensorAlignment = 256;

// What graphs are built for. `handle` is null if there is no device, or if a description of a
// device is used instead.
struct CudnnTarget {
  CudnnTarget(std::shared_ptr<const CudnnApi> library, cudnnHandle_t device = nullptr)
      : api(std::move(library)), handle(device) {}
  std::shared_ptr<const CudnnApi> api;
  cudnnHandle_t handle;
};

// Values that a graph reads and that are not a tensor of the problem.
struct GraphConstant {
  // The memory that executions read them from. The host's: numbers that are passed by value.
  enum class Memory : std::uint8_t { host, device };
  TensorForm form;
  Memory memory = Memory::host;
  std::vector<std::uint8_t> bytes;  // the values, in the form's type
};

struct OperationGraph {
  std::vector<Descriptor> parts;  // the descriptors that `graph` refers to
  Descriptor graph;
  std::vector<TensorForm> tensors;  // tensors with buffers, in the problem's order
  std::vector<GraphConstant> constants = {};
  // Tensors in the device's memory that executions write and read: intermediate results that cuDNN
  // does not place in its workspace.
  std::vector<TensorForm> scratch = {};
};

// Builds the graph that computes a problem. BackendError: cuDNN's graph API has no such operation,
// or rejects these sizes and types, with cuDNN's reason.
Result<OperationGraph, BackendError> operation_graph(const CudnnTarget& target,
                                                     const Problem& problem);

// Builds the graph of the forward pooling that must run before the gradient of max pooling.
// `problem` is the gradient. The graph reads the source (uid 1) and writes its result
// (kMaximaResult), in nhwc also the positions of the maxima (kForwardMaxima).
Result<OperationGraph, BackendError> maxima_graph(const CudnnTarget& target,
                                                  const Problem& problem);

// Returns cuDNN's code for a data type.
cudnnDataType_t cudnn_type(DataType dtype);
// Returns the type that a problem is computed in: s32 for integers, f64 for f64, else f32.
DataType compute_type(const Problem& problem);

}  // namespace bench::ops::cuda
