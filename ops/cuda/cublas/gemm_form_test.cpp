// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/gemm_form.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using bench::ops::op_test::random_inputs;
using ::testing::HasSubstr;

// Element (row, column) of op(matrix) of a batch, as cuBLAS reads column-major memory.
double element(const MatrixForm& form, const std::vector<double>& memory, std::int64_t batch,
               std::int64_t row, std::int64_t column) {
  if (form.operation == Operation::transpose) std::swap(row, column);
  EXPECT_LT(row, form.rows);
  EXPECT_LT(column, form.columns);
  return memory.at(
      static_cast<std::size_t>(batch * form.batch_stride + column * form.leading + row));
}

// Computes what cuBLASLt's manual specifies for the form: bias and residual, then the activation.
std::vector<double> product(const GemmForm& form, const std::vector<std::vector<double>>& inputs) {
  std::vector<double> result(static_cast<std::size_t>(form.batch * form.m * form.n));
  for (std::int64_t batch = 0; batch < form.batch; ++batch) {
    for (std::int64_t column = 0; column < form.n; ++column) {
      for (std::int64_t row = 0; row < form.m; ++row) {
        double sum = 0;
        for (std::int64_t i = 0; i < form.k; ++i) {
          sum += element(form.a, inputs[form.a.tensor], batch, row, i) *
                 element(form.b, inputs[form.b.tensor], batch, i, column);
        }
        if (form.c) sum += element(*form.c, inputs[form.c->tensor], batch, row, column);
        if (form.bias == Presence::present) {
          sum += inputs[form.bias_tensor][static_cast<std::size_t>(row)];
        }
        if (form.activation == Activation::relu) sum = std::max(sum, 0.0);
        result[static_cast<std::size_t>(batch * form.d.batch_stride + column * form.d.leading +
                                        row)] = sum;
      }
    }
  }
  return result;
}

TEST(GemmForm, ComputesTheProblem) {
  for (const char* tokens :
       {"m3n4k5", "m3n4k5+ta", "m3n4k5+tb", "m3n4k5+ta+tb", "b2m3n4k5", "b2m3n4k5+ta+tb",
        "m3n4k5+bias", "m3n4k5+tb+bias+relu", "m3n4k5+bias+add+relu", "b2m3n4k5+add", "m1n7k1"}) {
    SCOPED_TRACE(tokens);
    const Problem made = problem("gemm", tokens, DataType::f64);
    const auto form = gemm_form(made, ProductLibrary::cublaslt);
    ASSERT_TRUE(form.ok()) << form.error().reason;
    const auto inputs = random_inputs(made, 3);
    const std::vector<double> expected = built_in_reference(made, inputs, 0, {});
    const std::vector<double> got = product(*form, inputs);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-9) << i;
  }
}

// Products that share weights have a stride of 0, or are one larger product.
TEST(GemmForm, ComputesProductsThatShareAMatrix) {
  struct Shared {
    const char* tokens;
    std::int64_t batch, stride_a, stride_b;  // of weights, of the source
  };
  for (const Shared& row : {Shared{"b6wb1m3n4k5", 6, 0, 15},
                            {"b6sb1m3n4k5+ta", 6, 20, 0},
                            {"b6wb2m3n4k5+tb+bias+add", 2, 20, 45},
                            {"b6wb1m3n4k5+ta", 6, 0, 15}}) {
    SCOPED_TRACE(row.tokens);
    const Problem made = problem("gemm", row.tokens, DataType::f64);
    const auto form = gemm_form(made, ProductLibrary::cublaslt);
    ASSERT_TRUE(form.ok()) << form.error().reason;
    EXPECT_EQ(form->batch, row.batch);
    EXPECT_EQ(form->a.batch_stride, row.stride_a);
    EXPECT_EQ(form->b.batch_stride, row.stride_b);
    const auto inputs = random_inputs(made, 3);
    const std::vector<double> expected = built_in_reference(made, inputs, 0, {});
    const std::vector<double> got = product(*form, inputs);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-9) << i;
  }
}

// The rows (columns) of a matrix of the form added up, as cuBLASLt's epilogues BGRADA and BGRADB.
std::vector<double> bias_gradient(const GemmForm& form,
                                  const std::vector<std::vector<double>>& inputs) {
  const bool is_of_a = form.bias_gradient == BiasGradient::of_a;
  const MatrixForm& matrix = is_of_a ? form.a : form.b;
  std::vector<double> sums(static_cast<std::size_t>(is_of_a ? form.m : form.n));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    for (std::int64_t k = 0; k < form.k; ++k) {
      sums[i] +=
          element(matrix, inputs[matrix.tensor], 0, is_of_a ? index : k, is_of_a ? k : index);
    }
  }
  return sums;
}

