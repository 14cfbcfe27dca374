// SPDX-License-Identifier: Apache-2.0
// The plugin's backends: cudnn, cublaslt and cublas on one device.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/cuda/plugin/handover.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Returns why nothing can run on a device here, in the wording of `bench doctor`, or nullopt if
// something can. Creates no context.
std::optional<std::string> why_no_device(const Variables& variables);

// Returns the backends in order of preference. They share one device, its memory, tracer and
// counters. Opening a backend loads its library and does nothing else with the device.
// BackendError: skipped without a device; unsupported without the library. cudnn without its
// library opens nevertheless, with the plugin's native kernels only.
std::vector<OfferedBackend> cuda_backends(const std::vector<SearchStep>& search,
                                          const Variables& variables);

// Returns the operators that the backends serve, each once: "conv", ..., "network".
std::vector<std::string> served_operators(std::span<const OfferedBackend> backends);

}  // namespace bench::ops::cuda
