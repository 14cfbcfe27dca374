// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_two.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Optional;
using testing::SizeIs;

constexpr Nanoseconds kLevel = 1000ns;
constexpr Nanoseconds kBusy = 1700ns;

struct Round {
  Nanoseconds base, candidate, base_canary, candidate_canary;
};

Duet duet(const std::vector<Round>& rounds) {
  Duet result;
  result.quiet_level = kLevel;
  for (const Round& round : rounds) {
    result.base.push_back(round.base);
    result.candidate.push_back(round.candidate);
    result.base_canary.push_back(round.base_canary);
    result.candidate_canary.push_back(round.candidate_canary);
  }
  return result;
}

std::vector<Round> times(std::size_t count, const Round& round) {
  return std::vector<Round>(count, round);
}

std::vector<Round> operator+(std::vector<Round> left, const std::vector<Round>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const Round kQuietRound = {100ns, 100ns, kLevel, kLevel};
const Round kHalfBusy = {100ns, 170ns, kLevel, kBusy};
const Round kBusyOnBothSides = {170ns, 170ns, kBusy, kBusy};

TEST(CountedRounds, AreThoseInWhichTheMachineWasQuietBesideBothSamples) {
  const Duet measured = duet(times(5, kQuietRound) + times(20, kHalfBusy));
  EXPECT_THAT(counted_rounds(measured), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(log_ratio(measured), Optional(0.0));
}

// A canary of 0 means that the kernel took the processor away during the sample. Only the larger
// canary of a round was compared with the quiet level, so such rounds counted as quiet. The gate
// called a convolution 10x slower that was 2.9x slower.
TEST(CountedRounds, ARoundInWhichTheKernelInterruptedOneSideIsNotQuiet) {
  const Round interrupted = {100ns, 900ns, kLevel, 0ns};
  const Duet measured = duet(times(3, kQuietRound) + times(20, interrupted));
  EXPECT_THAT(counted_rounds(measured), ElementsAre(0, 1, 2));
  EXPECT_THAT(log_ratio(measured), Optional(0.0));
  EXPECT_FALSE(is_disturbed(measured));
}

// The page of a gate showed +608 % beside an effect of +196 %: it took all rounds.
TEST(CountedRounds, TheMediansOfBothSidesAreOfTheSameRoundsAsTheEffect) {
  const Round interrupted = {100ns, 900ns, kLevel, 0ns};
  Duet measured = duet(times(3, {200ns, 400ns, kLevel, kLevel}) + times(20, interrupted));
  measured.iterations_per_sample = 2;
  EXPECT_THAT(duet_median(measured, &Duet::base), Optional(100.0));
  EXPECT_THAT(duet_median(measured, &Duet::candidate), Optional(200.0));
  EXPECT_EQ(duet_median(Duet{}, &Duet::base), std::nullopt);
}

TEST(CountedRounds, TooFewQuietOnesMakeADuetDisturbed) {
  EXPECT_TRUE(is_disturbed(duet(times(2, kQuietRound) + times(20, kHalfBusy))));
  EXPECT_FALSE(is_disturbed(duet(times(3, kQuietRound) + times(20, kHalfBusy))));
  Duet without_canaries = duet(times(2, kQuietRound));
  without_canaries.base_canary.clear();
  EXPECT_FALSE(is_disturbed(without_canaries));
}

TEST(CountedRounds, ElseThoseInWhichItWasTheSameBesideBoth) {
  const Duet measured =
      duet(times(2, kQuietRound) + times(20, kHalfBusy) + times(6, kBusyOnBothSides));
  EXPECT_THAT(counted_rounds(measured), SizeIs(8));
  EXPECT_THAT(log_ratio(measured), Optional(0.0));
}

TEST(CountedRounds, ElseAll) {
  const Duet measured = duet(times(2, kQuietRound) + times(20, kHalfBusy));
  EXPECT_THAT(counted_rounds(measured), SizeIs(22));
  EXPECT_THAT(log_ratio(measured), Optional(DoubleNear(std::log(1.7), 1e-12)));
}

TEST(CountedRounds, AreAllWhereASideTakesNoCanaries) {
  Duet measured = duet(times(5, kQuietRound) + times(20, kHalfBusy));
  measured.base_canary.clear();
  EXPECT_THAT(counted_rounds(measured), SizeIs(25));
}

}  // namespace
}  // namespace bench
