// SPDX-License-Identifier: Apache-2.0
// The backends `cublaslt` and `cublas` on device `cuda`: gemm and nothing else. What a process
// shares - memory, tracer, the library's version - is told by who wraps them (lazy_backend.hpp).
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

// Variables of the environment that change what NVIDIA's libraries compute with, as one detail:
// {"environment": "CUBLAS_WORKSPACE_CONFIG=:16:8, NVIDIA_TF32_OVERRIDE=0"}; none set: none.
std::map<std::string, std::string> library_variables(const Variables& variables);

// Both make the library's handle. Refusal (failed): the library makes none; its word.
Result<std::unique_ptr<Backend>, Refusal> make_cublaslt_backend(
    const DeviceParts& device, const std::shared_ptr<const CublasLtApi>& api,
    const Variables& variables);
Result<std::unique_ptr<Backend>, Refusal> make_cublas_backend(
    const DeviceParts& device, const std::shared_ptr<const CublasApi>& api,
    const Variables& variables);

}  // namespace bench::ops::cuda
