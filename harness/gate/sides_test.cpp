// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/sides.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Time that passes with each read, so that every wait ends, once a file exists.
class PassingClock final : public Clock {
 public:
  Nanoseconds now() override {
    if (!start_.empty() && !std::filesystem::exists(start_)) return time_;
    return time_ += 500ms;
  }
  Nanoseconds passed() const { return time_; }
  void start_at(std::string file) { start_ = std::move(file); }

 private:
  Nanoseconds time_{0};
  std::string start_;  // empty: time passes from the beginning
};

class FindSide : public testing::Test {
 protected:
  Result<GateSide> find(const std::string& script, std::optional<Nanoseconds> budget) {
    const std::string path = folder_.write("side", "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const TimeLimit limit(budget, interrupted_, clock_);
    return find_side(path, {}, limit, clock_);
  }

  test::TemporaryFolder folder_;
  PassingClock clock_;
  std::function<bool()> interrupted_;
};

// Each side had the whole budget for itself, at least 5 s, and 10 s for its end.
TEST_F(FindSide, WaitsForASilentProgramOnlyUntilTheBudgetEnds) {
  const auto side = find("exec tail -f /dev/null\n", 12s);
  ASSERT_FALSE(side.ok());
  EXPECT_THAT(side.error().message(), HasSubstr("before the budget ended"));
  EXPECT_GE(clock_.passed(), 12s);
  EXPECT_LE(clock_.passed(), 12s + kBudgetGrace + 6s) << "a few reads of the clock";
}

TEST_F(FindSide, WaitsForTheEndOfAProgramOnlyUntilTheBudgetEnds) {
  // A busy machine may start the program late.
  const std::string has_answered = folder_.path() + "/has_answered";
  clock_.start_at(has_answered);
  const auto side =
      find("echo 'bench 1.2.3'\n: >'" + has_answered + "'\nexec tail -f /dev/null\n", 1s);
  ASSERT_TRUE(side.ok()) << side.error().message();
  EXPECT_EQ(side->tool_version, "1.2.3");
  EXPECT_LE(clock_.passed(), 1s + kBudgetGrace + 3s);
}

TEST_F(FindSide, AnInterruptionEndsTheWait) {
  interrupted_ = [] { return true; };
  const auto side = find("exec tail -f /dev/null\n", std::nullopt);
  ASSERT_FALSE(side.ok());
  EXPECT_THAT(side.error().message(), HasSubstr("interrupted"));
}

}  // namespace
}  // namespace bench
