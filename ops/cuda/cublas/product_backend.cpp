// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/product_backend.hpp"

#include "ops/cuda/cublas/cublas_kernel.hpp"
#include "ops/cuda/cublas/cublaslt_kernel.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/library_report.hpp"
#include "ops/cuda/network/kernels.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/grouped_gemm/grouped_gemm.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <functional>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;

constexpr std::array<const char*, 8> kVariables = {"CUBLASLT_WORKSPACE_SIZE",
                                                   "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                                   "CUBLAS_EMULATE_SINGLE_PRECISION",
                                                   "CUBLAS_EMULATION_STRATEGY",
                                                   "CUBLAS_FIXEDPOINT_EMULATION_MANTISSA_BIT_COUNT",
                                                   "CUBLAS_WORKSPACE_CONFIG",
                                                   "CUDA_LAUNCH_BLOCKING",
                                                   "NVIDIA_TF32_OVERRIDE"};

class ProductBackend final : public Backend {
 public:
  using KernelFactory = std::function<KernelResult(const Problem& problem, std::int64_t tuning)>;
  ProductBackend(ProductSetting setting, PartWorkspace workspace, std::string name,
                 std::string path, KernelFactory make_kernel)
      : setting_(std::move(setting)),
        workspace_(workspace),
        name_(std::move(name)),
        path_(std::move(path)),
        make_kernel_(std::move(make_kernel)) {}

  std::string_view name() const override { return name_; }
  std::string_view device() const override { return "cuda"; }
  LibraryInfo library() const override { return {name_, "", path_, ""}; }
  KernelResult create(const Problem& problem) override {
    if (problem.op == &grouped_gemm_operator) return create_grouped(problem);
    if (problem.op != &gemm_operator) {
      return BackendError{BackendError::Kind::unsupported,
                          fmt::format("{} supports only matrix products; use backend cudnn for {}",
                                      name_, problem.op->name)};
    }
    return make_product(setting_, problem,
                        [this](const Problem& product) { return make_kernel_(product, tuning_); });
  }
  KernelResult create(const Network&) override {
    return BackendError{
        BackendError::Kind::unsupported,
        fmt::format("{} supports only matrix products; use backend cudnn for networks", name_)};
  }
  void set_tuning(std::int64_t candidates) override { tuning_ = candidates; }

 private:
  KernelResult create_grouped(const Problem& problem) {
    BENCH_ASSIGN_OR_RETURN(
        GroupedParts parts,
        GroupedParts::create(
            group_products(problem),
            [&](const Problem& part) { return make_kernel_(part, tuning_); }, workspace_));
    return make_grouped_kernel(setting_.device, std::move(parts));
  }

  ProductSetting setting_;
  PartWorkspace workspace_;
  std::string name_, path_;
  KernelFactory make_kernel_;
  std::int64_t tuning_ = 0;
};

}  // namespace

KernelResult make_product(const ProductSetting& setting, const Problem& problem,
                          const std::function<KernelResult(const Problem&)>& make) {
  const auto is_unsupported = [](const KernelResult& kernel) {
    return !kernel && kernel.error().kind == BackendError::Kind::unsupported;
  };
  auto fused = make(problem);
  const auto product = product_part(problem);
  if (!is_unsupported(fused) || !product) return fused;
  auto first = make(*product);
  if (!first) return is_unsupported(first) ? std::move(fused) : std::move(first);
  return append_epilogue(setting.device, setting.launcher, *first, problem,
                         product->tensors.back().dtype);
}

std::map<std::string, std::string> library_variables(const Variables& variables) {
  std::string text;
  for (const char* name : kVariables) {
    if (const auto value = variables(name)) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, *value);
    }
  }
  if (text.empty()) return {};
  return {{"environment", text}};
}

