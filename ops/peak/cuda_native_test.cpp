// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/peak/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"
#include "ops/peak/peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using ::testing::HasSubstr;

TEST(NativePeak, ComputesWhatTheReferenceDoes) {
  for (const char* tokens : {"read-b4096", "write-b512", "copy-b1024s3", "copy-b65536",
                             "triad-b6144s2", "fma_cuda-s1", "fma_cuda-s16", "fma_cuda-s5000"}) {
    test::expect_reference(ops::op_test::problem("peak", tokens));
  }
  for (const DataType dtype : {DataType::f64, DataType::f16}) {
    test::expect_reference(ops::op_test::problem("peak", "fma_cuda-s1000", dtype));
    // More steps per block than f16 sums exactly.
    test::expect_reference(ops::op_test::problem("peak", "fma_cuda-s30000", dtype));
  }
}

TEST(NativePeak, MaximumOfNegativeValuesIsNegative) {
  const auto form = native_form(ops::op_test::problem("peak", "read-b512"));
  ASSERT_TRUE(form.ok()) << form.error().reason;
  std::vector<double> values(128, -3);
  values[100] = -2;
  EXPECT_EQ(test::run(*form, {values}), std::vector<double>{-2});
}

TEST(NativePeak, PlanHasTheStepsAndTheQuadsOfOneArray) {
  const auto triad = native_form(ops::op_test::problem("peak", "triad-b6144s5"));
  ASSERT_TRUE(triad.ok());
  EXPECT_EQ(triad->implementation, "bench:peak_triad");
  EXPECT_EQ(triad->plan.as<PeakPlan>().quads, 128);
  EXPECT_EQ(triad->plan.as<PeakPlan>().steps, 5);
  EXPECT_EQ(triad->launches, 1);
  const auto fma = native_form(ops::op_test::problem("peak", "fma_cuda", DataType::f64));
  ASSERT_TRUE(fma.ok());
  EXPECT_EQ(fma->plan.as<PeakPlan>().steps, kPeakSteps);
  EXPECT_EQ(fma->plan.as<PeakPlan>().factors, PeakPlan::Factors::f64);
  EXPECT_EQ(fma->launches, 3);
}

// All steps are done, and each once, whatever number of blocks shares them.
TEST(NativePeak, BlocksShareAllSteps) {
  for (const std::int64_t steps : {0, 1, 6, 7, 1000}) {
    EXPECT_EQ(step_begin(steps, 0, 7), 0);
    EXPECT_EQ(step_begin(steps, 7, 7), steps);
    for (std::int64_t block = 0; block < 7; ++block) {
      EXPECT_LE(step_begin(steps, block, 7), step_begin(steps, block + 1, 7));
    }
  }
}

TEST(NativePeak, ElementsOfTheLoopAreTheAccumulatorsOfABlock) {
  for (const DataType dtype : {DataType::f32, DataType::f64, DataType::f16}) {
    EXPECT_EQ(find_arithmetic_loop(kGpuArithmetic, dtype)->elements,
              kPeakThreads * kPeakAccumulators);
  }
}

TEST(NativePeak, LoopsOfTheCpuAreRefused) {
  for (const char* tokens : {"fma_avx2", "copy_nt-b1024"}) {
    const auto form = native_form(ops::op_test::problem("peak", tokens));
    ASSERT_FALSE(form.ok()) << tokens;
    EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(form.error().reason, HasSubstr("is a loop of CPUs; a GPU has `fma_cuda`, `read`"));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
