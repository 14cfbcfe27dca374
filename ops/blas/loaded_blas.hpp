// SPDX-License-Identifier: Apache-2.0
// A library of matrix products, loaded with the functions of CBLAS that this program calls. Needs
// no header of any library.
#pragma once

#include "base/dynamic_library.hpp"
#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/blas_library.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::ops {

// The enumerators of CBLAS.
inline constexpr int kCblasRowMajor = 101;
inline constexpr int kCblasNoTranspose = 111;
inline constexpr int kCblasTranspose = 112;

// The products of one data type, with 32-bit sizes.
template <class Real>
struct CblasFunctions {
  void (*gemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, Real alpha,
               const Real* a, int lda, const Real* b, int ldb, Real beta, Real* c,
               int ldc) = nullptr;
  // Null if the library does not have it.
  void (*gemm_strided)(int order, int transpose_a, int transpose_b, int m, int n, int k, Real alpha,
                       const Real* a, int lda, int stride_a, const Real* b, int ldb, int stride_b,
                       Real beta, Real* c, int ldc, int stride_c, int batch) = nullptr;
};

// Who runs the threads of a product.
// openmp: the OpenMP runtime, whose threads are pinned. own_pool: threads that the library created
// when it was loaded. per_call: threads that each product creates and ends.
BENCH_ENUM(BlasThreads, none, (openmp, "OpenMP"), (own_pool, "pthreads"),
           (per_call, "pthreads per call"));

struct LoadedBlas {
  LibraryInfo info;
  std::string kernel;  // the kernels that the library has chosen for this processor; may be empty
  BlasThreads threads = BlasThreads::none;
  CblasFunctions<float> f32;
  CblasFunctions<double> f64;
  std::function<void(int)> set_threads;
};

// Returns where the library is searched: only the place that its variable names, if it is set.
// Otherwise the loader's path, then the Python environments ($VIRTUAL_ENV, $CONDA_PREFIX,
// ~/.local), then $MKLROOT. `files` receives the file names to search.
std::vector<SearchStep> blas_search_path(const BlasLibrary& library, const Variables& variables,
                                         std::vector<std::string>& files);

// Loads a library and reads what it says about itself. Its threads are those of the OpenMP runtime
// (omp_get_max_threads()); a pool of its own is pinned to OpenMP's places. BackendError, kind
// skipped: it was not found; the reason says how to get it. Kind failed: it lacks a function.
Result<LoadedBlas, BackendError> load_blas(const BlasLibrary& library, const Variables& variables);

}  // namespace bench::ops
