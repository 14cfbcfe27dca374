// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/variant_trial.hpp"

#include "tests/fakes/coordinator_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// The time of an iteration depends only on what is computed. Both sides are one program.
class VariantTrialTest : public test::CoordinatorTest {
 protected:
  VariantTrialTest() : spec_(make_case("m4n4k4")) {}

  static Case make_case(const std::string& parameters) {
    return test::make_case("gemm/forward/" + parameters + "/f32/onednn/cpu/hot/t1",
                           test::measure(5), test::kShortWarmup);
  }
  void add_variant(std::string_view name, const std::string& parameters, Nanoseconds time) {
    PlannedVariant planned;
    planned.variant.name = name;
    planned.spec = make_case(parameters);
    planned.variant.key = planned.spec.key;
    variants_.push_back(std::move(planned));
    set_time(parameters, time);
  }
  void set_time(const std::string& parameters, Nanoseconds time) {
    scripts_[ops::problem_tokens(std::get<ops::Problem>(make_case(parameters).work))].run =
        [time](std::int64_t) { return time; };
  }

  std::vector<VariantResult> measure(std::optional<Nanoseconds> budget = std::nullopt) {
    GateParts parts;
    parts.start_base = parts.start_candidate = parts_.start_worker;
    parts.hello = {kProtocolVersion, Bytes{0}, std::nullopt};
    parts.pause = [this](Nanoseconds time) { clock_.advance(time); };
    parts.progress = [this](const GateStep& step) { steps_left_.push_back(step.steps_left); };
    const TimeLimit limit(
        budget, [this] { return interrupted_; }, clock_);
    return try_variants({&spec_, &variants_, kDuets}, parts, limit, clock_);
  }

  static constexpr int kDuets = 6;
  Case spec_;
  std::vector<PlannedVariant> variants_;
  std::vector<std::size_t> steps_left_;
  bool interrupted_ = false;
};

TEST_F(VariantTrialTest, EachVariantHasItsRatioToTheCase) {
  set_time("m4n4k4", 100us);
  add_variant("half", "m4n4k8", 50us);
  add_variant("same", "m4n4k16", 100us);
  const auto results = measure();
  ASSERT_EQ(results.size(), 2U);
  ASSERT_TRUE(results[0].effect) << results[0].reason;
  EXPECT_DOUBLE_EQ(results[0].effect->ratio, 0.5);
  EXPECT_EQ(results[0].effect->duets, kDuets);
  EXPECT_EQ(results[0].effect->case_time, 100us);
  EXPECT_EQ(results[0].effect->variant_time, 50us);
  EXPECT_EQ(judge_variant(*results[0].effect), VariantVerdict::faster);
  ASSERT_TRUE(results[1].effect) << results[1].reason;
  EXPECT_DOUBLE_EQ(results[1].effect->ratio, 1);
  EXPECT_EQ(steps_left_.front(), 2U * kDuets);
  EXPECT_EQ(steps_left_.back(), 1U);
}

TEST_F(VariantTrialTest, ASavedCaseIsMeasuredBesideTheSameCase) {
  set_time("m4n4k4", 100us);
  add_variant("fused", "m4n4k8", 110us);
  set_time("m4n4k16", 20us);
  variants_[0].saved = make_case("m4n4k16");
  const auto results = measure();
  ASSERT_TRUE(results[0].effect) << results[0].reason;
  EXPECT_NEAR(results[0].effect->ratio, 110.0 / 120, 1e-9);
  EXPECT_EQ(results[0].effect->saved_time, 20us);
}

TEST_F(VariantTrialTest, AVariantThatFailsHasAReasonAndTheOthersAreMeasured) {
  set_time("m4n4k4", 100us);
  add_variant("wrong", "m4n4k8", 50us);
  add_variant("right", "m4n4k16", 80us);
  scripts_[ops::problem_tokens(std::get<ops::Problem>(variants_[0].spec.work))].wrong_element = 3;
  const auto results = measure();
  EXPECT_FALSE(results[0].effect);
  EXPECT_THAT(results[0].reason, HasSubstr("1 of 16 compared elements are wrong"));
  ASSERT_TRUE(results[1].effect) << results[1].reason;
  EXPECT_NEAR(results[1].effect->ratio, 0.8, 1e-9);
}

TEST_F(VariantTrialTest, AFailureOfTheCaseIsNamedAsOne) {
  add_variant("half", "m4n4k8", 50us);
  scripts_[ops::problem_tokens(std::get<ops::Problem>(spec_.work))].wrong_element = 3;
  const auto results = measure();
  EXPECT_FALSE(results[0].effect);
  EXPECT_THAT(results[0].reason, HasSubstr("the case itself: "));
}

TEST_F(VariantTrialTest, TheBudgetLeavesFewerDuetsAndSaysSo) {
  set_time("m4n4k4", 1ms);
  add_variant("half", "m4n4k8", 500us);
  const auto results = measure(300ms);
  ASSERT_TRUE(results[0].effect) << results[0].reason;
  EXPECT_LT(results[0].effect->duets, kDuets);
  EXPECT_EQ(results[0].reason, "the budget ended");
  EXPECT_EQ(results[0].stopped, StopCause::budget);
}

TEST_F(VariantTrialTest, AnInterruptedTrialHasNoEffect) {
  add_variant("half", "m4n4k8", 50us);
  interrupted_ = true;
  const auto results = measure();
  EXPECT_FALSE(results[0].effect);
  EXPECT_EQ(results[0].reason, "interrupted");
  EXPECT_EQ(results[0].stopped, StopCause::interruption);
}

}  // namespace
}  // namespace bench