TEST(GemmForm, ComputesGradients) {
  for (const char* tokens : {"m3n4k5", "m3n4k5+ta", "m3n4k5+tb", "m3n4k5+ta+tb", "b2m3n4k5+tb",
                             "m3n4k5+bias", "m3n4k5+tb+bias", "m3n4k5+ta+tb+bias", "b6wb2m3n4k5"}) {
    for (const Direction direction : {Direction::backward_data, Direction::backward_weights}) {
      SCOPED_TRACE(tokens);
      const Problem made = problem("gemm", tokens, DataType::f64, direction);
      const auto form = gemm_form(made, ProductLibrary::cublaslt);
      ASSERT_TRUE(form.ok()) << form.error().reason;
      const auto inputs = random_inputs(made, 3);
      const std::vector<double> expected = built_in_reference(made, inputs, 0, {});
      const std::vector<double> got = product(*form, inputs);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-9) << i;
      const bool has_sums = made.tensors.back().name == "diff_bias";
      ASSERT_EQ(form->bias_gradient != BiasGradient::none, has_sums);
      if (!has_sums) continue;
      EXPECT_EQ(form->bias_tensor, made.tensors.size() - 1);
      const std::vector<double> sums = built_in_reference(made, inputs, 1, {});
      const std::vector<double> got_sums = bias_gradient(*form, inputs);
      ASSERT_EQ(got_sums.size(), sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(got_sums[i], sums[i], 1e-9) << i;
    }
  }
}

TEST(GemmForm, ComputesAsItsTypesAsk) {
  const auto compute = [](DataType dtype, Math math) {
    Problem made = problem("gemm", "m16n16k16", dtype);
    made.math = math;
    return gemm_form(made, ProductLibrary::cublaslt)->compute;
  };
  EXPECT_EQ(compute(DataType::f32, Math::standard), ProductCompute::f32);
  EXPECT_EQ(compute(DataType::f32, Math::tf32), ProductCompute::f32_as_tf32);
  EXPECT_EQ(compute(DataType::f16, Math::standard), ProductCompute::f32);
  EXPECT_EQ(compute(DataType::f64, Math::standard), ProductCompute::f64);
  EXPECT_EQ(compute(DataType::s8, Math::standard), ProductCompute::s32);
}

struct Row {
  const char* tokens;
  DataType dtype;
  ProductLibrary library;
  const char* reason;
  Direction direction = Direction::forward;
};
constexpr Row kRefused[] = {
    {"m4n4k4+ss_tensor", DataType::s8, ProductLibrary::cublaslt, "without scaling them"},
    {"b6wb2m4n4k4+ta", DataType::f32, ProductLibrary::cublaslt, "all products of a batch"},
    {"b6sb2m4n4k4", DataType::f32, ProductLibrary::cublas, "all products of a batch"},
    {"b6sb1m4n4k4", DataType::f32, ProductLibrary::cublaslt, "does not add up products",
     Direction::backward_data},
    {"b2m4n4k4+bias", DataType::f32, ProductLibrary::cublaslt, "not in a batch",
     Direction::backward_weights},
    {"m4n4k4+bias", DataType::f32, ProductLibrary::cublas, "no epilogues",
     Direction::backward_weights},
    {"m4n4k4", DataType::s8, ProductLibrary::cublaslt, "no gradients of s8",
     Direction::backward_data},
    {"m16n16k16", DataType::f8_e4m3, ProductLibrary::cublaslt, "f8_e5m2 with f8_e4m3",
     Direction::backward_data},
    {"m4n4k4", DataType::u8, ProductLibrary::cublaslt, "signed 8-bit integers only"},
    {"m4n4k6", DataType::s8, ProductLibrary::cublaslt, "in multiples of 4, not 6"},
    {"m4n4k4+bias", DataType::s8, ProductLibrary::cublaslt, "32-bit integers"},
    {"m16n16k16", DataType::f8_e5m2, ProductLibrary::cublaslt, "f8_e5m2"},
    {"m16n16k16", DataType::f8_e4m3, ProductLibrary::cublas, "no fp8"},
    {"m4n4k4+bias", DataType::f32, ProductLibrary::cublas, "no epilogues"},
    {"m4n4k4+relu", DataType::f32, ProductLibrary::cublas, "no epilogues"},
    {"m4n4k4+sigmoid", DataType::f32, ProductLibrary::cublaslt, "not `sigmoid`"},
    {"m4n4k4+relu+add", DataType::f32, ProductLibrary::cublaslt, "after an activation"},
};

TEST(GemmForm, RefusesWhatTheLibraryHasNot) {
  for (const Row& row : kRefused) {
    SCOPED_TRACE(row.tokens);
    const auto form = gemm_form(problem("gemm", row.tokens, row.dtype, row.direction), row.library);
    ASSERT_FALSE(form.ok());
    EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(form.error().reason, HasSubstr(row.reason));
  }
}

