// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/tuning.hpp"

#include "ops/backend/choice_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using namespace std::chrono_literals;

// A candidate whose executions take scripted times: one for each sample, the last one repeated.
// The first sample only estimates. `clocks` are those of the samples, in Hz.
TuningCandidate scripted(std::string name, std::vector<Nanoseconds> times,
                         std::vector<std::int64_t> clocks = {}) {
  auto sample = [times = std::move(times), clocks = std::move(clocks),
                 next = std::size_t{0}](std::int64_t iterations) mutable -> Result<DeviceSample> {
    DeviceSample result;
    result.device = times[std::min(next, times.size() - 1)] * iterations;
    if (!clocks.empty()) result.clock_hz = clocks[std::min(next, clocks.size() - 1)];
    ++next;
    return result;
  };
  return {std::move(name), std::move(sample)};
}

TuningCandidate failing(std::string name) {
  return {std::move(name), [](std::int64_t) -> Result<DeviceSample> {
            return Error{"it does not run", "", ""};
          }};
}

TunedChoice choose(std::vector<TuningCandidate> candidates) {
  auto choice = choose_fastest(candidates);
  EXPECT_TRUE(choice.ok()) << (choice ? "" : choice.error().message());
  return choice ? *std::move(choice) : TunedChoice{};
}

TEST(ChooseFastest, TakesTheFastest) {
  const TunedChoice choice =
      choose({scripted("a", {30us}), scripted("b", {20us}), scripted("c", {25us})});
  EXPECT_EQ(choice.best, 1u);
  EXPECT_EQ(choice.text(), "default 30.00 us, chosen 20.00 us: 2 of 3");
  EXPECT_EQ(choice.candidates_text(), "a 30.00 us; b 20.00 us; c 25.00 us");
}

TEST(ChooseFastest, KeepsTheRunnersUpAsTheRegretOfTheDefault) {
  std::map<std::string, std::string> details;
  choose({scripted("a", {30us}), scripted("b", {20us}), failing("c")}).add_to(details);
  const auto regret = take_regret(details);
  ASSERT_TRUE(regret.has_value());
  EXPECT_EQ(*regret,
            (Regret{"a",
                    30us,
                    "b",
                    20us,
                    {{"a", 30us, ""}, {"b", 20us, ""}, {"c", std::nullopt, "it does not run"}}}));
  EXPECT_EQ(regret->cost(), 0.5);
}

// The other candidate won four rounds of five, and its median is shorter.
TEST(ChooseFastest, ADifferenceWithinTheNoiseIsNoRegret) {
  const TunedChoice choice =
      choose({scripted("a", {10us}), scripted("b", {9us, 9us, 9us, 9us, 9us, 10us})});
  const auto regret = choice.regret();
  ASSERT_TRUE(regret.has_value());
  EXPECT_FALSE(regret->has_cost());
  EXPECT_EQ(regret->best_time, 10us);
  EXPECT_EQ(regret->candidates[1].time, 9us);
}

TEST(ChooseFastest, WithoutAMeasurementThereIsNoRegret) {
  TunedChoice choice;
  choice.reason = "not enough memory";
  std::map<std::string, std::string> details;
  choice.add_to(details);
  EXPECT_EQ(details, (std::map<std::string, std::string>{{"tuned", "no: not enough memory"}}));
}

TEST(ChooseFastest, NoiseOfOnePercentKeepsTheDefault) {
  const TunedChoice choice = choose({scripted("a", {10'000ns}), scripted("b", {9'900ns})});
  EXPECT_EQ(choice.best, 0u);
  EXPECT_EQ(choice.text(), "default 10.00 us, kept: 1 of 2");
}

TEST(ChooseFastest, OneRoundThatIsNotFasterKeepsTheDefault) {
  const std::vector<Nanoseconds> times = {9us, 9us, 9us, 9us, 9us, 10us};
  EXPECT_EQ(choose({scripted("a", {10us}), scripted("b", times)}).best, 0u);
  EXPECT_EQ(choose({scripted("a", {10us}), scripted("b", {9us})}).best, 1u);
}

// The times of one sample that estimates and of five rounds, then those of the further rounds.
std::vector<Nanoseconds> in_rounds_then(Nanoseconds first, Nanoseconds further) {
  std::vector<Nanoseconds> times(6, first);
  times.push_back(further);
  return times;
}

// On a busy machine with two processors, 4 of 24 choices cost 34 to 400 %, and none of these costs
// appeared in the next run.
TEST(ChooseFastest, AWinnerThatDoesNotWinAgainKeepsTheDefault) {
  const TunedChoice choice =
      choose({scripted("a", in_rounds_then(30us, 10us)), scripted("b", {10us})});
  EXPECT_EQ(choice.best, 0u);
  EXPECT_FALSE(choice.regret()->has_cost());
  EXPECT_EQ(choice.candidates_text(), "a 30.00 us; b 10.00 us");
}

// The fastest of several equal candidates looks faster than it is.
TEST(ChooseFastest, TheTimesOfTheWinnerAndTheDefaultAreThoseOfTheFurtherRounds) {
  const TunedChoice choice = choose(
      {scripted("a", in_rounds_then(31us, 30us)), scripted("b", in_rounds_then(20us, 24us))});
  EXPECT_EQ(choice.text(), "default 30.00 us, chosen 24.00 us: 2 of 2");
  EXPECT_EQ(choice.regret()->cost(), 0.25);
}

