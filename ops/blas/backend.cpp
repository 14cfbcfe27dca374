// SPDX-License-Identifier: Apache-2.0
#include "ops/blas/backend.hpp"

#include "ops/backend/plain_kernel.hpp"
#include "ops/blas/loaded_blas.hpp"
#include "ops/blas/product.hpp"
#include "ops/blas/thread_pinning.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace bench::ops {
namespace {

// Whether one call of the library computes the whole batch.
enum class BatchCalls { loop, strided };

int cblas_transpose(Storage storage) {
  return storage == Storage::plain ? kCblasNoTranspose : kCblasTranspose;
}

template <class Real>
class CblasInvocation final : public Invocation {
 public:
  CblasInvocation(const CblasFunctions<Real>& functions, const BlasProduct& product,
                  BatchCalls calls, BlasThreads threads, std::span<void* const> buffers)
      : functions_(functions),
        product_(product),
        calls_(calls),
        a_(static_cast<const Real*>(buffers[product.a.tensor])),
        b_(static_cast<const Real*>(buffers[product.b.tensor])),
        c_(static_cast<Real*>(buffers[product.c.tensor])) {
    if (threads == BlasThreads::per_call) all_places_.emplace();
  }

  bool run() noexcept override {
    if (calls_ == BatchCalls::strided) {
      multiply_strided();
    } else {
      for (std::int64_t i = 0; i < product_.batch; ++i) multiply(i);
    }
    return true;
  }
  std::string error() const override { return {}; }

 private:
  void multiply(std::int64_t index) noexcept {
    const BlasMatrix &a = product_.a, &b = product_.b, &c = product_.c;
    functions_.gemm(kCblasRowMajor, cblas_transpose(a.storage), cblas_transpose(b.storage),
                    product_.m, product_.n, product_.k, static_cast<Real>(product_.alpha),
                    a_ + product_.offset(a, index), a.leading, b_ + product_.offset(b, index),
                    b.leading, static_cast<Real>(product_.beta(index)),
                    c_ + product_.offset(c, index), c.leading);
  }
  void multiply_strided() noexcept {
    const auto stride = [](const BlasMatrix& matrix) { return static_cast<int>(matrix.elements); };
    const BlasMatrix &a = product_.a, &b = product_.b, &c = product_.c;
    functions_.gemm_strided(kCblasRowMajor, cblas_transpose(a.storage), cblas_transpose(b.storage),
                            product_.m, product_.n, product_.k, static_cast<Real>(product_.alpha),
                            a_, a.leading, stride(a), b_, b.leading, stride(b), Real{0}, c_,
                            c.leading, stride(c), static_cast<int>(product_.batch));
  }

  CblasFunctions<Real> functions_;
  BlasProduct product_;
  BatchCalls calls_;
  std::optional<AllPlaces> all_places_;  // the threads of each call inherit the mask
  const Real* a_;
  const Real* b_;
  Real* c_;
};

BatchCalls choose_calls(const BlasProduct& product, bool has_strided_call) {
  constexpr std::int64_t kMaxStride = std::numeric_limits<int>::max();
  for (const std::int64_t number :
       {product.a.elements, product.b.elements, product.c.elements, product.batch}) {
    if (number > kMaxStride) return BatchCalls::loop;
  }
  return has_strided_call && product.is_strided() ? BatchCalls::strided : BatchCalls::loop;
}

// Returns "cblas_sgemm:Zen", "12*cblas_sgemm:Zen" or "cblas_sgemm_batch_strided:Zen".
std::string implementation_name(const BlasProduct& product, BatchCalls calls,
                                const std::string& kernel) {
  std::string name =
      calls == BatchCalls::loop && product.batch > 1 ? fmt::format("{}*", product.batch) : "";
  name += product.dtype == DataType::f64 ? "cblas_dgemm" : "cblas_sgemm";
  if (calls == BatchCalls::strided) name += "_batch_strided";
  return kernel.empty() ? name : fmt::format("{}:{}", name, kernel);
}

template <class Real>
PlainCode product_code(const CblasFunctions<Real>& functions, const BlasProduct& product,
                       const LoadedBlas& loaded) {
  const BatchCalls calls = choose_calls(product, functions.gemm_strided != nullptr);
  PlainCode code;
  code.name = implementation_name(product, calls, loaded.kernel);
  code.details = {{"threads_of_library",
                   std::string(kBlasThreadNames[static_cast<std::size_t>(loaded.threads)])}};
  code.bind = [functions, product, calls, threads = loaded.threads](
                  const Problem&, std::span<void* const> buffers) -> std::unique_ptr<Invocation> {
    return std::make_unique<CblasInvocation<Real>>(functions, product, calls, threads, buffers);
  };
  return code;
}

class BlasBackend final : public Backend {
 public:
  BlasBackend(const BlasLibrary& library, std::optional<LoadedBlas> loaded)
      : library_(library), loaded_(std::move(loaded)) {}

  std::string_view name() const override { return library_.backend; }
  std::string_view device() const override { return "cpu"; }
  LibraryInfo library() const override {
    return loaded_ ? loaded_->info : LibraryInfo{std::string(library_.backend), "", "", ""};
  }
  std::optional<BackendError> support_error(const Problem& problem) const override {
    auto product = blas_product(problem, library_);
    return product ? std::nullopt : std::optional(std::move(product).error());
  }
  std::optional<BackendError> support_error(const Network& /*none*/) const override {
    return no_networks();
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem) override {
    BENCH_ASSIGN_OR_RETURN(const BlasProduct product, blas_product(problem, library_));
    if (!loaded_) {
      return BackendError{BackendError::Kind::failed,
                          fmt::format("{} is not loaded", library_.title)};
    }
    if (loaded_->threads == BlasThreads::none && omp_get_max_threads() > 1) {
      return unsupported(fmt::format(
          "this {} ({}) is built without threads; use `threads: 1`, or another build of it",
          library_.title, loaded_->info.path));
    }
    return make_plain_kernel(problem, product.dtype == DataType::f64
                                          ? product_code(loaded_->f64, product, *loaded_)
                                          : product_code(loaded_->f32, product, *loaded_));
  }
  Result<std::unique_ptr<Kernel>, BackendError> create(const Network& /*none*/) override {
    return no_networks();
  }

 private:
  BackendError no_networks() const {
    return unsupported(fmt::format("backend {} computes gemm, not networks", library_.backend));
  }

  const BlasLibrary& library_;
  std::optional<LoadedBlas> loaded_;
};

}  // namespace

Result<std::unique_ptr<Backend>, BackendError> make_blas_backend(const BlasLibrary& library,
                                                                 const Variables& variables) {
  BENCH_ASSIGN_OR_RETURN(LoadedBlas loaded, load_blas(library, variables));
  return std::unique_ptr<Backend>(std::make_unique<BlasBackend>(library, std::move(loaded)));
}

std::unique_ptr<Backend> make_unloaded_blas_backend(const BlasLibrary& library) {
  return std::make_unique<BlasBackend>(library, std::nullopt);
}

}  // namespace bench::ops
