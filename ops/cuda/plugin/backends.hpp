// SPDX-License-Identifier: Apache-2.0
// The plugin's backends: cudnn, cublaslt and cublas on one device.
#pragma once

#include "ops/cuda/library_search.hpp"
#include "ops/plugin/exported_backend.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Why nothing can run on a device here, in the words of `bench doctor`; absent: it can. Makes no
// context.
std::optional<std::string> why_no_device(const Variables& variables);

// In order of preference. They share one device, its memory, tracer and counters; opening one loads
// its library and touches the device no further. Refusal: skipped without a device, unsupported
// without the library, but for cudnn, which then has the plugin's own kernels.
std::vector<BackendExport> cuda_backends(const std::vector<SearchStep>& search,
                                         const Variables& variables);

// What the backends serve, each once: "conv", ..., "network".
std::vector<std::string> served_operators(const std::vector<BackendExport>& backends);

}  // namespace bench::ops::cuda