TEST(ChooseFastest, TheNextWinnerIsTakenIfItWinsAgain) {
  const TunedChoice choice = choose(
      {scripted("a", {30us}), scripted("b", in_rounds_then(20us, 40us)), scripted("c", {25us})});
  EXPECT_EQ(choice.best, 2u);
  EXPECT_EQ(choice.text(), "default 30.00 us, chosen 25.00 us: 3 of 3");
}

// Each sample of the default takes three times as long at first, because another program runs.
TEST(ChooseFastest, ASpoiledSampleIsTakenAgain) {
  int samples = 0;
  TuningCandidate disturbed{"a", [&](std::int64_t iterations) -> Result<DeviceSample> {
                              DeviceSample sample;
                              sample.device = (samples % 2 == 0 ? 30us : 10us) * iterations;
                              if (samples % 2 == 0) sample.verdict = SampleVerdict::voided;
                              ++samples;
                              return sample;
                            }};
  const TunedChoice choice = choose({disturbed, scripted("b", {10us})});
  EXPECT_EQ(choice.text(), "default 10.00 us, kept: 1 of 2");
  EXPECT_EQ(samples, 12) << "two per round, and two that estimate";
}

TEST(ChooseFastest, OfSpoiledSamplesTheShortestCounts) {
  int samples = 0;
  TuningCandidate disturbed{"a", [&](std::int64_t iterations) -> Result<DeviceSample> {
                              DeviceSample sample;
                              sample.device = (samples % 5 == 2 ? 10us : 30us) * iterations;
                              sample.verdict = SampleVerdict::voided;
                              ++samples;
                              return sample;
                            }};
  EXPECT_EQ(choose({disturbed, scripted("b", {10us})}).text(), "default 10.00 us, kept: 1 of 2");
}

// The device lowers its clock while the default is measured, and raises it again for the others.
TEST(ChooseFastest, ComparesCyclesAndNotTimes) {
  const TunedChoice choice =
      choose({scripted("a", {11us}, {1'400'000'000}), scripted("b", {10us}, {1'540'000'000})});
  EXPECT_EQ(choice.best, 0u);
  // Without the clocks, only the times are known.
  EXPECT_EQ(choose({scripted("a", {11us}), scripted("b", {10us}, {1'540'000'000})}).best, 1u);
}

// Seen on an H100: an engine with fewer cycles lowered the clock and took more time.
TEST(ChooseFastest, FewerCyclesWithoutLessTimeKeepTheDefault) {
  EXPECT_EQ(
      choose({scripted("a", {18us}, {1'936'000'000}), scripted("b", {18us}, {1'800'000'000})}).best,
      0u);
}

TEST(ChooseFastest, PassesOverWhatFails) {
  const TunedChoice choice = choose({failing("a"), scripted("b", {20us}), failing("c")});
  EXPECT_EQ(choice.best, 1u);
  EXPECT_EQ(choice.text(), "default 20.00 us, kept: 2 of 3");
  EXPECT_EQ(choice.candidates_text(),
            "a failed: it does not run; b 20.00 us; c failed: it does not run");
}

TEST(ChooseFastest, SaysWhyNothingCouldBeMeasured) {
  const std::vector<TuningCandidate> candidates = {failing("a")};
  EXPECT_EQ(choose_fastest(candidates).error().what, "it does not run");
  EXPECT_FALSE(choose_fastest({}).ok());
}

TEST(ChooseFastest, MeasuresInRounds) {
  std::string order;
  const auto recorded = [&](std::string name) {
    return TuningCandidate{name, [&order, name](std::int64_t iterations) -> Result<DeviceSample> {
                             order += name;
                             DeviceSample sample;
                             sample.device = 100us * iterations;
                             return sample;
                           }};
  };
  choose({recorded("a"), recorded("b"), recorded("c")});
  EXPECT_EQ(order,
            "abc"
            "abc"
            "cba"
            "abc"
            "cba"
            "abc");
}

TEST(ChooseFastest, DoesNotMeasureAHopelessCandidateAgain) {
  int samples = 0;
  TuningCandidate slow{"b", [&](std::int64_t iterations) -> Result<DeviceSample> {
                         ++samples;
                         DeviceSample sample;
                         sample.device = 1ms * iterations;
                         return sample;
                       }};
  EXPECT_EQ(choose({scripted("a", {100us}), slow}).best, 0u);
  EXPECT_EQ(samples, 1);
}

// A worker makes several cases. The choices of each are its own, also if it uses a kernel again.
TEST(ChoiceStore, HoldsTheChoicesOfTheCurrentCase) {
  ChoiceStore store;
  store.note("a", "1");
  EXPECT_EQ(store.text(), "a\t1\n");
  store.fix("");
  EXPECT_EQ(store.text(), "");
  store.note("b", "2");
  store.note_again("a");
  store.note_again("never noted");
  EXPECT_EQ(store.text(), "a\t1\nb\t2\n");
}

}  // namespace
}  // namespace bench::ops
