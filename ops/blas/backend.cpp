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

// The matrices that consecutive products of a batch use, one after the other. Needs no division for
// each product: a product of small matrices takes as long as a few of them.
template <class Real>
class MatrixCursor {
 public:
  MatrixCursor(Real* first, const BlasProduct& product, const BlasMatrix& matrix)
      : matrix_(first),
        elements_(matrix.elements),
        share_(product.share(matrix)),
        products_left_(share_) {}

  Real* matrix() const { return matrix_; }
  // Whether no earlier product has used the matrix.
  bool is_first_use() const { return products_left_ == share_; }
  void advance() {
    if (--products_left_ > 0) return;
    products_left_ = share_;
    matrix_ += elements_;
  }

 private:
  Real* matrix_;
  std::int64_t elements_, share_, products_left_;
};

template <class Real>
class CblasInvocation final : public Invocation {
 public:
  CblasInvocation(const CblasFunctions<Real>& functions, const BlasProduct& product,
                  BatchCalls calls, BlasThreads threads, std::span<void* const> buffers)
      : functions_(functions),
        product_(product),
        calls_(calls),
        a_(static_cast<const Real*>(buffers[product.a.tensor]), product, product.a),
        b_(static_cast<const Real*>(buffers[product.b.tensor]), product, product.b),
        c_(static_cast<Real*>(buffers[product.c.tensor]), product, product.c) {
    if (threads == BlasThreads::per_call) all_places_.emplace();
  }

  bool run() noexcept override {
    if (calls_ == BatchCalls::strided) {
      multiply_strided();
    } else {
      multiply_one_by_one();
    }
    return true;
  }
  std::string error() const override { return {}; }

 private:
  // A product adds to what an earlier one has written to the same result.
  void multiply_one_by_one() noexcept {
    const BlasMatrix &a = product_.a, &b = product_.b, &c = product_.c;
    MatrixCursor<const Real> left = a_, right = b_;
    MatrixCursor<Real> result = c_;
    for (std::int64_t i = 0; i < product_.batch; ++i) {
      functions_.gemm(kCblasRowMajor, cblas_transpose(a.storage), cblas_transpose(b.storage),
                      product_.m, product_.n, product_.k, static_cast<Real>(product_.alpha),
                      left.matrix(), a.leading, right.matrix(), b.leading,
                      result.is_first_use() ? Real{0} : Real{1}, result.matrix(), c.leading);
      left.advance();
      right.advance();
      result.advance();
    }
  }
  void multiply_strided() noexcept {
    const auto stride = [](const BlasMatrix& matrix) { return static_cast<int>(matrix.elements); };
    const BlasMatrix &a = product_.a, &b = product_.b, &c = product_.c;
    functions_.gemm_strided(kCblasRowMajor, cblas_transpose(a.storage), cblas_transpose(b.storage),
                            product_.m, product_.n, product_.k, static_cast<Real>(product_.alpha),
                            a_.matrix(), a.leading, stride(a), b_.matrix(), b.leading, stride(b),
                            Real{0}, c_.matrix(), c.leading, stride(c),
                            static_cast<int>(product_.batch));
  }

  CblasFunctions<Real> functions_;
  BlasProduct product_;
  BatchCalls calls_;
  std::optional<AllPlaces> all_places_;  // the threads of each call inherit the mask
  // At the first product.
  MatrixCursor<const Real> a_, b_;
  MatrixCursor<Real> c_;
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
  code.details = {{"threads_of_library", std::string(to_string(loaded.threads))}};
  const bool has_openmp = loaded.threads == BlasThreads::openmp;
  code.threads = has_openmp ? KernelThreads::openmp : KernelThreads::own;
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
