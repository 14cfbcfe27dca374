// SPDX-License-Identifier: Apache-2.0
// Tests descriptors of this machine's cuBLASLt, which creates them without a device.
#include "ops/cuda/cublas/matmul_descriptors.hpp"

#include "ops/cuda/cublas/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;

template <class Value>
Value layout_attribute(const CublasLtApi& api, cublasLtMatrixLayout_t layout,
                       cublasLtMatrixLayoutAttribute_t name) {
  Value value{};
  EXPECT_EQ(api.get_layout(layout, name, &value, sizeof(value), nullptr), CUBLAS_STATUS_SUCCESS);
  return value;
}

std::int32_t product_attribute(const CublasLtApi& api, cublasLtMatmulDesc_t product,
                               cublasLtMatmulDescAttributes_t name) {
  std::int32_t value = 0;
  EXPECT_EQ(api.get_product(product, name, &value, sizeof(value), nullptr), CUBLAS_STATUS_SUCCESS);
  return value;
}

TEST(MatmulDescriptors, AddUpTheGradientOfABias) {
  BENCH_NEED_CUBLASLT(api);
  const auto epilogue = [&](const char* tokens) {
    const auto form =
        gemm_form(problem("gemm", tokens, DataType::bf16, Direction::backward_weights),
                  ProductLibrary::cublaslt);
    EXPECT_TRUE(form.ok()) << form.error().reason;
    const auto made = MatmulDescriptors::create(api, *form);
    EXPECT_TRUE(made.ok()) << made.error().reason;
    return product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_EPILOGUE);
  };
  EXPECT_EQ(epilogue("m16n32k64+bias"), CUBLASLT_EPILOGUE_BGRADA);
  EXPECT_EQ(epilogue("m16n32k64+tb+bias"), CUBLASLT_EPILOGUE_BGRADB);
  EXPECT_EQ(epilogue("m16n32k64"), CUBLASLT_EPILOGUE_DEFAULT);
}