Result<std::unique_ptr<Backend>, BackendError> make_cublaslt_backend(
    const ProductSetting& setting, const std::shared_ptr<const CublasLtApi>& api) {
  const DeviceParts& device = setting.device;
  const Nanoseconds begin = device.runtime->now();
  BENCH_ASSIGN_OR_RETURN(auto handle, make_cublaslt_handle(api));
  device.runtime->note_setup("library", device.runtime->now() - begin);
  std::map<std::string, std::string> details = library_variables(setting.variables);
  // A network's library is cuDNN, so its products report cuBLASLt in their details.
  details["library.cublaslt"] = format_packed_version(api->version());
  details["library.cublaslt.path"] = api->path;
  const CublasLtSession session{device, api, std::move(handle), std::move(details),
                                std::make_shared<Tuner>(device.runtime)};
  return std::unique_ptr<Backend>(
      std::make_unique<ProductBackend>(setting, PartWorkspace::own, "cublaslt", api->path,
                                       [session](const Problem& problem, std::int64_t tuning) {
                                         return create_cublaslt_kernel(session, problem, tuning);
                                       }));
}

Result<std::unique_ptr<Backend>, BackendError> make_cublas_backend(
    const ProductSetting& setting, const std::shared_ptr<const CublasApi>& api) {
  const DeviceParts& device = setting.device;
  const Nanoseconds begin = device.runtime->now();
  BENCH_ASSIGN_OR_RETURN(CublasSession new_session,
                         make_cublas_session(device, api, library_variables(setting.variables)));
  device.runtime->note_setup("library", device.runtime->now() - begin);
  const auto session = std::make_shared<const CublasSession>(std::move(new_session));
  return std::unique_ptr<Backend>(
      std::make_unique<ProductBackend>(setting, PartWorkspace::shared, "cublas", api->path,
                                       [session](const Problem& problem, std::int64_t) {
                                         return create_cublas_kernel(session, problem);
                                       }));
}

namespace {

class GroupedInvocation final : public CudaInvocation {
 public:
  GroupedInvocation(Runtime& runtime, std::vector<std::unique_ptr<Invocation>> parts)
      : CudaInvocation(runtime), owned_(std::move(parts)) {
    for (const auto& owned : owned_) {
      auto* part = dynamic_cast<CudaInvocation*>(owned.get());
      assert(part != nullptr && "a part that does not run on this device");
      parts_.push_back(part);
      launches_ += part->launches();
    }
  }

  Status enqueue(StepObserver* observer) override {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (observer != nullptr) observer->begins(part);
      BENCH_RETURN_IF_ERROR(parts_[part]->enqueue(nullptr));
      if (observer != nullptr) observer->enqueued(part);
    }
    return Done{};
  }
  std::int64_t launches() const override { return launches_; }

 private:
  std::vector<std::unique_ptr<Invocation>> owned_;
  std::vector<CudaInvocation*> parts_;
  std::int64_t launches_ = 0;
};

class GroupedKernel final : public CudaKernel {
 public:
  GroupedKernel(const DeviceParts& device, GroupedParts parts)
      : CudaKernel(device.runtime, device.sampler), parts_(std::move(parts)) {}

  std::string implementation() const override { return parts_.implementation(); }
  std::vector<KernelStep> steps() const override { return parts_.steps(); }
  std::span<const KernelBuffer> buffers() const override { return parts_.buffers(); }
  Bytes workspace() const override { return parts_.workspace(); }
  Summation summation() const override { return parts_.summation(); }
  std::map<std::string, std::string> details() const override {
    auto all = parts_.details();
    all.merge(CudaKernel::details());
    return all;
  }
  bool converts_layout(std::size_t index) const override { return parts_.converts_layout(index); }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    return parts_.pack(index, plain, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    return parts_.unpack(index, packed, plain);
  }
  Status prepare(std::span<void* const> buffers) override { return parts_.prepare(buffers); }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    BENCH_ASSIGN_OR_RETURN(auto invocations, parts_.bind(buffers));
    return std::unique_ptr<Invocation>(
        std::make_unique<GroupedInvocation>(runtime(), std::move(invocations)));
  }

 private:
  GroupedParts parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_grouped_kernel(const DeviceParts& device, GroupedParts parts) {
  return std::make_unique<GroupedKernel>(device, std::move(parts));
}

}  // namespace bench::ops::cuda
