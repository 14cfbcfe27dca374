// SPDX-License-Identifier: Apache-2.0
// The backends `cublaslt` and `cublas` on device `cuda`, which support only gemm. Their wrapper
// (lazy_backend.hpp) provides what a process shares: memory, tracer, library version.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// Returns, as one detail, the set environment variables that change how NVIDIA's libraries compute:
// {"environment": "CUBLAS_WORKSPACE_CONFIG=:16:8, NVIDIA_TF32_OVERRIDE=0"}. Returns an empty
// map if none is set.
std::map<std::string, std::string> library_variables(const Variables& variables);

// Create the backend and the library's handle. BackendError (failed): the library cannot create the
// handle, with the library's status.
Result<std::unique_ptr<Backend>, BackendError> make_cublaslt_backend(
    const DeviceParts& device, const std::shared_ptr<const CublasLtApi>& api,
    const Variables& variables);
Result<std::unique_ptr<Backend>, BackendError> make_cublas_backend(
    const DeviceParts& device, const std::shared_ptr<const CublasApi>& api,
    const Variables& variables);

}  // namespace bench::ops::cuda
