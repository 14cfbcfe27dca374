// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_two.hpp"

#include "tests/fakes/speed_samples.hpp"

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

constexpr Nanoseconds kFast = 1000ns;
constexpr Nanoseconds kBusy = 1700ns;

struct Round {
  Nanoseconds base, candidate, base_canary, candidate_canary;
};

Duet duet(const std::vector<Round>& rounds) {
  Duet result;
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

const Round kFastRound = {100ns, 100ns, kFast, kFast};
const Round kBusyForCandidate = {100ns, 170ns, kFast, kBusy};
const Round kBusyForBase = {170ns, 100ns, kBusy, kFast};
const Round kInterrupted = {100ns, 900ns, kFast, 0ns};

// The order of the sides is random, so a change of speed within a round hits both equally often.
// Duets that left such rounds out were less precise on every record.
TEST(CountedRounds, IncludeThoseInWhichTheMachineHadAnotherSpeedForEachSide) {
  const Duet measured =
      duet(times(3, kFastRound) + times(10, kBusyForCandidate) + times(10, kBusyForBase));
  EXPECT_THAT(counted_rounds(measured), SizeIs(23));
  EXPECT_THAT(log_ratio(measured), Optional(0.0));
}

// A canary of 0 means that the kernel took the processor away during the sample. Such rounds once
// counted, and the gate called a convolution 10x slower that was 2.9x slower.
TEST(CountedRounds, ARoundInWhichTheKernelInterruptedOneSideDoesNotCount) {
  const Round both = {900ns, 900ns, 0ns, 0ns};
  const Duet measured = duet(times(3, kFastRound) + times(20, kInterrupted) + times(2, both));
  EXPECT_THAT(counted_rounds(measured), ElementsAre(0, 1, 2));
  EXPECT_THAT(log_ratio(measured), Optional(0.0));
  EXPECT_FALSE(is_disturbed(measured));
}

// The page of a gate showed +608 % beside an effect of +196 %: it took all rounds.
TEST(CountedRounds, TheMediansOfBothSidesAreOfTheSameRoundsAsTheEffect) {
  Duet measured = duet(times(3, {200ns, 400ns, kFast, kFast}) + times(20, kInterrupted));
  measured.iterations_per_sample = 2;
  EXPECT_THAT(duet_median(measured, &Duet::base), Optional(100.0));
  EXPECT_THAT(duet_median(measured, &Duet::candidate), Optional(200.0));
  EXPECT_EQ(duet_median(Duet{}, &Duet::base), std::nullopt);
}

TEST(CountedRounds, TooFewUninterruptedOnesMakeADuetDisturbed) {
  EXPECT_TRUE(is_disturbed(duet(times(2, kFastRound) + times(20, kInterrupted))));
  EXPECT_FALSE(is_disturbed(duet(times(3, kFastRound) + times(20, kInterrupted))));
  EXPECT_FALSE(
      is_disturbed(duet(times(3, {170ns, 170ns, kBusy, kBusy}))));  // steadily slow is good
  Duet without_canaries = duet(times(2, kFastRound));
  without_canaries.base_canary.clear();
  EXPECT_FALSE(is_disturbed(without_canaries));
}

TEST(CountedRounds, AreAllIfTooFewAreUninterrupted) {
  const Duet measured = duet(times(2, kFastRound) + times(4, kInterrupted));
  EXPECT_THAT(counted_rounds(measured), SizeIs(6));
  EXPECT_THAT(log_ratio(measured), Optional(DoubleNear(std::log(9), 1e-12)));
}

TEST(CountedRounds, AreAllWhereASideTakesNoCanaries) {
  Duet measured = duet(times(5, kFastRound) + times(20, kInterrupted));
  measured.base_canary.clear();
  EXPECT_THAT(counted_rounds(measured), SizeIs(25));
}

// A window on a slower machine than that of the stored runs.
TEST(Windows, AreComparedWithTheStoreAtEqualSpeed) {
  GateEvidence evidence;
  evidence.settings.detect = 0.05;
  CaseEvidence entry;
  entry.stored.emplace();
  entry.stored->runs = 10;
  entry.stored->q99 = 0.01;
  entry.stored->log_level = std::log(1000);
  TimesBySpeed stored = test::times_at(1000, 1500ns);
  stored.cells.push_back({std::nullopt, 2200ns, 20, Picoseconds(1'400'000)});
  entry.stored->by_speed = stored;
  const auto judge = [&](double nanoseconds) {
    entry.windows.clear();
    for (int i = 0; i < 3; ++i) {
      entry.windows.push_back(
          {"run", "a", i, {{Nanoseconds(1400), 1}}, test::times_at(nanoseconds, 2200ns)});
    }
    CaseAssessment judgement;
    judge_windows(entry, evidence, judgement);
    return judgement;
  };
  EXPECT_EQ(judge(1400).verdict, Verdict::pass);
  EXPECT_NEAR(*judge(1400).effect, 0, 1e-3);
  EXPECT_EQ(judge(1600).verdict, Verdict::regression);
  EXPECT_NEAR(*judge(1600).effect, 1600.0 / 1400 - 1, 1e-3);
  EXPECT_EQ(judge(1200).verdict, Verdict::improved);
}

}  // namespace
}  // namespace bench
