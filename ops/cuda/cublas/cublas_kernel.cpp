// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/cublas_kernel.hpp"

#include "base/text.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/cublas/matmul_algorithm.hpp"
#include "ops/cuda/cublas/matmul_descriptors.hpp"
#include "ops/cuda/cublas/product_kernel.hpp"
#include "ops/cuda/cublas/product_tensors.hpp"
#include "ops/cuda/runtime/tuner.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

class CublasInvocation final : public SingleStepInvocation {
 public:
  CublasInvocation(std::shared_ptr<const CublasSession> session, const GemmForm& form, Bytes result,
                   std::vector<void*> addresses)
      : SingleStepInvocation(*session->device.runtime),
        session_(std::move(session)),
        form_(form),
        result_bytes_(result),
        alpha_(product_scalar(form.compute, form.alpha)),
        beta_(product_scalar(form.compute, form.c ? 1 : 0)),
        addresses_(std::move(addresses)) {}

  // Status of the last call that failed.
  cublasStatus_t failure() const { return failure_; }

 private:
  Status launch() override {
    if (form_.c) {
      BENCH_RETURN_IF_ERROR(runtime().copy_within(addresses_[form_.d.tensor],
                                                  addresses_[form_.c->tensor], result_bytes_));
    }
    // The handle and its mode are shared, so each launch sets the mode.
    const cublasMath_t mode = choose_math_mode(form_);
    const CublasApi& api = *session_->api;
    BENCH_RETURN_IF_ERROR(
        check_call("cublasSetMathMode", api.set_math_mode(session_->handle.get(), mode)));
    return form_.batch == 1 ? multiply() : multiply_batch();
  }

  // Keeps partial sums in the compute type, also if cuBLAS splits K.
  static cublasMath_t choose_math_mode(const GemmForm& form) {
    if (form.compute == ProductCompute::f32_as_tf32) return CUBLAS_TF32_TENSOR_OP_MATH;
    return info(form.d.dtype).bytes < 4 ? CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION
                                        : CUBLAS_DEFAULT_MATH;
  }
  Status check_call(std::string_view call, cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return Done{};
    failure_ = status;
    return Error{fmt::format("{}: {}", call, session_->api->text(status)), "", ""};
  }
  static int to_int(std::int64_t count) { return static_cast<int>(count); }

  Status multiply() {
    const MatrixForm &a = form_.a, &b = form_.b, &d = form_.d;
    return check_call(
        "cublasGemmEx",
        session_->api->gemm(
            session_->handle.get(), cublas_operation(a.operation), cublas_operation(b.operation),
            to_int(form_.m), to_int(form_.n), to_int(form_.k), &alpha_, addresses_[a.tensor],
            cuda_type(a.dtype), to_int(a.leading), addresses_[b.tensor], cuda_type(b.dtype),
            to_int(b.leading), &beta_, addresses_[d.tensor], cuda_type(d.dtype), to_int(d.leading),
            cublas_compute_type(form_.compute), CUBLAS_GEMM_DEFAULT));
  }

  Status multiply_batch() {
    const MatrixForm &a = form_.a, &b = form_.b, &d = form_.d;
    return check_call(
        "cublasGemmStridedBatchedEx",
        session_->api->gemm_strided_batched(
            session_->handle.get(), cublas_operation(a.operation), cublas_operation(b.operation),
            to_int(form_.m), to_int(form_.n), to_int(form_.k), &alpha_, addresses_[a.tensor],
            cuda_type(a.dtype), to_int(a.leading), a.batch_stride, addresses_[b.tensor],
            cuda_type(b.dtype), to_int(b.leading), b.batch_stride, &beta_, addresses_[d.tensor],
            cuda_type(d.dtype), to_int(d.leading), d.batch_stride, to_int(form_.batch),
            cublas_compute_type(form_.compute), CUBLAS_GEMM_DEFAULT));
  }

  std::shared_ptr<const CublasSession> session_;
  const GemmForm form_;
  const Bytes result_bytes_;
  const ProductScalar alpha_, beta_;
  std::vector<void*> addresses_;
  cublasStatus_t failure_ = CUBLAS_STATUS_SUCCESS;
};

class CublasKernel final : public ProductKernel {
 public:
  CublasKernel(std::shared_ptr<const CublasSession> session, const GemmForm& form,
               ProductTensors tensors)
      : ProductKernel(session->device, std::move(tensors),
                      form.batch == 1 ? "cublas:gemm_ex" : "cublas:gemm_strided_batched_ex"),
        session_(std::move(session)),
        form_(form) {}

