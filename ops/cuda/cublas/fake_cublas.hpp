// SPDX-License-Identifier: Apache-2.0
// For tests: replaces the functions of cuBLASLt and cuBLAS that need a device. The real library
// creates the descriptors, because this needs no device.
#pragma once

#include "ops/cuda/cublas/cublas_api.hpp"
#include "ops/cuda/runtime/scripted_runtime.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda::test {

// One algorithm that the heuristics offer, and its time on the device.
struct FakeAlgorithm {
  int id = 0;
  Nanoseconds time{0};
  std::int64_t workspace = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;  // status that the heuristics report
  cublasStatus_t runs = CUBLAS_STATUS_SUCCESS;   // status of cublasLtMatmul
  int split = 3;                                 // number of parts of the sum; -1: automatic
};

// A call of cublasLtMatmul.
struct FakeMatmul {
  int algorithm = 0;
  const void *a = nullptr, *b = nullptr, *c = nullptr, *bias = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr, *d_scale = nullptr;
  void *d = nullptr, *workspace = nullptr;
  std::size_t workspace_bytes = 0;
  double alpha = 0, beta = 0;
  cudaStream_t stream = nullptr;
  cudaDataType_t c_type = CUDA_R_32F, d_type = CUDA_R_32F;
};

// A call of cublasGemmEx, or of its batched form.
struct FakeGemm {
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  int m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldd = 0;
  long long stride_a = 0, stride_b = 0, stride_d = 0;
  int batch = 1;
  const void *a = nullptr, *b = nullptr;
  void* d = nullptr;
  cudaDataType_t a_type = CUDA_R_32F, b_type = CUDA_R_32F, d_type = CUDA_R_32F;
  double alpha = 0, beta = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;  // the mode that was set before the call
};

struct FakeCublas {
  std::shared_ptr<ScriptedRuntime> runtime;
  std::vector<FakeAlgorithm> algorithms;  // the fastest by estimate comes first
  cublasStatus_t heuristics = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t create = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t gemm = CUBLAS_STATUS_SUCCESS;  // status of cublasGemmEx and its batched form
  // Values that the heuristics received.
  int requested = 0;  // number of algorithms
  std::uint64_t workspace_limit = 0;
  std::vector<std::uint32_t> alignments;
  std::optional<std::uint32_t> reduction_schemes;
  // calls on handles: "create", "set_stream", "set_workspace 33554432"
  std::vector<std::string> calls;
  std::vector<FakeMatmul> matmuls;
  std::vector<FakeGemm> gemms;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
};

// Only one object may be used at a time, because the libraries' functions have no user data.
std::shared_ptr<const CublasLtApi> fake_cublaslt(std::shared_ptr<const CublasLtApi> real,
                                                 FakeCublas& fake);
std::shared_ptr<const CublasApi> fake_cublas(FakeCublas& fake);

}  // namespace bench::ops::cuda::test
