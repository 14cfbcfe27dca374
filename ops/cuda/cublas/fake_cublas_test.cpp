// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/fake_cublas.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace bench::ops::cuda::test {
namespace {

struct Active {
  FakeCublas* fake = nullptr;
  std::shared_ptr<const CublasLtApi> real;
};

Active& active() {
  static Active now;
  return now;
}

double scalar(const void* value, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return *static_cast<const double*>(value);
    case CUDA_R_32I:
      return *static_cast<const std::int32_t*>(value);
    default:
      return static_cast<double>(*static_cast<const float*>(value));
  }
}

cudaDataType_t scale_of(cublasComputeType_t compute) {
  if (compute == CUBLAS_COMPUTE_64F) return CUDA_R_64F;
  return compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F;
}

template <class Value>
Value product_attribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name) {
  Value value{};
  EXPECT_EQ(active().real->get_product(product, name, &value, sizeof(value), nullptr),
            CUBLAS_STATUS_SUCCESS);
  return value;
}

cudaDataType_t type_of(cublasLtMatrixLayout_t layout) {
  std::uint32_t type = 0;
  EXPECT_EQ(
      active().real->get_layout(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, &type, sizeof(type), nullptr),
      CUBLAS_STATUS_SUCCESS);
  return static_cast<cudaDataType_t>(type);
}

cublasStatus_t set_preference(cublasLtMatmulPreference_t preference,
                              cublasLtMatmulPreferenceAttributes_t name, const void* value,
                              std::size_t size) {
  if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    std::memcpy(&active().fake->workspace_limit, value, size);
  } else if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) {
    active().fake->reduction_schemes = *static_cast<const std::uint32_t*>(value);
  } else {
    active().fake->alignments.push_back(*static_cast<const std::uint32_t*>(value));
  }
  return active().real->set_preference(preference, name, value, size);
}

cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                         cublasLtMatmulPreference_t, int requested,
                         cublasLtMatmulHeuristicResult_t results[], int* returned) {
  FakeCublas& fake = *active().fake;
  fake.requested = requested;
  *returned = std::min(requested, static_cast<int>(fake.algorithms.size()));
  for (int i = 0; i < *returned; ++i) {
    const FakeAlgorithm& algorithm = fake.algorithms[static_cast<std::size_t>(i)];
    results[i] = {};
    results[i].algo.data[0] = static_cast<std::uint64_t>(algorithm.id);
    results[i].workspaceSize = static_cast<std::size_t>(algorithm.workspace);
    results[i].state = algorithm.state;
  }
  return fake.heuristics;
}

