// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/cublaslt_kernel.hpp"

#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/cublas/matmul_algorithm.hpp"
#include "ops/cuda/cublas/matmul_descriptors.hpp"
#include "ops/cuda/cublas/product_kernel.hpp"
#include "ops/cuda/cublas/product_tensors.hpp"
#include "ops/cuda/runtime/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

BackendError failed(const Error& error) { return {BackendError::Kind::failed, error.message()}; }

// A product that is ready except for its algorithm and its addresses.
struct Product {
  std::shared_ptr<const CublasLtApi> api;
  std::shared_ptr<cublasLtContext> handle;
  GemmForm form;
  MatmulDescriptors descriptors;
  DeviceBuffer scale;  // for fp8
  ProductScalar alpha, beta;
};

class CublasLtInvocation final : public SingleStepInvocation {
 public:
  // `workspace` must be at least as large as the algorithm requires.
  CublasLtInvocation(Runtime& runtime, Product& product, const MatmulAlgorithm& algorithm,
                     void* workspace, std::vector<void*> addresses)
      : SingleStepInvocation(runtime),
        product_(product),
        algorithm_(algorithm),
        workspace_(workspace),
        addresses_(std::move(addresses)) {}

 private:
  Status launch() override {
    const GemmForm& form = product_.form;
    MatmulDescriptors& descriptors = product_.descriptors;
    // All invocations share the descriptors. cuBLASLt reads them only during the call.
    if (has_bias_address(form)) {
      BENCH_RETURN_IF_ERROR(descriptors.set_bias(addresses_[form.bias_tensor]));
    }
    void* const result = addresses_[form.d.tensor];
    // If nothing is added, cuBLASLt does not read c. The result's address replaces c,
    // except for fp8, where the result has another type than c.
    const void* unused_addend = is_fp8(form.d.dtype) ? nullptr : result;
    const void* const addend = form.c ? addresses_[form.c->tensor] : unused_addend;
    const cublasStatus_t status = product_.api->matmul(
        product_.handle.get(), descriptors.product(), &product_.alpha, addresses_[form.a.tensor],
        descriptors.a(), addresses_[form.b.tensor], descriptors.b(), &product_.beta, addend,
        descriptors.c(), result, descriptors.d(), &algorithm_.code, workspace_,
        static_cast<std::size_t>(algorithm_.workspace.count), runtime().stream());
    if (status == CUBLAS_STATUS_SUCCESS) return Done{};
    return Error{"cublasLtMatmul: " + product_.api->text(status), "", ""};
  }

  Product& product_;
  MatmulAlgorithm algorithm_;
  void* workspace_;
  std::vector<void*> addresses_;
};

class CublasLtKernel final : public ProductKernel {
 public:
  CublasLtKernel(const CublasLtSession& session, std::unique_ptr<Product> product,
                 ProductTensors tensors, const MatmulAlgorithm& algorithm, DeviceBuffer workspace,
                 std::map<std::string, std::string> details)
      : ProductKernel(session.device, std::move(tensors), algorithm_name(details)),
        product_(std::move(product)),
        algorithm_(algorithm),
        workspace_(std::move(workspace)),
        details_(std::move(details)) {}

  Bytes workspace() const override { return workspace_.size(); }
  std::map<std::string, std::string> details() const override {
    auto all = CudaKernel::details();
    all.insert(details_.begin(), details_.end());
    return all;
  }

 private:
  std::unique_ptr<Invocation> bind_checked(std::vector<void*> addresses) override {
    return std::make_unique<CublasLtInvocation>(runtime(), *product_, algorithm_, workspace_.data(),
                                                std::move(addresses));
  }

  std::unique_ptr<Product> product_;
  MatmulAlgorithm algorithm_;
  DeviceBuffer workspace_;
  std::map<std::string, std::string> details_;
};