TEST(MatmulDescriptors, HoldWhatTheFormSays) {
  BENCH_NEED_CUBLASLT(api);
  const auto form = gemm_form(problem("gemm", "b2m3n4k5+tb+bias+gelu_tanh", DataType::bf16),
                              ProductLibrary::cublaslt);
  ASSERT_TRUE(form.ok()) << form.error().reason;
  auto made = MatmulDescriptors::create(api, *form);
  ASSERT_TRUE(made.ok()) << made.error().reason;
  EXPECT_EQ(product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_TRANSA), CUBLAS_OP_T);
  EXPECT_EQ(product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_TRANSB), CUBLAS_OP_N);
  EXPECT_EQ(product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_EPILOGUE),
            CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_EQ(product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
            CUBLAS_COMPUTE_32F);
  EXPECT_EQ(layout_attribute<std::uint32_t>(*api, made->a(), CUBLASLT_MATRIX_LAYOUT_TYPE),
            static_cast<std::uint32_t>(CUDA_R_16BF));
  EXPECT_EQ(layout_attribute<std::uint64_t>(*api, made->a(), CUBLASLT_MATRIX_LAYOUT_ROWS), 5u);
  EXPECT_EQ(layout_attribute<std::uint64_t>(*api, made->a(), CUBLASLT_MATRIX_LAYOUT_COLS), 4u);
  EXPECT_EQ(layout_attribute<std::int64_t>(*api, made->d(), CUBLASLT_MATRIX_LAYOUT_LD), 4);
  EXPECT_EQ(layout_attribute<std::int32_t>(*api, made->d(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT), 2);
  EXPECT_EQ(
      layout_attribute<std::int64_t>(*api, made->b(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET),
      15);
  EXPECT_EQ(layout_attribute<std::uint32_t>(*api, made->c(), CUBLASLT_MATRIX_LAYOUT_TYPE),
            static_cast<std::uint32_t>(CUDA_R_16BF));
  const int somewhere = 0;
  EXPECT_TRUE(made->set_bias(&somewhere).ok());
}

// For fp8 products, cuBLASLt takes the bias and the addend (C) in bf16.
TEST(MatmulDescriptors, TakeBiasAndAddendOfFp8ProductsInBf16) {
  BENCH_NEED_CUBLASLT(api);
  const auto form = gemm_form(problem("gemm", "m16n16k16+tb+bias+add", DataType::f8_e4m3),
                              ProductLibrary::cublaslt);
  ASSERT_TRUE(form.ok()) << form.error().reason;
  auto made = MatmulDescriptors::create(api, *form);
  ASSERT_TRUE(made.ok()) << made.error().reason;
  EXPECT_EQ(layout_attribute<std::uint32_t>(*api, made->c(), CUBLASLT_MATRIX_LAYOUT_TYPE),
            static_cast<std::uint32_t>(CUDA_R_16BF));
  EXPECT_EQ(layout_attribute<std::uint32_t>(*api, made->d(), CUBLASLT_MATRIX_LAYOUT_TYPE),
            static_cast<std::uint32_t>(CUDA_R_8F_E4M3));
  EXPECT_EQ(product_attribute(*api, made->product(), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE),
            CUDA_R_16BF);
  const float one = 1;
  EXPECT_TRUE(made->set_scale(&one).ok());
}

TEST(MatmulDescriptors, AccumulateFp8AsTheProblemAsks) {
  BENCH_NEED_CUBLASLT(api);
  const auto flag = [&](Math math) {
    Problem given = problem("gemm", "m16n16k16+tb", DataType::f8_e4m3);
    given.math = math;
    const auto made = MatmulDescriptors::create(api, *gemm_form(given, ProductLibrary::cublaslt));
    if (!made) return std::optional<std::int8_t>();
    std::int8_t value = -1;
    EXPECT_EQ(api->get_product(made->product(), CUBLASLT_MATMUL_DESC_FAST_ACCUM, &value,
                               sizeof(value), nullptr),
              CUBLAS_STATUS_SUCCESS);
    return std::optional(value);
  };
  EXPECT_EQ(flag(Math::standard), 0);
  EXPECT_EQ(flag(Math::fast_accumulation), 1);
}

TEST(MatmulDescriptors, ExistForEveryTypeThatTheFormAccepts) {
  BENCH_NEED_CUBLASLT(api);
  int made = 0;
  for (const DataTypeInfo& row : data_types()) {
    if (!row.is_case_type) continue;
    const auto form =
        gemm_form(problem("gemm", "m16n16k16+tb", row.type), ProductLibrary::cublaslt);
    if (!form) continue;
    const auto descriptors = MatmulDescriptors::create(api, *form);
    EXPECT_TRUE(descriptors.ok()) << row.name << ": " << descriptors.error().reason;
    ++made;
  }
  EXPECT_EQ(made, 6);  // f64, f32, f16, bf16, s8, f8_e4m3
}

// Without a driver the handle is refused; with a device it is created. Neither crashes.
TEST(CublasLt, GivesAHandleOnlyWithADevice) {
  BENCH_NEED_CUBLASLT(api);
  cublasLtHandle_t handle = nullptr;
  const cublasStatus_t status = api->create(&handle);
  if (status == CUBLAS_STATUS_SUCCESS) {
    EXPECT_EQ(api->destroy(handle), CUBLAS_STATUS_SUCCESS);
  } else {
    EXPECT_EQ(api->text(status), "CUBLAS_STATUS_NOT_INITIALIZED (1)");
  }
}

TEST(Cublas, HasAllFunctions) {
  const auto api = load_cublas(test::search_path());
  if (!api) GTEST_SKIP() << api.error().reason;
  EXPECT_NE((*api)->gemm, nullptr);
  EXPECT_NE((*api)->gemm_strided_batched, nullptr);
  EXPECT_EQ((*api)->text(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED (15)");
}

}  // namespace
}  // namespace bench::ops::cuda
