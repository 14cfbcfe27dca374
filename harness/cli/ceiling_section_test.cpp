// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/ceiling_section.hpp"

#include "tests/fakes/plans.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(CeilingSection, ShowsTheIdealTimeOfACase) {
  Ceilings ceilings;
  ceilings.rows = {{"fma_avx2_f32", "", 1, FlopsPerSecond{100e9}},
                   {"read", "dram", 1, BytesPerSecond{10e9}}};
  const Case spec = test::make_case("gemm/forward/m100n100k100/f32/onednn/cpu/hot");
  const auto ideal = ideal_of(spec, std::nullopt, ceilings);
  ASSERT_TRUE(ideal);
  EXPECT_EQ(ideal_text(*ideal),
            "ceilings\n"
            "  ideal time  20.00 us, bound by compute\n"
            "  arithmetic  100.0 GFLOP/s\n"
            "  dram        10.00 GB/s\n"
            "\n");
  EXPECT_FALSE(ideal_of(spec, std::nullopt, Ceilings{}));
}

}  // namespace
}  // namespace bench