// Scales fp8 by 1. This is cuBLASLt's default, but it is set explicitly, as frameworks do.
Result<DeviceBuffer, BackendError> make_scale(Runtime& runtime, const GemmForm& form,
                                              MatmulDescriptors& descriptors) {
  if (!is_fp8(form.a.dtype)) return DeviceBuffer::create(runtime, {0});
  constexpr float kOne = 1;
  BENCH_ASSIGN_OR_RETURN(DeviceBuffer scale, DeviceBuffer::create(runtime, {sizeof(kOne)}));
  if (const Status copied = runtime.copy_in(scale.data(), &kOne, {sizeof(kOne)}); !copied) {
    return failed(copied.error());
  }
  if (const Status set = descriptors.set_scale(scale.data()); !set) return failed(set.error());
  return scale;
}

Result<std::unique_ptr<Product>, BackendError> make_product(const CublasLtSession& session,
                                                            const Problem& problem) {
  Runtime& runtime = *session.device.runtime;
  BENCH_ASSIGN_OR_RETURN(const GemmForm form, gemm_form(problem, ProductLibrary::cublaslt));
  const DeviceTraits& traits = runtime.traits();
  if (auto error = refused_by_device(form, {traits.major, traits.minor})) {
    return *std::move(error);
  }
  BENCH_ASSIGN_OR_RETURN(MatmulDescriptors descriptors,
                         MatmulDescriptors::create(session.api, form));
  BENCH_ASSIGN_OR_RETURN(DeviceBuffer scale, make_scale(runtime, form, descriptors));
  if (has_bias_address(form)) {
    // The heuristics use only the alignment of this address.
    const auto aligned = reinterpret_cast<const void*>(kProductAlignment);
    if (const Status set = descriptors.set_bias(aligned); !set) return failed(set.error());
  }
  return std::make_unique<Product>(Product{
      session.api, session.handle, form, std::move(descriptors), std::move(scale),
      product_scalar(form.compute, form.alpha), product_scalar(form.compute, form.c ? 1 : 0)});
}

// Names an algorithm by everything that distinguishes it from the others of a list:
// "cublaslt:66:tile20:stages36 swizzle=1".
std::string candidate_name(const CublasLtApi& api, const MatmulAlgorithm& algorithm) {
  const auto details = algorithm_details(api, algorithm);
  std::string name = algorithm_name(details);
  for (const std::string key : {"reduction", "swizzle", "custom", "inner_shape", "cluster"}) {
    const auto value = details.find(key);
    if (value != details.end() && value->second != "0")
      name += fmt::format(" {}={}", key, value->second);
  }
  return name;
}

// Products with equal keys have the same candidates.
std::string tuning_key(const Problem& problem, std::int64_t tuning, const TunedCaches& caches) {
  std::string key = fmt::format("cublaslt {} {} {} {}", info(problem.dtype).name,
                                to_string(problem.math), problem_tokens(problem), tuning);
  for (const Tensor& tensor : problem.tensors) key += fmt::format(" {}", info(tensor.dtype).name);
  return key + tuned_caches_key(caches);
}

