// SPDX-License-Identifier: Apache-2.0
// Tables of the functions of cuBLASLt and cuBLAS, filled at run time.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/library_search.hpp"

#include <cublas_v2.h>
#include <cublasLt.h>

#include <memory>
#include <span>
#include <string>

namespace bench::ops::cuda {

struct CublasLtApi {
  decltype(&::cublasLtCreate) create = nullptr;
  decltype(&::cublasLtDestroy) destroy = nullptr;
  decltype(&::cublasLtGetStatusName) status_name = nullptr;
  decltype(&::cublasLtGetVersion) version = nullptr;
  decltype(&::cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&::cublasLtMatmulDescDestroy) destroy_product = nullptr;
  decltype(&::cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&::cublasLtMatmulDescGetAttribute) get_product = nullptr;
  decltype(&::cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&::cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&::cublasLtMatrixLayoutSetAttribute) set_layout = nullptr;
  decltype(&::cublasLtMatrixLayoutGetAttribute) get_layout = nullptr;
  decltype(&::cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&::cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&::cublasLtMatmulAlgoConfigGetAttribute) get_algorithm = nullptr;
  decltype(&::cublasLtMatmul) matmul = nullptr;
  std::string path;  // path of the library

  // Formats a status: "CUBLAS_STATUS_NOT_SUPPORTED (15)".
  std::string text(cublasStatus_t status) const;
};

struct CublasApi {
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasGetStatusName) status_name = nullptr;
  decltype(&::cublasSetStream_v2) set_stream = nullptr;
  decltype(&::cublasSetMathMode) set_math_mode = nullptr;
  decltype(&::cublasSetWorkspace_v2) set_workspace = nullptr;
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
  GemmEx gemm = nullptr;
  GemmStridedBatchedEx gemm_strided_batched = nullptr;
  std::string path;

  std::string text(cublasStatus_t status) const;
};

// Error: the library was not found, or lacks a function.
Result<std::shared_ptr<const CublasLtApi>, LoadFailure> load_cublaslt(
    std::span<const SearchStep> search);
Result<std::shared_ptr<const CublasApi>, LoadFailure> load_cublas(
    std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
