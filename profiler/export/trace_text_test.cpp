// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_text.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using Flows = std::vector<TraceFlows::Flow>;
constexpr TraceFlows::Key kKey{100, 7};

TEST(TraceFlows, JoinLaunchAndExecutionInEitherOrder) {
  for (const bool launch_first : {true, false}) {
    TraceFlows flows;
    Flows found;
    if (launch_first) flows.launch(kKey, {10, 20, 1, 2}, found);
    flows.execution(kKey, {15, 40, 9, 7}, found);
    if (!launch_first) flows.launch(kKey, {10, 20, 1, 2}, found);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].leaves, 10);
    EXPECT_EQ(found[0].arrives, 15);
    EXPECT_EQ(found[0].to.tid, 7);
  }
}

TEST(TraceFlows, KeepProcessesApartAndTakeTheInnermostLaunch) {
  TraceFlows flows;
  Flows found;
  flows.launch({100, 7}, {0, 50, 1, 1}, found);
  flows.launch({100, 7}, {5, 20, 1, 1}, found);
  flows.launch({200, 7}, {1, 50, 2, 2}, found);
  flows.execution({100, 7}, {30, 40, 9, 9}, found);
  flows.execution({100, 7}, {40, 50, 9, 9}, found);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].leaves, 5);
  EXPECT_EQ(found[1].arrives, 40);
}

TEST(TraceFlows, NothingArrivesBeforeItLeaves) {
  TraceFlows flows;
  Flows found;
  flows.execution(kKey, {0, 5, 9, 9}, found);
  flows.launch(kKey, {10, 20, 1, 1}, found);
  EXPECT_TRUE(found.empty());
  flows.execution(kKey, {8, 30, 9, 9}, found);  // its clock lags
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].arrives, 10);
}

TEST(TraceFlows, ForgetTheOldestOfVeryMany) {
  TraceFlows flows;
  Flows found;
  for (std::uint64_t i = 0; i < 100'000; ++i) flows.launch({1, i}, {0, 1, 1, 1}, found);
  flows.execution({1, 3}, {2, 3, 9, 9}, found);
  EXPECT_TRUE(found.empty());
  flows.execution({1, 99'999}, {2, 3, 9, 9}, found);
  EXPECT_EQ(found.size(), 1u);
}

}  // namespace
}  // namespace bench
