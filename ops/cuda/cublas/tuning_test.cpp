// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/tuning.hpp"

#include "ops/cuda/runtime/test_support.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace bench::ops::cuda {
namespace {

using namespace std::chrono_literals;

Result<FastestCandidate> choose_of(const std::vector<Result<Nanoseconds>>& times) {
  return choose_fastest(times.size(), [&](std::size_t i) { return times[i]; });
}

TEST(ChooseFastest, TakesTheFirstOfTheFastest) {
  const auto choice = choose_of({Nanoseconds(30), Nanoseconds(20), Nanoseconds(20)});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->index, 1u);
  EXPECT_EQ(format_fastest_candidate(*choice, 3), "2 of 3");
}

TEST(ChooseFastest, PassesOverWhatFails) {
  const auto choice = choose_of({Error{"a", "", ""}, Nanoseconds(20), Error{"b", "", ""}});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->index, 1u);
  EXPECT_EQ(format_fastest_candidate(*choice, 3), "2 of 3, 2 failed");
}

TEST(ChooseFastest, SaysWhyNothingCouldBeMeasured) {
  EXPECT_EQ(choose_of({Error{"a", "", ""}, Error{"b", "", ""}}).error().what, "a");
  EXPECT_FALSE(choose_of({}).ok());
}

TEST(TuningTime, IsOfOneExecution) {
  test::ScriptedDevice device;
  test::ScriptedInvocation invocation(*device.runtime, "one", 100us);
  EXPECT_EQ(*measure_tuning_time(device.parts(), invocation), 100us);
  // one run before, one to estimate the time, then three times 2 ms (20 runs)
  EXPECT_EQ(invocation.executions, 1 + 1 + 3 * 20);
}

}  // namespace
}  // namespace bench::ops::cuda