  Bytes workspace() const override { return session_->workspace->size(); }
  std::map<std::string, std::string> details() const override {
    auto all = CudaKernel::details();
    all.insert(session_->details.begin(), session_->details.end());
    all["algorithm"] = "chosen by cuBLAS when it runs";
    all["compute_type"] = to_string(form_.compute);
    all["workspace_bytes"] = fmt::to_string(session_->workspace->size().count);
    if (form_.c) all["residual"] = "copied into the destination first, in the measured time";
    return all;
  }

 private:
  std::unique_ptr<Invocation> bind_checked(std::vector<void*> addresses) override {
    return std::make_unique<CublasInvocation>(session_, form_, buffers()[form_.d.tensor].size,
                                              std::move(addresses));
  }

  std::shared_ptr<const CublasSession> session_;
  GemmForm form_;
};

// Returns an error if cuBLAS rejects the product. cuBLAS has no heuristics to query, and only a
// call shows which layouts of 8-bit integers it supports. This therefore calls cuBLAS once. Returns
// nullopt if the call succeeds, or if there is not enough memory for it.
std::optional<BackendError> check_by_calling(const std::shared_ptr<const CublasSession>& session,
                                             const GemmForm& form, const ProductTensors& tensors) {
  if (form.compute != ProductCompute::s32) return std::nullopt;
  auto trial = allocate_trial_buffers(*session->device.runtime, tensors.buffers());
  if (!trial) {
    if (trial.error().kind == BackendError::Kind::skipped) return std::nullopt;
    return std::move(trial).error();
  }
  CublasInvocation invocation(session, form, tensors.buffers()[form.d.tensor].size,
                              buffer_addresses(*trial));
  if (invocation.run()) return std::nullopt;
  const auto kind = is_unsupported_status(invocation.failure()) ? BackendError::Kind::unsupported
                                                                : BackendError::Kind::failed;
  return BackendError{kind, "cuBLAS: " + invocation.error()};
}

}  // namespace

Result<CublasSession, BackendError> make_cublas_session(
    const DeviceParts& device, const std::shared_ptr<const CublasApi>& api,
    std::map<std::string, std::string> details) {
  const auto call_error = [&](std::string_view call, cublasStatus_t status) {
    return BackendError{BackendError::Kind::failed, fmt::format("{}: {}", call, api->text(status))};
  };
  cublasHandle_t raw = nullptr;
  cublasStatus_t status = api->create(&raw);
  if (status != CUBLAS_STATUS_SUCCESS) return call_error("cublasCreate", status);
  CublasSession session{device, api, {}, {}, std::move(details)};
  session.handle = {raw, [api](cublasHandle_t owned) { api->destroy(owned); }};
  status = api->set_stream(raw, device.runtime->stream());
  if (status != CUBLAS_STATUS_SUCCESS) return call_error("cublasSetStream", status);
  BENCH_ASSIGN_OR_RETURN(
      DeviceBuffer workspace,
      DeviceBuffer::create(*device.runtime,
                           product_workspace_limit(device.runtime->traits().major)));
  // Setting the stream resets the workspace, so the workspace is set afterwards.
  status =
      api->set_workspace(raw, workspace.data(), static_cast<std::size_t>(workspace.size().count));
  if (status != CUBLAS_STATUS_SUCCESS) return call_error("cublasSetWorkspace", status);
  session.workspace = std::make_shared<DeviceBuffer>(std::move(workspace));
  return session;
}

Result<std::unique_ptr<Kernel>, BackendError> create_cublas_kernel(
    const std::shared_ptr<const CublasSession>& session, const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(const GemmForm form, gemm_form(problem, ProductLibrary::cublas));
  ProductTensors tensors(problem, form);
  const auto state = session->device.runtime->memory();
  if (!state) return BackendError{BackendError::Kind::failed, state.error().message()};
  if (auto error = refuse_if_out_of_memory(*state, tensors.total())) return *std::move(error);
  if (auto error = check_by_calling(session, form, tensors)) return *std::move(error);
  return std::unique_ptr<Kernel>(std::make_unique<CublasKernel>(session, form, std::move(tensors)));
}

}  // namespace bench::ops::cuda
