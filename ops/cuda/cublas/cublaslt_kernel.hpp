// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/tuner.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// The state that all cuBLASLt kernels on a device share. The library needs one handle per process.
struct CublasLtSession {
  DeviceParts device;
  std::shared_ptr<const CublasLtApi> api;
  std::shared_ptr<cublasLtContext> handle;
  // Environment variables, reported in every kernel's details: {"environment":
  // "NVIDIA_TF32_OVERRIDE=0"}.
  std::map<std::string, std::string> details;
  std::shared_ptr<Tuner> tuner;  // remembers choices for further creations
};

// BackendError (failed): cuBLASLt cannot create the handle, with cuBLASLt's status.
Result<std::shared_ptr<cublasLtContext>, BackendError> make_cublaslt_handle(
    const std::shared_ptr<const CublasLtApi>& api);

// Creates the kernel of a product. Measures `tuning` algorithms and takes the fastest; if `tuning`
// is 0, takes cuBLASLt's first choice. BackendError: unsupported if cuBLASLt or the device does not
// support the product; skipped if the device does not have enough memory.
Result<std::unique_ptr<Kernel>, BackendError> create_cublaslt_kernel(const CublasLtSession& session,
                                                                     const Problem& problem,
                                                                     std::int64_t tuning);

}  // namespace bench::ops::cuda
