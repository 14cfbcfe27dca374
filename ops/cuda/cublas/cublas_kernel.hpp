// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLAS: cublasGemmEx and its strided batched form.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/problem.hpp"

#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// The state that all cuBLAS kernels on a device share. The handle uses `workspace`, so cuBLAS
// allocates nothing while products run or are recorded.
struct CublasSession {
  DeviceParts device;
  std::shared_ptr<const CublasApi> api;
  std::shared_ptr<cublasContext> handle;
  std::shared_ptr<DeviceBuffer> workspace;
  std::map<std::string, std::string> details;  // as in CublasLtSession
};

// BackendError: failed if cuBLAS cannot create the handle or rejects the stream; skipped if there
// is not enough memory for the workspace.
Result<CublasSession, BackendError> make_cublas_session(const DeviceParts& device,
                                                        const std::shared_ptr<const CublasApi>& api,
                                                        std::map<std::string, std::string> details);

// Creates the kernel of a product. cuBLAS chooses its algorithm itself when it runs. A residual is
// copied into the destination first; the copy is part of the execution. BackendError: as in
// create_cublaslt_kernel().
Result<std::unique_ptr<Kernel>, BackendError> create_cublas_kernel(
    const std::shared_ptr<const CublasSession>& session, const Problem& problem);

}  // namespace bench::ops::cuda