// Measures the algorithms and chooses one. If there is not enough memory for measuring, chooses the
// first algorithm and records the reason.
Result<TunedChoice, BackendError> choose_algorithm(const CublasLtSession& session,
                                                   const std::string& key, Product& product,
                                                   const ProductTensors& tensors,
                                                   const std::vector<MatmulAlgorithm>& algorithms) {
  std::vector<std::string> names;
  for (const MatmulAlgorithm& algorithm : algorithms)
    names.push_back(candidate_name(*session.api, algorithm));
  if (auto known = session.tuner->find(key, names)) return *std::move(known);
  Runtime& runtime = *session.device.runtime;
  Bytes max_workspace;
  for (const MatmulAlgorithm& algorithm : algorithms)
    max_workspace = std::max(max_workspace, algorithm.workspace);
  auto trial = TrialBuffers::create(runtime, tensors.buffers());
  auto workspace = DeviceBuffer::create(runtime, max_workspace, "tuning");
  if (!trial || !workspace) {
    const BackendError& error = !trial ? trial.error() : workspace.error();
    if (error.kind != BackendError::Kind::skipped) return error;
    TunedChoice first;
    first.reason = error.reason;
    return first;
  }
  std::vector<std::unique_ptr<CublasLtInvocation>> invocations;
  std::vector<TuningCandidate> candidates;
  for (const MatmulAlgorithm& algorithm : algorithms) {
    std::vector<Invocation*> rotation;
    for (std::size_t set = 0; set < trial->sets(); ++set) {
      invocations.push_back(std::make_unique<CublasLtInvocation>(
          runtime, product, algorithm, workspace->data(), trial->addresses(set)));
      rotation.push_back(invocations.back().get());
    }
    candidates.push_back(
        make_candidate(session.device, names[candidates.size()], std::move(rotation)));
  }
  return session.tuner->choose(key, candidates);
}

std::string format_nanoseconds(Nanoseconds time) { return fmt::to_string(time.count()); }

}  // namespace

Result<std::shared_ptr<cublasLtContext>, BackendError> make_cublaslt_handle(
    const std::shared_ptr<const CublasLtApi>& api) {
  cublasLtHandle_t raw = nullptr;
  const cublasStatus_t status = api->create(&raw);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return BackendError{BackendError::Kind::failed, "cublasLtCreate: " + api->text(status)};
  }
  return std::shared_ptr<cublasLtContext>(raw,
                                          [api](cublasLtHandle_t owned) { api->destroy(owned); });
}

Result<std::unique_ptr<Kernel>, BackendError> create_cublaslt_kernel(const CublasLtSession& session,
                                                                     const Problem& problem,
                                                                     std::int64_t tuning) {
  constexpr std::int64_t kMaxCandidates = 1024;
  Runtime& runtime = *session.device.runtime;
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Product> product, make_product(session, problem));
  ProductTensors tensors(problem, product->form);
  const auto state = runtime.memory();
  if (!state) return failed(state.error());
  if (auto error = refuse_if_out_of_memory(*state, tensors.total())) return *std::move(error);
  const auto max_algorithms = static_cast<int>(std::clamp<std::int64_t>(tuning, 1, kMaxCandidates));
  const Nanoseconds begin = runtime.now();
  BENCH_ASSIGN_OR_RETURN(
      const std::vector<MatmulAlgorithm> algorithms,
      find_matmul_algorithms(*session.api, session.handle.get(), product->descriptors,
                             product_workspace_limit(runtime.traits().major), max_algorithms));
  const Nanoseconds planned = runtime.now();
  TunedChoice choice;
  if (tuning > 0) {
    BENCH_ASSIGN_OR_RETURN(
        choice, choose_algorithm(session, tuning_key(problem, tuning, runtime.tuned_caches()),
                                 *product, tensors, algorithms));
  }
  const MatmulAlgorithm& chosen = algorithms[choice.best];
  auto details = algorithm_details(*session.api, chosen);
  details.insert(session.details.begin(), session.details.end());
  details["compute_type"] = to_string(product->form.compute);
  if (is_fp8(product->form.a.dtype)) {
    details["accumulation"] =
        product->form.accumulation == Accumulation::fast ? "fast" : "f32, not fast";
  }
  details["setup.plan_ns"] = format_nanoseconds(planned - begin);
  if (tuning > 0) {
    choice.add_to(details);
    details["setup.tuning_ns"] = format_nanoseconds(runtime.now() - planned);
  }
  BENCH_ASSIGN_OR_RETURN(DeviceBuffer workspace, DeviceBuffer::create(runtime, chosen.workspace));
  return std::unique_ptr<Kernel>(
      std::make_unique<CublasLtKernel>(session, std::move(product), std::move(tensors), chosen,
                                       std::move(workspace), std::move(details)));
}

}  // namespace bench::ops::cuda
