// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

namespace bench {
namespace {

TEST(Bisect, OnlyAnAnswerIsNotSkipped) {
  std::ostringstream messages;
  Env env;
  env.err = &messages;
  EXPECT_EQ(bisect_status("gate", ExitStatus::success, env), ExitStatus::success);
  EXPECT_EQ(bisect_status("gate", ExitStatus::regression, env), ExitStatus::regression);
  EXPECT_EQ(messages.str(), "");
  for (const ExitStatus status : {ExitStatus::usage, ExitStatus::not_measured,
                                  ExitStatus::undecided, ExitStatus::nothing_comparable}) {
    EXPECT_EQ(static_cast<int>(bisect_status("gate", status, env)), 125);
  }
  EXPECT_THAT(messages.str(), testing::StartsWith("bench gate: this commit was not decided (exit "
                                                  "status 2 without --bisect), so `git bisect run` "
                                                  "skips it\n"));
}

TEST(Bisect, IsAskedForByAWrongCommandLineToo) {
  constexpr std::array<const char*, 4> kWrong = {"bench", "gate", "--bisect", "--wrong"};
  EXPECT_TRUE(asks_for_bisect(kWrong.size(), kWrong.data()));
  EXPECT_FALSE(asks_for_bisect(2, kWrong.data()));
}

}  // namespace
}  // namespace bench
