// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace bench {
namespace {

Env terminal_with(std::map<std::string, std::string> variables) {
  Env env{};
  env.out_is_terminal = true;
  env.variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return env;
}

TEST(UseColour, OnATerminalOnly) {
  Env env = terminal_with({{"TERM", "xterm"}});
  EXPECT_TRUE(env.use_colour());
  env.out_is_terminal = false;
  env.err_is_terminal = true;
  EXPECT_FALSE(env.use_colour());
}

TEST(UseColour, NeverWithNoColorOrADumbTerminal) {
  EXPECT_TRUE(terminal_with({}).use_colour());
  EXPECT_FALSE(terminal_with({{"NO_COLOR", "1"}}).use_colour());
  EXPECT_FALSE(terminal_with({{"NO_COLOR", ""}}).use_colour());
  EXPECT_FALSE(terminal_with({{"TERM", "dumb"}}).use_colour());
}

TEST(MonotonicClock, NeverGoesBack) {
  MonotonicClock clock;
  Nanoseconds before = clock.now();
  for (int i = 0; i < 1'000; ++i) {
    const Nanoseconds after = clock.now();
    EXPECT_GE(after, before);
    before = after;
  }
}

TEST(RealEnv, ReadsTheProcessEnvironment) {
  MonotonicClock clock;
  const Env env = real_env(clock);
  EXPECT_EQ(env.clock, &clock);
  EXPECT_FALSE(env.variable("BENCH_A_NAME_THAT_NOBODY_SETS"));
  ASSERT_EQ(setenv("BENCH_ENV_TEST", "value", 1), 0);
  EXPECT_EQ(env.variable("BENCH_ENV_TEST"), "value");
  unsetenv("BENCH_ENV_TEST");
}

TEST(RealEnv, UtcInTheFormOfRecords) {
  MonotonicClock clock;
  const std::string now = real_env(clock).utc_now();
  std::string shape = now;
  for (char& c : shape) {
    if (c >= '0' && c <= '9') c = '0';
  }
  EXPECT_EQ(shape, "0000-00-00T00:00:00Z") << now;
  EXPECT_EQ(now.substr(0, 2), "20");
}

}  // namespace
}  // namespace bench
