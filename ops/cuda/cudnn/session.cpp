// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/session.hpp"

#include <utility>

namespace bench::ops::cuda {

Result<std::shared_ptr<CudnnSession>, BackendError> CudnnSession::create(
    std::shared_ptr<const CudnnApi> api, std::shared_ptr<Runtime> runtime) {
  const Nanoseconds start = runtime->now();
  cudnnHandle_t handle = nullptr;
  if (const cudnnStatus_t status = api->create(&handle); status != CUDNN_STATUS_SUCCESS) {
    return BackendError{BackendError::Kind::failed,
                        "cuDNN cannot create a handle on the device: " + api->text(status)};
  }
  std::shared_ptr<CudnnSession> session(new CudnnSession(api, runtime, handle));
  if (const auto status = api->set_stream(handle, runtime->stream());
      status != CUDNN_STATUS_SUCCESS) {
    return BackendError{BackendError::Kind::failed,
                        "cuDNN rejects the stream: " + api->text(status)};
  }
  runtime->note_setup("library", runtime->now() - start);
  return session;
}

CudnnSession::~CudnnSession() { api_->destroy(handle_); }

Status CudnnSession::execute(const Descriptor& plan, const Descriptor& variant_pack) {
  const cudnnStatus_t status = api_->execute(handle_, plan.get(), variant_pack.get());
  if (status == CUDNN_STATUS_SUCCESS) return Done{};
  return Error{"cuDNN's execution failed: " + api_->text(status), "", ""};
}

}  // namespace bench::ops::cuda