// All fake algorithms have the same tile and stages, and no custom option.
cublasStatus_t get_algorithm(const cublasLtMatmulAlgo_t* algorithm,
                             cublasLtMatmulAlgoConfigAttributes_t name, void* value,
                             std::size_t size, std::size_t* written) {
  const auto id = static_cast<std::uint32_t>(algorithm->data[0]);
  const bool narrow =
      name == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID || name == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
  EXPECT_EQ(size, narrow ? 2u : 4u);
  std::uint32_t answer = 0;
  if (name == CUBLASLT_ALGO_CONFIG_ID) answer = id;
  if (name == CUBLASLT_ALGO_CONFIG_TILE_ID) answer = 20;
  if (name == CUBLASLT_ALGO_CONFIG_STAGES_ID) answer = 36;
  if (name == CUBLASLT_ALGO_CONFIG_SPLITK_NUM) {
    const auto& all = active().fake->algorithms;
    const auto found = std::ranges::find(all, static_cast<int>(id), &FakeAlgorithm::id);
    answer = static_cast<std::uint32_t>(found == all.end() ? 3 : found->split);
  }
  if (name == CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(value, &answer, size);
  *written = size;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha,
                      const void* a, cublasLtMatrixLayout_t, const void* b, cublasLtMatrixLayout_t,
                      const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                      cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm,
                      void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  FakeCublas& fake = *active().fake;
  const auto id = static_cast<int>(algorithm->data[0]);
  const auto known = std::find_if(fake.algorithms.begin(), fake.algorithms.end(),
                                  [&](const FakeAlgorithm& each) { return each.id == id; });
  if (known == fake.algorithms.end()) return CUBLAS_STATUS_INTERNAL_ERROR;
  if (known->runs != CUBLAS_STATUS_SUCCESS) return known->runs;
  using Pointer = const void*;
  const auto scale = static_cast<cudaDataType_t>(
      product_attribute<std::int32_t>(product, CUBLASLT_MATMUL_DESC_SCALE_TYPE));
  fake.matmuls.push_back({id, a, b, c,
                          product_attribute<Pointer>(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER),
                          product_attribute<Pointer>(product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER),
                          product_attribute<Pointer>(product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER),
                          product_attribute<Pointer>(product, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER),
                          d, workspace, workspace_bytes, scalar(alpha, scale), scalar(beta, scale),
                          stream, type_of(c_layout), type_of(d_layout)});
  static_cast<void>(fake.runtime->launch_kernel(fmt::format("matmul {}", id), known->time));
  return CUBLAS_STATUS_SUCCESS;
}

const char* status_name(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS";
}

cublasStatus_t create(cublasHandle_t* handle) {
  active().fake->calls.emplace_back("create");
  *handle = reinterpret_cast<cublasHandle_t>(active().fake);
  return active().fake->create;
}
cublasStatus_t destroy(cublasHandle_t) {
  active().fake->calls.emplace_back("destroy");
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_stream(cublasHandle_t, cudaStream_t stream) {
  EXPECT_EQ(stream, active().fake->runtime->stream());
  active().fake->calls.emplace_back("set_stream");
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_math_mode(cublasHandle_t, cublasMath_t mode) {
  active().fake->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_workspace(cublasHandle_t, void* workspace, std::size_t size) {
  EXPECT_NE(workspace, nullptr);
  active().fake->calls.push_back(fmt::format("set_workspace {}", size));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gemm_strided_batched(cublasHandle_t, cublasOperation_t transa,
                                    cublasOperation_t transb, int m, int n, int k,
                                    const void* alpha, const void* a, cudaDataType a_type, int lda,
                                    long long stride_a, const void* b, cudaDataType b_type, int ldb,
                                    long long stride_b, const void* beta, void* d,
                                    cudaDataType d_type, int ldd, long long stride_d, int batch,
                                    cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  FakeCublas& fake = *active().fake;
  EXPECT_EQ(algorithm, CUBLAS_GEMM_DEFAULT);
  const cudaDataType_t scale = scale_of(compute);
  fake.gemms.push_back({transa,
                        transb,
                        m,
                        n,
                        k,
                        lda,
                        ldb,
                        ldd,
                        stride_a,
                        stride_b,
                        stride_d,
                        batch,
                        a,
                        b,
                        d,
                        a_type,
                        b_type,
                        d_type,
                        scalar(alpha, scale),
                        scalar(beta, scale),
                        compute,
                        fake.mode});
  if (fake.gemm != CUBLAS_STATUS_SUCCESS) return fake.gemm;
  static_cast<void>(fake.runtime->launch_kernel("gemm", std::chrono::microseconds(50)));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                    int m, int n, int k, const void* alpha, const void* a, cudaDataType a_type,
                    int lda, const void* b, cudaDataType b_type, int ldb, const void* beta, void* d,
                    cudaDataType d_type, int ldd, cublasComputeType_t compute,
                    cublasGemmAlgo_t algorithm) {
  return gemm_strided_batched(handle, transa, transb, m, n, k, alpha, a, a_type, lda, 0, b, b_type,
                              ldb, 0, beta, d, d_type, ldd, 0, 1, compute, algorithm);
}

}  // namespace

std::shared_ptr<const CublasLtApi> fake_cublaslt(std::shared_ptr<const CublasLtApi> real,
                                                 FakeCublas& fake) {
  active() = {&fake, real};
  auto api = std::make_shared<CublasLtApi>(*real);
  api->create = [](cublasLtHandle_t* handle) {
    active().fake->calls.emplace_back("create");
    *handle = reinterpret_cast<cublasLtHandle_t>(active().fake);
    return active().fake->create;
  };
  api->destroy = [](cublasLtHandle_t) {
    active().fake->calls.emplace_back("destroy");
    return CUBLAS_STATUS_SUCCESS;
  };
  api->set_preference = set_preference;
  api->heuristic = heuristic;
  api->get_algorithm = get_algorithm;
  api->matmul = matmul;
  return api;
}

std::shared_ptr<const CublasApi> fake_cublas(FakeCublas& fake) {
  active() = {&fake, nullptr};
  auto api = std::make_shared<CublasApi>();
  api->create = create;
  api->destroy = destroy;
  api->status_name = status_name;
  api->set_stream = set_stream;
  api->set_math_mode = set_math_mode;
  api->set_workspace = set_workspace;
  api->gemm = gemm;
  api->gemm_strided_batched = gemm_strided_batched;
  api->path = "/fake/libcublas.so.13";
  return api;
}

}  // namespace bench::ops::cuda::test
