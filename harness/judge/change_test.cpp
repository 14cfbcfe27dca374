// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Changes, StandInTheOrderOfTheirNames) {
  EXPECT_THAT(changes_between({{"b", "1"}, {"c", "same"}, {"d", "1"}},
                              {{"a", "2"}, {"b", "2"}, {"c", "same"}}),
              ElementsAre(Change{"a", std::nullopt, "2"}, Change{"b", "1", "2"},
                          Change{"d", "1", std::nullopt}));
}

TEST(Changes, OfRunsOmitFactsThatAlwaysDiffer) {
  EXPECT_THAT(run_changes({{"load_1min", "0.1"},
                           {"memory.available_bytes", "1"},
                           {"arena.bytes", "1"},
                           {"config.files", "a.yaml"},
                           {"clock.now_khz", "2800000"},
                           {"clock.now_mhz", "2800.000"},
                           {"governor", "performance"}},
                          {{"load_1min", "0.2"},
                           {"memory.available_bytes", "2"},
                           {"clock.now_khz", "2700000"},
                           {"clock.now_mhz", "2700.000"}}),
              ElementsAre(Change{"governor", "performance", std::nullopt}));
}

TEST(Changes, OfACaseCompareOnlyPropertiesOfBothSides) {
  const ExactProperties known = {"jit:avx2", {{"layout.source", "ab"}, {"output.digest", "aa"}}};
  const ExactProperties other = {"jit:sse41",
                                 {{"layout.source", "ba"}, {"output.digest", "varies"}}};
  EXPECT_THAT(case_changes(known, other),
              ElementsAre(Change{"implementation", "jit:avx2", "jit:sse41"},
                          Change{"layout.source", "ab", "ba"}));
  EXPECT_THAT(case_changes(known, {}), IsEmpty());
  EXPECT_THAT(case_changes({}, known), IsEmpty());
}

TEST(Changes, InWords) {
  EXPECT_EQ(format_changes({{"onednn", "3.1", "3.2"}, {"thp", std::nullopt, "always"}}),
            "onednn 3.1 -> 3.2; thp n/a -> always");
  EXPECT_EQ(format_changes({}), "");
}

}  // namespace
}  // namespace bench
