// SPDX-License-Identifier: Apache-2.0
// Tests decisions if the device's clock is recorded on both sides: a regression needs more time and
// more cycles.
#include "harness/judge/decide.hpp"
#include "harness/judge/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace bench {
namespace {

using test::add_duets;
using test::kBase;
using test::measured;
using test::paired;
using test::stored;
using testing::HasSubstr;

// Sets the clocks of both sides in all duets.
void set_clocks(CaseEvidence& entry, std::int64_t base_hz, std::int64_t candidate_hz) {
  for (Duet& duet : entry.duets) {
    duet.base_clock_hz.assign(duet.base.size(), base_hz);
    duet.candidate_clock_hz.assign(duet.candidate.size(), candidate_hz);
  }
}

CaseAssessment judged_on_device(std::int64_t base_hz, std::int64_t candidate_hz) {
  CaseEvidence entry = measured("a");
  const GatePolicy policy;
  add_duets(entry, Duet::Stage::first, 2 * policy.first_duets, 0.05, 0.001);
  add_duets(entry, Duet::Stage::confirmation, policy.last_confirmations, 0.05, 0.001);
  set_clocks(entry, base_hz, candidate_hz);
  return decide(paired({entry})).judgements.at(0);
}

TEST(DecideOnADevice, ARegressionNeedsMoreCyclesToo) {
  EXPECT_EQ(judged_on_device(1'700'000'000, 1'700'000'000).verdict, Verdict::regression);
  // 5 % more time at a clock that is 5 % lower: equal cycles.
  const CaseAssessment judgement = judged_on_device(1'785'000'000, 1'700'000'000);
  EXPECT_EQ(judgement.verdict, Verdict::suspect);
  EXPECT_THAT(judgement.reason, HasSubstr("time grew, but GPU cycles changed by "));
  EXPECT_THAT(judgement.reason, HasSubstr(" %; the device's clock was 1.78 GHz for the base, "
                                          "1.70 GHz for the candidate"));
  EXPECT_NEAR(*judgement.effect, 0.05, 0.001);
}

TEST(DecideOnADevice, TimeAloneDecidesIfAClockIsMissing) {
  CaseEvidence entry = measured("a");
  const GatePolicy policy;
  add_duets(entry, Duet::Stage::first, 2 * policy.first_duets, 0.05, 0.001);
  add_duets(entry, Duet::Stage::confirmation, policy.last_confirmations, 0.05, 0.001);
  set_clocks(entry, 1'785'000'000, 1'700'000'000);
  entry.duets.back().base_clock_hz.clear();
  EXPECT_EQ(decide(paired({entry})).judgements.at(0).verdict, Verdict::regression);
}

TEST(DecideOnADevice, WithoutABaseTheStoredClockIsCompared) {
  GateEvidence evidence;
  evidence.mode = GateEvidence::Mode::store_only;
  CaseEvidence entry = measured("a");
  entry.stored = stored(kBase / 1.5, 0.001);
  entry.stored->q99 = 0.002;
  for (int i = 0; i < evidence.policy.windows; ++i) {
    Window window{"run", "a", i, {}};
    window.processes.assign(static_cast<std::size_t>(evidence.policy.window_processes),
                            {Nanoseconds(std::llround(kBase)), 1});
    entry.windows.push_back(window);
  }
  evidence.cases = {entry};
  EXPECT_EQ(decide(evidence).judgements.at(0).verdict, Verdict::regression);
  evidence.cases[0].stored->measured.clock_hz = 1'500'000'000;
  evidence.cases[0].candidate.clock_hz = 1'500'000'000;
  EXPECT_EQ(decide(evidence).judgements.at(0).verdict, Verdict::regression);
  evidence.cases[0].candidate.clock_hz = 1'000'000'000;
  const CaseAssessment judgement = decide(evidence).judgements.at(0);
  EXPECT_EQ(judgement.verdict, Verdict::suspect);
  EXPECT_THAT(judgement.reason, HasSubstr("1.50 GHz in the store, 1.00 GHz here"));
}

}  // namespace
}  // namespace bench