TEST(GemmForm, AScaleBeforeEverythingElseIsAFactorOfTheProduct) {
  for (const ProductLibrary library : {ProductLibrary::cublaslt, ProductLibrary::cublas}) {
    const auto form = gemm_form(problem("gemm", "m4n4k4+scale0.125+add"), library);
    ASSERT_TRUE(form.ok());
    EXPECT_EQ(form->alpha, 0.125);
    EXPECT_TRUE(form->c.has_value());
  }
  for (const char* tokens : {"m4n4k4+bias+scale0.125", "m4n4k4+add+scale0.125"}) {
    const auto form = gemm_form(problem("gemm", tokens), ProductLibrary::cublaslt);
    ASSERT_FALSE(form.ok());
    EXPECT_THAT(form.error().reason, HasSubstr("a scale before the bias"));
  }
}

TEST(ProductParts, ANativeKernelComputesPostOpsThatTheLibraryDoesNotFuse) {
  const auto name = [](const char* tokens, DataType dtype, ProductLibrary library) {
    const auto parts = product_parts(problem("gemm", tokens, dtype), library, kNoDevice);
    return parts ? product_name("X", *parts) : parts.error().reason;
  };
  EXPECT_EQ(name("m4n4k4+bias+relu", DataType::f16, ProductLibrary::cublaslt), "X");
  for (const char* tokens : {"m4n4k4+bias+gelu_erf", "m4n4k4+relu+add", "m4n4k4+add+scale0.5"}) {
    EXPECT_EQ(name(tokens, DataType::bf16, ProductLibrary::cublaslt), "X + bench:elementwise");
  }
  EXPECT_EQ(name("m4n4k4+relu", DataType::f32, ProductLibrary::cublas), "X + bench:elementwise");
  // The library must compute the bias, and integers and fp8 would be rounded twice.
  EXPECT_THAT(name("m4n4k4+bias+relu", DataType::f32, ProductLibrary::cublas),
              HasSubstr("no epilogues"));
  EXPECT_THAT(name("m4n4k4+relu", DataType::s8, ProductLibrary::cublaslt),
              HasSubstr("32-bit integers"));
  EXPECT_THAT(name("m16n16k16+tb+swish", DataType::f8_e4m3, ProductLibrary::cublaslt),
              HasSubstr("not `swish`"));
}

TEST(GemmForm, Fp8DependsOnTheDevice) {
  const auto form = [](const char* tokens) {
    return *gemm_form(problem("gemm", tokens, DataType::f8_e4m3), ProductLibrary::cublaslt);
  };
  EXPECT_FALSE(refused_by_device(form("m16n32k16+tb"), {9, 0}));
  EXPECT_FALSE(refused_by_device(form("m16n32k16+tb"), {12, 1}));
  for (const ComputeCapability any_layout : {ComputeCapability{10, 0}, {10, 3}, {11, 0}}) {
    EXPECT_FALSE(refused_by_device(form("m16n32k16"), any_layout)) << any_layout.major;
    EXPECT_FALSE(refused_by_device(form("m16n32k16+ta+tb"), any_layout)) << any_layout.major;
  }
  for (const ComputeCapability along_k : {ComputeCapability{8, 9}, {9, 0}, {12, 0}, {12, 1}}) {
    for (const char* tokens : {"m16n32k16", "m16n32k16+ta", "m16n32k16+ta+tb"}) {
      EXPECT_TRUE(refused_by_device(form(tokens), along_k)) << tokens << " on " << along_k.major;
    }
  }
  EXPECT_THAT(refused_by_device(form("m16n32k16"), {9, 0})->reason, HasSubstr("trans_b"));
  EXPECT_THAT(refused_by_device(form("m16n32k16+tb"), {8, 0})->reason, HasSubstr("8.9"));
  EXPECT_THAT(refused_by_device(form("m16n24k16+tb"), {9, 0})->reason, HasSubstr("not 24"));
  // Only sizes along rows must be multiples. m is one if the source is transposed.
  EXPECT_FALSE(refused_by_device(form("m1000n32k16+tb"), {9, 0}));
  EXPECT_THAT(refused_by_device(form("m1000n32k16+ta+tb"), {10, 0})->reason, HasSubstr("not 1000"));
  const auto half = gemm_form(problem("gemm", "m3n3k3", DataType::f16), ProductLibrary::cublaslt);
  EXPECT_FALSE(refused_by_device(*half, {7, 5}));
  EXPECT_FALSE(refused_by_device(form("m16n32k16"), kNoDevice));
}

}  // namespace
}  // namespace bench::ops::cuda
