// SPDX-License-Identifier: Apache-2.0
// Owns cuDNN's handle on the device of a runtime. The handle uses the runtime's stream.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <memory>

namespace bench::ops::cuda {

class CudnnSession {
 public:
  // Creates the handle and records the duration as the runtime's setup "library". BackendError
  // (failed): cuDNN cannot create the handle, with cuDNN's reason.
  static Result<std::shared_ptr<CudnnSession>, BackendError> create(
      std::shared_ptr<const CudnnApi> api, std::shared_ptr<Runtime> runtime);
  ~CudnnSession();
  CudnnSession(const CudnnSession&) = delete;
  CudnnSession& operator=(const CudnnSession&) = delete;

  CudnnTarget target() const { return {api_, handle_}; }
  const CudnnApi& api() const { return *api_; }
  Runtime& runtime() const { return *runtime_; }
  // Enqueues one execution on the stream. `variant_pack` contains the tensors' addresses.
  Status execute(const Descriptor& plan, const Descriptor& variant_pack);

 private:
  CudnnSession(std::shared_ptr<const CudnnApi> api, std::shared_ptr<Runtime> runtime,
               cudnnHandle_t handle)
      : api_(std::move(api)), runtime_(std::move(runtime)), handle_(handle) {}
  std::shared_ptr<const CudnnApi> api_;
  std::shared_ptr<Runtime> runtime_;
  cudnnHandle_t handle_;
};

}  // namespace bench::ops::cuda
