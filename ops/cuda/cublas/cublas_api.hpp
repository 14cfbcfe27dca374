// SPDX-License-Identifier: Apache-2.0
// Tables of the functions of cuBLASLt and cuBLAS, filled at run time.
#pragma once

#include "base/function_table.hpp"
#include "ops/cuda/library_search.hpp"

#include <cublas_v2.h>
#include <cublasLt.h>

#include <memory>
#include <span>
#include <string>

namespace bench::ops::cuda {

struct CublasLtApi {
  BENCH_FUNCTIONS(CublasLtApi, (create, cublasLtCreate), (destroy, cublasLtDestroy),
                  (status_name, cublasLtGetStatusName), (version, cublasLtGetVersion),
                  (create_product, cublasLtMatmulDescCreate),
                  (destroy_product, cublasLtMatmulDescDestroy),
                  (set_product, cublasLtMatmulDescSetAttribute),
                  (get_product, cublasLtMatmulDescGetAttribute),
                  (create_layout, cublasLtMatrixLayoutCreate),
                  (destroy_layout, cublasLtMatrixLayoutDestroy),
                  (set_layout, cublasLtMatrixLayoutSetAttribute),
                  (get_layout, cublasLtMatrixLayoutGetAttribute),
                  (create_preference, cublasLtMatmulPreferenceCreate),
                  (destroy_preference, cublasLtMatmulPreferenceDestroy),
                  (set_preference, cublasLtMatmulPreferenceSetAttribute),
                  (heuristic, cublasLtMatmulAlgoGetHeuristic),
                  (get_algorithm, cublasLtMatmulAlgoConfigGetAttribute), (matmul, cublasLtMatmul));
  std::string path;  // path of the library

  // Formats a status: "CUBLAS_STATUS_NOT_SUPPORTED (15)".
  std::string text(cublasStatus_t status) const;
};

struct CublasApi {
  // The types are spelled out because the C++ headers overload these functions. These are the
  // signatures that the library exports.
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
  using GemmStridedBatchedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t,
                                                  cublasOperation_t, int, int, int, const void*,
                                                  const void*, cudaDataType, int, long long,
                                                  const void*, cudaDataType, int, long long,
                                                  const void*, void*, cudaDataType, int, long long,
                                                  int, cublasComputeType_t, cublasGemmAlgo_t);
  BENCH_FUNCTIONS(CublasApi, (create, cublasCreate_v2), (destroy, cublasDestroy_v2),
                  (status_name, cublasGetStatusName), (set_stream, cublasSetStream_v2),
                  (set_math_mode, cublasSetMathMode), (set_workspace, cublasSetWorkspace_v2),
                  (gemm, cublasGemmEx, GemmEx),
                  (gemm_strided_batched, cublasGemmStridedBatchedEx, GemmStridedBatchedEx));
  std::string path;

  std::string text(cublasStatus_t status) const;
};

// Error: the library was not found, or lacks a function.
Result<std::shared_ptr<const CublasLtApi>, LoadFailure> load_cublaslt(
    std::span<const SearchStep> search);
Result<std::shared_ptr<const CublasApi>, LoadFailure> load_cublas(
    std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
