// SPDX-License-Identifier: Apache-2.0
// Plans how a network runs on a device that this machine does not have: the kernel of each layer,
// its layouts, and the reorders between layers. cuDNN answers for the described device. What it
// cannot answer here, the rules of this program decide.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/support.hpp"
#include "ops/network/network.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// How a step is computed. graph: by one graph of cuDNN, which fuses bias and post-ops. parts: one
// of two steps, a library's kernel and a native one after it. native: by a native kernel alone.
// product: by cuBLASLt. transpose: a native kernel between two layouts. padded: a native kernel
// that adds channels to the source, then as graph or parts.
BENCH_ENUM(StepWay, graph, parts, native, product, transpose, padded);

struct PlannedStep {
  KernelStep step;
  StepWay way = StepWay::graph;
  // The other ways in which the layer can run. A device measures all of them and keeps the fastest.
  std::vector<StepWay> other_ways = {};
};

struct NetworkQuestion {
  std::shared_ptr<const CudnnApi> api;  // null: cuDNN was not found, and only the rules decide
  ComputeCapability capability;
  std::string_view device_json = {};  // cuDNN's description; empty: only the rules decide
};

// The implementation of a step on cuDNN whose engine is not known without the device or a driver.
inline constexpr std::string_view kUnknownEngine = "cudnn:n/a";

// Returns the steps in order. A layer that can run in several ways has the default, as a device
// starts with it: the choice by measurement needs a device. cuBLASLt chooses the algorithms of
// matrix products on the device only. BackendError: a layer has no kernel; the reason names the
// layer.
Result<std::vector<PlannedStep>, BackendError> plan_network(const NetworkQuestion& question,
                                                            const Network& network);

}  // namespace bench::ops::cuda
