// SPDX-License-Identifier: Apache-2.0
#include "harness/result/record.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Names, StandAtTheirEnumerators) {
  const auto name = [](std::span<const std::string_view> names, auto value) {
    return names[static_cast<std::size_t>(value)];
  };
  EXPECT_EQ(name(outcome_names(), Outcome::ok), "ok");
  EXPECT_EQ(name(outcome_names(), Outcome::wrong_result), "wrong_result");
  EXPECT_EQ(name(outcome_names(), Outcome::unsupported), "unsupported");
  EXPECT_EQ(name(outcome_names(), Outcome::skipped), "skipped");
  EXPECT_EQ(name(outcome_names(), Outcome::crashed), "crashed");
  EXPECT_EQ(name(outcome_names(), Outcome::timed_out), "timed_out");
  EXPECT_EQ(name(outcome_names(), Outcome::failed), "failed");
  EXPECT_EQ(name(flag_names(), Flag::noisy), "noisy");
  EXPECT_EQ(name(flag_names(), Flag::unsteady), "unsteady");
  EXPECT_EQ(name(flag_names(), Flag::above_ceiling), "above_ceiling");
  EXPECT_EQ(name(flag_names(), Flag::throttled), "throttled");
  EXPECT_EQ(name(flag_names(), Flag::interrupted), "interrupted");
  EXPECT_EQ(name(stop_reason_names(), StopReason::precision), "precision");
  EXPECT_EQ(name(stop_reason_names(), StopReason::max_time), "max_time");
  EXPECT_EQ(name(stop_reason_names(), StopReason::budget), "budget");
  EXPECT_EQ(name(stop_reason_names(), StopReason::interrupted), "interrupted");
}

TEST(Names, OfAnOutcomeIsThatOfItsEnumerator) {
  EXPECT_EQ(to_string(Outcome::ok), "ok");
  EXPECT_EQ(to_string(Outcome::failed), "failed");
}

}  // namespace
}  // namespace bench
