// SPDX-License-Identifier: Apache-2.0
#include "ops/regret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace bench::ops {
namespace {

using namespace std::chrono_literals;
using Details = std::map<std::string, std::string>;

Regret regret_of_three() {
  return {"jit:avx512_core",
          5600ns,
          "brgconv:avx512_core",
          5000ns,
          {{"jit:avx512_core", 5600ns, ""},
           {"brgconv:avx512_core", 5000ns, ""},
           {"gemm:jit", std::nullopt, "not enough memory for conv forward f32"}}};
}

TEST(Regret, IsTheTimeThatTheChoiceTakesMoreThanTheBest) {
  EXPECT_TRUE(regret_of_three().has_cost());
  EXPECT_NEAR(regret_of_three().cost(), 0.12, 1e-12);
  Regret same = regret_of_three();
  same.best = same.chosen;
  same.best_time = same.chosen_time;
  EXPECT_FALSE(same.has_cost());
  EXPECT_EQ(same.cost(), 0);
}

// A plugin or a file may state any times. The cost was negative.
TEST(Regret, ABestThatIsNotFasterIsNoCost) {
  for (const Nanoseconds time : {5600ns, 5700ns, 0ns}) {
    Regret regret = regret_of_three();
    regret.best_time = time;
    EXPECT_FALSE(regret.has_cost()) << time.count();
    EXPECT_EQ(regret.cost(), 0);
  }
}

TEST(Regret, IsAComparisonIfAnotherCandidateHasATime) {
  Regret regret = regret_of_three();
  EXPECT_TRUE(regret.is_compared());
  regret.best = regret.chosen;
  regret.best_time = regret.chosen_time;
  EXPECT_TRUE(regret.is_compared()) << "the other one was measured, and is not faster";
  regret.candidates[1].time.reset();
  EXPECT_FALSE(regret.is_compared()) << "all others failed";
  regret.candidates.resize(1);
  EXPECT_FALSE(regret.is_compared());
}

TEST(Regret, PassesThroughTheDetailsOfAKernel) {
  Details details = {{"tuned", "default 5.600 us, chosen 5.000 us: 2 of 3"}};
  add_details(regret_of_three(), details);
  EXPECT_EQ(details.at("regret.chosen"), "jit:avx512_core");
  EXPECT_EQ(details.at("regret.best"), "brgconv:avx512_core");
  EXPECT_EQ(details.at("regret.candidates"),
            "jit:avx512_core\t5600\n"
            "brgconv:avx512_core\t5000\n"
            "gemm:jit\tfailed: not enough memory for conv forward f32\n");
  EXPECT_EQ(take_regret(details), regret_of_three());
  EXPECT_EQ(details, (Details{{"tuned", "default 5.600 us, chosen 5.000 us: 2 of 3"}}));
  EXPECT_EQ(take_regret(details), std::nullopt);
}

TEST(Regret, NamesAndReasonsStayWithinTheirLines) {
  Regret regret{"a\tb", 2us, "a\tb", 2us, {{"a\tb", 2us, ""}, {"c", std::nullopt, "one\ntwo"}}};
  Details details;
  add_details(regret, details);
  const auto taken = take_regret(details);
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->chosen, "a b");
  EXPECT_EQ(taken->candidates.back().failure, "one two");
}

TEST(Regret, MalformedDetailsStayDetails) {
  const Details complete = {
      {"regret.chosen", "a"}, {"regret.best", "b"}, {"regret.candidates", "a\t20\nb\t10\n"}};
  Details details = complete;
  ASSERT_TRUE(take_regret(details).has_value());
  for (const auto& [name, value] : Details{{"regret.chosen", "c"},
                                           {"regret.best", ""},
                                           {"regret.candidates", "a\t20\nb\tfailed: it did\n"},
                                           {"regret.candidates", "a\t20\nb\t-10\n"},
                                           {"regret.candidates", "a\t20\nb\n"}}) {
    details = complete;
    details[name] = value;
    const Details before = details;
    EXPECT_EQ(take_regret(details), std::nullopt) << name << ' ' << value;
    EXPECT_EQ(details, before);
  }
  details = complete;
  details.erase("regret.best");
  EXPECT_EQ(take_regret(details), std::nullopt);
}

}  // namespace
}  // namespace bench::ops
