// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"
#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(CeilingSection, ShowsTheIdealTimeOfACase) {
  Ceilings ceilings;
  ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  const Case spec = test::make_case("gemm/forward/m100n100k100/f32/onednn/cpu/hot");
  const auto ideal = compute_ideal(spec, std::nullopt, ceilings);
  ASSERT_TRUE(ideal);
  EXPECT_EQ(format_ideal(*ideal),
            "ceilings\n"
            "  ideal time  20.00 us, bound by compute\n"
            "  arithmetic  100.0 GFLOP/s\n"
            "  dram        10.00 GB/s\n"
            "\n");
  EXPECT_FALSE(compute_ideal(spec, std::nullopt, Ceilings{}));
}

// Earlier, `explain` compared such a case with the memory, whatever its rotation fits into.
TEST(CeilingSection, TakesTheLevelOfTheDataFromTheRotationOfThePreparedCase) {
  Ceilings ceilings;
  ceilings.caches = {{"l2", {1 << 20}}};
  ceilings.rows = {{"read", "l2", 1, BytesPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  const Case spec = test::make_case("gemm/forward/m100n100k100/f32/onednn/cpu/cold_weights");
  PreparedReply prepared;
  prepared.memory = {{120'000}, {40'000}, {0}};
  prepared.details = {{"cold.sets", "2"}, {"cold.bytes", "80000"}};
  EXPECT_EQ(compute_ideal(spec, prepared, ceilings)->level, "l2");
  prepared.details["cold.bytes"] = "8000000";
  EXPECT_EQ(compute_ideal(spec, prepared, ceilings)->level, "dram");
}

TEST(CeilingSection, UsesTheTensorCorePeakForF16ProductsOnAGpu) {
  Ceilings ceilings;
  ceilings.gpu = "Fake GPU";
  ceilings.capability = "9.0";
  ceilings.rows = {{"gemm_f16", "", 1, FlopsPerSecond{1e12}},
                   {"fma_cuda_f32", "", 1, FlopsPerSecond{1e11}}};
  const Case half = test::make_case("gemm/forward/m128n128k128/f16/cublaslt/cuda/hot");
  EXPECT_EQ(compute_ideal(half, std::nullopt, ceilings)->peak_flops_per_s, FlopsPerSecond{1e12});
  const Case single = test::make_case("gemm/forward/m128n128k128/f32/cublaslt/cuda/hot");
  EXPECT_EQ(compute_ideal(single, std::nullopt, ceilings)->peak_flops_per_s, FlopsPerSecond{1e11});
}

}  // namespace
}  // namespace bench
