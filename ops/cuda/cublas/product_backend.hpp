// SPDX-License-Identifier: Apache-2.0
// The backends `cublaslt` and `cublas` on device `cuda`, which support only gemm. Their wrapper
// (lazy_backend.hpp) provides what a process shares: memory, tracer, library version.
#pragma once

#include "base/result.hpp"
#include "ops/backend/grouped_parts.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// Returns, as one detail, the set environment variables that change how NVIDIA's libraries compute:
// {"environment": "CUBLAS_WORKSPACE_CONFIG=:16:8, NVIDIA_TF32_OVERRIDE=0"}. Returns an empty
// map if none is set.
std::map<std::string, std::string> library_variables(const Variables& variables);

// What a backend of products needs besides its library.
struct ProductSetting {
  DeviceParts device;
  Variables variables;
  std::shared_ptr<Launcher> launcher;  // native kernels of post-ops that the library does not fuse
};

// Creates a product whose library makes kernels by `make`. A native kernel computes post-ops that
// the library does not fuse.
Result<std::unique_ptr<Kernel>, BackendError> make_product(
    const ProductSetting& setting, const Problem& problem,
    const std::function<Result<std::unique_ptr<Kernel>, BackendError>(const Problem&)>& make);

// Create the backend and the library's handle. BackendError (failed): the library cannot create the
// handle, with the library's status.
Result<std::unique_ptr<Backend>, BackendError> make_cublaslt_backend(
    const ProductSetting& setting, const std::shared_ptr<const CublasLtApi>& api);
Result<std::unique_ptr<Backend>, BackendError> make_cublas_backend(
    const ProductSetting& setting, const std::shared_ptr<const CublasApi>& api);

// A grouped product on a device: one call of the library per group, all on the device's stream.

// The kernels of the parts must be CudaKernels of the same device.
std::unique_ptr<Kernel> make_grouped_kernel(const DeviceParts& device, GroupedParts parts);

}  // namespace bench::ops::cuda
