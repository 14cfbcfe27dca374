// SPDX-License-Identifier: Apache-2.0
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
using test::set_times;
using test::stored;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Duets of +5 % whose scatter is so wide that they need confirming duets.
constexpr double kWide = 0.1;

TEST(Decide, AsksForDuetsOfWhatTheStoreDoesNotKnow) {
  const Decision decision = decide(paired({measured("a"), measured("b")}));
  ASSERT_THAT(decision.requests, SizeIs(2));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::duets);
  EXPECT_EQ(decision.requests[0].count, 6);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(decision.judgements[0].pending, (Pending{MeasurementRequest::Kind::duets, 0, 6}));
  EXPECT_TRUE(decision.judgements[0].cut_short);
  EXPECT_EQ(decision.judgements[0].reason,
            "the evidence ends after 0 of 6 duets (the store has no run of this case)");
}

TEST(Decide, WantsNoSecondLookBeforeAllHadTheFirst) {
  CaseEvidence noisy = measured("noisy");
  add_duets(noisy, Duet::Stage::first, 20, 0, 0.2);
  CaseEvidence half = measured("half");
  add_duets(half, Duet::Stage::first, 4, 0, 0);
  const Decision decision = decide(paired({noisy, half}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].index, 1U);
  EXPECT_EQ(decision.requests[0].count, 2);
}

TEST(Decide, ARegressionIsConfirmedWhileOthersStillWaitForTheirFirstLook) {
  CaseEvidence slow = measured("slow");
  add_duets(slow, Duet::Stage::first, 20, 0.05, kWide);
  Decision decision = decide(paired({measured("waiting"), slow}));
  ASSERT_THAT(decision.requests, SizeIs(2));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::confirmation);
  EXPECT_EQ(decision.requests[0].index, 1U);
  EXPECT_EQ(decision.requests[1].kind, MeasurementRequest::Kind::duets);

  add_duets(slow, Duet::Stage::confirmation, 40, 0.05, 0.001);
  decision = decide(paired({measured("waiting"), slow}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.judgements[0].course, CaseAssessment::Course::not_measured);
  EXPECT_EQ(decision.judgements[1].verdict, Verdict::regression);
}

TEST(Decide, ASlowerCaseAmongManyHasItsSecondLookAtOnce) {
  CaseEvidence slow = measured("slow");
  add_duets(slow, Duet::Stage::first, 6, 0.05, 0.03);
  std::vector<CaseEvidence> cases(30, measured("waiting"));
  cases.push_back(slow);
  const Decision decision = decide(paired(cases));
  EXPECT_GT(*decision.judgements.back().adjusted_p, 0.05);  // 5 interim analyses, 31 suspects, 2^-6
  EXPECT_EQ(decision.requests[0].index, 30U);
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::duets);
  EXPECT_EQ(decision.requests[0].count, 6);
  EXPECT_EQ(decision.judgements.back().reason, "the evidence ends after 6 of 12 duets");
}

TEST(Decide, EqualTimesPass) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0, 0.001);
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::pass);
  EXPECT_EQ(decision.judgements[0].duets, 20);
  EXPECT_NEAR(*decision.judgements[0].effect, 0, 0.001);
}

TEST(Decide, ASlowdownIsARegressionOnceFreshDuetsConfirmIt) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.05, kWide);
  Decision decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::confirmation);
  EXPECT_EQ(decision.requests[0].count, 10);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(decision.judgements[0].reason, "the evidence ends after 0 of 10 confirming duets");

  add_duets(entry, Duet::Stage::confirmation, 10, 0.05, 2 * kWide);
  decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].count, 10);  // as many duets again
  EXPECT_EQ(decision.judgements[0].reason, "the evidence ends after 10 of 20 confirming duets");

  add_duets(entry, Duet::Stage::confirmation, 40, 0.05, kWide);
  decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  const CaseAssessment& judgement = decision.judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::regression);
  EXPECT_NEAR(*judgement.effect, 0.05, 1e-3);
  EXPECT_LT(*judgement.low, 0.05);
  EXPECT_GT(*judgement.high, 0.05);
  EXPECT_DOUBLE_EQ(*judgement.adjusted_p, 5 * *judgement.p);  // five interim analyses
  EXPECT_EQ(judgement.against, Reference::base);
}

TEST(Decide, AnObviousSlowdownNeedsNoConfirmation) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.5, 0.1);
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  const CaseAssessment& judgement = decision.judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::regression);
  EXPECT_EQ(judgement.confirmations, 0);
  // All 20 differences are positive: p = 2^-20, times five interim analyses.
  EXPECT_NEAR(*judgement.p, std::pow(2.0, -20), 1e-12);
  EXPECT_NEAR(*judgement.adjusted_p, 5 * std::pow(2.0, -20), 1e-12);
}

// If nearly every round is interrupted, load can make the longer samples of one side several times
// as long.
TEST(Decide, TheSizeOfAnEffectFromDisturbedDuetsIsUncertain) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.5, 0.1);
  for (std::size_t i = 0; i < 11; ++i) {
    Duet& duet = entry.duets[i];
    duet.base_canary.assign(duet.base.size(), Nanoseconds(1000));
    duet.candidate_canary.assign(duet.base.size(), Nanoseconds(0));
  }
  const CaseAssessment uncertain = decide(paired({entry})).judgements[0];
  EXPECT_EQ(uncertain.verdict, Verdict::regression);
  EXPECT_EQ(uncertain.reason,
            "the size of the effect is uncertain: during 11 of its 20 duets, other programs "
            "interrupted nearly every round; the other 9 show +53.2 %");
  entry.duets[0].candidate_canary = entry.duets[0].base_canary;
  EXPECT_EQ(decide(paired({entry})).judgements[0].reason, "");
}

// A PASS from disturbed duets showed four times the effect of other ones, and no warning.
TEST(Decide, TheSizeOfAPassFromDisturbedDuetsIsUncertain) {
  CaseEvidence equal = measured("b");
  add_duets(equal, Duet::Stage::first, 6, 0, 0.001);
  EXPECT_EQ(decide(paired({equal})).judgements[0].reason, "");
  for (Duet& duet : equal.duets) {
    duet.base_canary.assign(duet.base.size(), Nanoseconds(1000));
    duet.candidate_canary.assign(duet.base.size(), Nanoseconds(0));
  }
  const CaseAssessment uncertain = decide(paired({equal})).judgements[0];
  EXPECT_EQ(uncertain.verdict, Verdict::pass);
  EXPECT_EQ(uncertain.reason,
            "the size of the effect is uncertain: during 6 of its 6 duets, other programs "
            "interrupted nearly every round");
}

// A product that is 7.7 % slower was "18.8 % slower (8.2 to 23.8)": 5 of its 12 duets had at most
// one uninterrupted round and showed 26 to 39 %.
TEST(Decide, TheSizeIsUncertainIfUndisturbedDuetsShowOneOutsideOfTheInterval) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 10, 0.3, 0.001);
  add_duets(entry, Duet::Stage::first, 10, 0.5, 0.001);
  const auto disturb = [&](std::size_t first) {
    for (std::size_t i = 0; i < entry.duets.size(); ++i) {
      Duet& duet = entry.duets[i];
      duet.base_canary.assign(duet.base.size(), Nanoseconds(1000));
      const bool is_disturbed = i >= first && i < first + 10;
      duet.candidate_canary.assign(duet.base.size(), Nanoseconds(is_disturbed ? 0 : 1000));
    }
    return decide(paired({entry})).judgements[0];
  };
  EXPECT_THAT(disturb(10).reason, HasSubstr("during 10 of its 20 duets, "));
  EXPECT_THAT(disturb(10).reason, EndsWith("; the other 10 show +30.0 %"));
  EXPECT_EQ(disturb(5).reason, "") << "the others show what all show";
}

// Issue 16: ten duets that all showed 2x gave "0 of 3 cases judged" when the budget ended.
TEST(Decide, TenDuetsThatAllSayTwiceTheTimeAreARegressionWhereNoConfirmationFittedIn) {
  std::vector<CaseEvidence> cases(100, measured("waiting"));
  add_duets(cases[50], Duet::Stage::first, 10, 1.0, 0.15);
  GateEvidence evidence = paired(cases);
  evidence.stopped = StopCause::budget;
  const CaseAssessment judgement = decide(evidence).judgements[50];
  EXPECT_EQ(judgement.verdict, Verdict::regression);
  EXPECT_FALSE(judgement.cut_short);
  // 5 interim analyses, 100 suspects: ranks cannot prove it
  EXPECT_GT(*judgement.adjusted_p, 0.05);
}

TEST(Decide, SevenDuetsOfTwelveAreJudgedWhenTheEvidenceEnds) {
  CaseEvidence slow = measured("slow");
  add_duets(slow, Duet::Stage::first, 7, 1.0, 0.05);
  CaseEvidence equal = measured("equal");
  add_duets(equal, Duet::Stage::first, 7, 0, 0.001);
  CaseEvidence noisy = measured("noisy");
  add_duets(noisy, Duet::Stage::first, 7, 0, 0.1);
  GateEvidence evidence = paired({slow, equal, noisy});
  evidence.stopped = StopCause::budget;
  const Decision decision = decide(evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression);
  EXPECT_EQ(decision.judgements[1].verdict, Verdict::pass);
  const CaseAssessment& undecided = decision.judgements[2];
  EXPECT_EQ(undecided.verdict, Verdict::inconclusive);
  EXPECT_TRUE(undecided.cut_short);
  EXPECT_EQ(undecided.reason, "stopped by the budget after 7 of 12 duets");
  EXPECT_TRUE(undecided.effect);
  ASSERT_THAT(decision.requests, SizeIs(1));  // with more time, the gate would continue
  EXPECT_EQ(decision.requests[0].index, 2U);
}

// Ten A/A duets agree in sign once in 1,024 times. Two machine states that differ by a few per cent
// then leave no scatter.
TEST(Decide, DuetsThatAgreeOnASmallEffectNeedConfirmation) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 10, 0.05, 0);
  const Decision decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::confirmation);
}

// A few duets that happen to agree have no reliable scatter.
TEST(Decide, AFewDuetsAreNeverObvious) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 6, 1.0, 0);
  GateEvidence evidence = paired({entry});
  evidence.stopped = StopCause::interruption;
  const CaseAssessment judgement = decide(evidence).judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
  EXPECT_EQ(judgement.reason, "stopped by Ctrl-C after 6 of 7 duets");
}

TEST(Decide, ConfirmingDuetsThatEndEarlyCountAsTheyAre) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.05, kWide);
  add_duets(entry, Duet::Stage::confirmation, 7, 0.05, 0.02);
  GateEvidence evidence = paired({entry});
  evidence.stopped = StopCause::budget;
  const Decision decision = decide(evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression);
  EXPECT_EQ(decision.judgements[0].confirmations, 7);
}

TEST(Decide, ACaseThatStageOneDidNotReachIsCutShort) {
  CaseEvidence entry = measured("a");
  entry.is_unmeasured = true;
  entry.candidate.outcome = Outcome::skipped;
  GateEvidence evidence = paired({entry});
  evidence.stopped = StopCause::interruption;
  const Decision decision = decide(evidence);
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_TRUE(decision.judgements[0].cut_short);
  EXPECT_EQ(decision.judgements[0].reason, "stopped by Ctrl-C before it was measured");
}

// Issue 16: "detectable 3.1 %" appeared next to a PASS that excluded 2 %.
TEST(Decide, DetectableIsOnlySaidOfWhatIsUndecided) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 80, -0.03, 0.2);
  const CaseAssessment pass = decide(paired({entry})).judgements[0];
  EXPECT_EQ(pass.verdict, Verdict::pass);
  EXPECT_FALSE(pass.detectable);
}

// Issue 16: "+113.7 %" appeared next to 1.773 ms -> 2.033 ms.
TEST(Decide, EffectAndTimesOfARowComeFromTheSameSamples) {
  CaseEvidence entry = measured("a");
  entry.candidate.median = Nanoseconds(2'033'000);  // from stage 1, which the row does not report
  entry.stored = stored(kBase / 1.5, 0.003);
  entry.stored->measured.median = Nanoseconds(1'773'000);
  const CaseAssessment screened = decide(paired({entry})).judgements[0];
  EXPECT_EQ(screened.against, Reference::store);
  EXPECT_NEAR(*screened.effect, 0.5, 1e-9);
  EXPECT_NEAR(static_cast<double>(screened.candidate->count()) / screened.base->count(), 1.5, 1e-5);

  add_duets(entry, Duet::Stage::first, 10, 0.2, 0);
  const CaseAssessment paired_row = decide(paired({entry})).judgements[0];
  EXPECT_EQ(paired_row.against, Reference::base);
  EXPECT_NEAR(*paired_row.effect, 0.2, 1e-6);
  EXPECT_NEAR(static_cast<double>(paired_row.candidate->count()) / paired_row.base->count(), 1.2,
              1e-6);
}

// The columns were the medians of both sides, the effect an estimate from the duets.
TEST(Decide, TheTimesOfDuetsHaveTheirEffect) {
  CaseEvidence entry = measured("a");
  for (const double speed : {1.0, 1.3, 1.9, 1.1, 2.7, 1.05, 1.6}) {
    Duet duet;
    duet.id = entry.id();
    duet.number = static_cast<int>(entry.duets.size());
    const double slowdown = 1.2 + 0.1 * (duet.number % 3);
    duet.base.assign(3, Nanoseconds(std::llround(kBase * speed)));
    duet.candidate.assign(3, Nanoseconds(std::llround(kBase * speed * slowdown)));
    entry.duets.push_back(duet);
  }
  const CaseAssessment row = decide(paired({entry})).judgements[0];
  EXPECT_EQ(row.base, Nanoseconds(1'300'000));  // the median of the base
  EXPECT_NEAR(static_cast<double>(row.candidate->count()) / static_cast<double>(row.base->count()),
              1 + *row.effect, 1e-6);
}

TEST(Decide, WhatDoesNotRecurIsNoRegression) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.05, kWide);
  add_duets(entry, Duet::Stage::confirmation, 40, 0.0, 0.001);
  const Decision decision = decide(paired({entry}));
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_FALSE(decision.judgements[0].cut_short);
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("not confirmed"));
}

TEST(Decide, ASlowdownBelowTheToleranceIsNone) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.008, 0.0001);
  EXPECT_EQ(decide(paired({entry})).judgements[0].verdict, Verdict::pass);
}

// Once confirming duets exclude the effect, the gate requests no more of them.
TEST(Decide, ConfirmingDuetsEndOnceTheyExcludeTheEffect) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, 0.05, kWide);
  add_duets(entry, Duet::Stage::confirmation, 10, 0.0, 0.001);
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_FALSE(decision.judgements[0].cut_short);
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("not confirmed"));
}

// The probability of six equal signs is 1 in 64, of seven 1 in 128.
TEST(Decide, WhatIsFarBeyondItsScatterAfterTheFirstLookWantsOneDuetMore) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 6, 1.0, 0.01);
  const Decision decision = decide(paired({measured("waiting"), entry}));
  ASSERT_THAT(decision.requests, SizeIs(2));
  EXPECT_EQ(decision.requests[0].index, 1U);
  EXPECT_EQ(decision.requests[0].count, 1);
  EXPECT_EQ(decision.judgements[1].pending, (Pending{MeasurementRequest::Kind::duets, 6, 7}));
}

// The gate with a base measures each case once in stage 1, too little to compare with stored runs.
TEST(Decide, OneProcessOfStageOneScreensNothingOut) {
  CaseEvidence entry = measured("a");
  set_times(entry, {kBase});
  entry.stored = stored(kBase * 0.999, 0.003);
  const Decision decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::duets);
  EXPECT_FALSE(decision.judgements[0].effect);
}

TEST(Decide, TheMirrorImageIsAnImprovement) {
  CaseEvidence entry = measured("a");
  add_duets(entry, Duet::Stage::first, 20, -0.05, 0.001);
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::improved);
}

TEST(Decide, NoiseGetsTwiceTheDuetsUpToTheMostThenSaysWhatItCouldHaveSeen) {
  CaseEvidence entry = measured("a");
  Decision decision;
  int done = 0;
  for (const int look : {6, 12, 24, 48, 80}) {
    decision = decide(paired({entry}));
    ASSERT_THAT(decision.requests, SizeIs(1));
    EXPECT_EQ(decision.requests[0].count, look - done);
    done = look;
    entry.duets.clear();
    add_duets(entry, Duet::Stage::first, look, 0.0, 0.2);
  }
  decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::inconclusive);
  EXPECT_GT(*decision.judgements[0].detectable, 0.02);
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("duets"));
}

TEST(Decide, TheErrorIsSharedAmongAllSuspects) {
  // 16 of 20 duets are slower: p = 0.006 would suffice for one case, but not among 40.
  CaseEvidence lucky = measured("lucky");
  add_duets(lucky, Duet::Stage::first, 20, 0.03, 0);
  for (std::size_t i = 16; i < 20; ++i) std::swap(lucky.duets[i].base, lucky.duets[i].candidate);
  std::vector<CaseEvidence> cases = {lucky};
  const Decision alone = decide(paired(cases));
  EXPECT_NEAR(*alone.judgements[0].p, 0.0059, 1e-4);
  EXPECT_LT(*alone.judgements[0].adjusted_p, 0.05);
  for (int i = 0; i < 40; ++i) {
    cases.push_back(measured("other"));
    add_duets(cases.back(), Duet::Stage::first, 20, 0, 0.001);
  }
  Decision among = decide(paired(cases));
  EXPECT_GT(*among.judgements[0].adjusted_p, 0.05);
  EXPECT_EQ(among.judgements[0].verdict, Verdict::inconclusive);
  // The same holds while the others are not measured yet.
  for (std::size_t i = 1; i < cases.size(); ++i) cases[i].duets.clear();
  among = decide(paired(cases));
  EXPECT_GT(*among.judgements[0].adjusted_p, 0.05);
  EXPECT_EQ(among.judgements[0].verdict, Verdict::inconclusive);
}

TEST(Decide, AQuietCaseNearItsBaselineNeedsNoDuet) {
  CaseEvidence entry = measured("a");
  entry.stored = stored(kBase * 0.999, 0.003);
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::pass);
  EXPECT_EQ(decision.judgements[0].course, CaseAssessment::Course::screened_out);
  EXPECT_NEAR(*decision.judgements[0].effect, 0.001, 1e-4);
}

TEST(Decide, ACaseWithFewerProcessesThanAskedForIsNeverScreenedOut) {
  CaseEvidence entry = measured("a");
  entry.stored = stored(kBase * 0.999, 0.003);
  entry.candidate.flags = {Flag::interrupted};
  GateEvidence evidence = paired({entry});
  evidence.stopped = StopCause::budget;
  const CaseAssessment judgement = decide(evidence).judgements[0];
  EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
  EXPECT_EQ(judgement.reason,
            "stopped by the budget after 0 of 6 duets (the candidate's run was cut short)");
}

TEST(Decide, ANoisyCaseIsNeverScreenedOut) {
  CaseEvidence entry = measured("a");
  entry.stored = stored(kBase, 0.05);
  const Decision decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("too noisy"));
}

TEST(Decide, TheClearestSuspectComesFirst) {
  CaseEvidence small = measured("small");
  small.stored = stored(kBase / 1.03, 0.003);
  CaseEvidence large = measured("large");
  large.stored = stored(kBase / 1.30, 0.003);
  const Decision decision = decide(paired({small, large}));
  ASSERT_THAT(decision.requests, SizeIs(2));
  EXPECT_EQ(decision.requests[0].index, 1U);
}

TEST(Decide, GrowthOfMemoryNeedsNoStatistics) {
  CaseEvidence entry = measured("a");
  entry.candidate.exact = {"jit", {}, Bytes{1100}};
  entry.base = {"gemm", {}, Bytes{1000}};
  const Decision decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::regression);
  EXPECT_THAT(decision.judgements[0].reason, HasSubstr("10.0 %, from 1000 to 1100 bytes"));
  ASSERT_THAT(decision.judgements[0].changes, SizeIs(2));
  EXPECT_EQ(decision.judgements[0].changes[0].field, "implementation");
}

TEST(Decide, FailuresAndWhatVanishedAreErrors) {
  CaseEvidence wrong = measured("wrong");
  wrong.candidate.outcome = Outcome::wrong_result;
  wrong.candidate.reason = "element 3 is 7, expected 8";
  GateEvidence evidence = paired({wrong});
  evidence.removed = {"gone"};
  const Decision decision = decide(evidence);
  ASSERT_THAT(decision.judgements, SizeIs(2));
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::error);
  EXPECT_EQ(decision.judgements[0].reason, "wrong_result: element 3 is 7, expected 8");
  EXPECT_EQ(decision.judgements[1].id, "gone");
  EXPECT_EQ(decision.judgements[1].verdict, Verdict::error);
}

// Earlier, a candidate that no longer computed a case was INCOMPARABLE, and the gate passed.
TEST(Decide, ACaseThatOnlyTheBaseComputesIsAnError) {
  CaseEvidence entry = measured("a");
  entry.candidate.outcome = Outcome::unsupported;
  entry.candidate.reason = "no bf16 on this CPU";
  Decision decision = decide(paired({entry}));
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::base);
  EXPECT_TRUE(decision.judgements[0].cut_short);

  entry.base = ExactProperties{"brgconv", {}};
  decision = decide(paired({entry}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::error);
  EXPECT_EQ(decision.judgements[0].reason,
            "the base computes it, but the candidate does not: unsupported: no bf16 on this CPU");

  entry.base.reset();
  entry.failure = SideFailure{SideFailure::Side::base, Outcome::unsupported, "no bf16 either"};
  decision = decide(paired({entry}));
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::incomparable);
  EXPECT_FALSE(decision.judgements[0].cut_short);
}

TEST(Decide, ADamagedStoreDoesNotHideThatACaseWasMeasured) {
  CaseEvidence entry = measured("a");
  entry.stored.emplace().incomparable = "a.jsonl:1: record refused: it is not valid JSON";
  entry.stored->is_malformed = true;
  GateEvidence evidence;
  evidence.cases = {entry};
  EXPECT_EQ(decide(evidence).judgements[0].verdict, Verdict::error);
  evidence.mode = GateEvidence::Mode::paired;
  evidence.cases[0].candidate.outcome = Outcome::unsupported;
  EXPECT_EQ(decide(evidence).judgements[0].verdict, Verdict::error);
}

TEST(Decide, ABaseThatFailsCannotBeComparedWithACandidateThatFailsIsAnError) {
  CaseEvidence base = measured("base");
  base.failure = SideFailure{SideFailure::Side::base, Outcome::crashed, "SIGSEGV"};
  CaseEvidence candidate = measured("candidate");
  candidate.failure = SideFailure{SideFailure::Side::candidate, Outcome::crashed, "SIGSEGV"};
  const Decision decision = decide(paired({base, candidate}));
  EXPECT_THAT(decision.requests, IsEmpty());
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::incomparable);
  EXPECT_EQ(decision.judgements[0].reason, "the base crashed: SIGSEGV");
  EXPECT_EQ(decision.judgements[1].verdict, Verdict::error);
}

TEST(Decide, ADigestThatVariesIsNoChange) {
  CaseEvidence entry = measured("a");
  entry.candidate.exact = {"jit", {{"output.digest", "varies"}, {"primitives", "2"}}};
  entry.base = {"jit", {{"output.digest", "12ab"}, {"primitives", "1"}}};
  add_duets(entry, Duet::Stage::first, 20, 0, 0.001);
  const CaseAssessment judgement = decide(paired({entry})).judgements[0];
  ASSERT_THAT(judgement.changes, SizeIs(1));
  EXPECT_EQ(judgement.changes[0].field, "primitives");
}

class StoreAlone : public testing::Test {
 protected:
  CaseAssessment judge(double q25, double noise, int runs) {
    GateEvidence evidence;
    CaseEvidence entry = measured("a");
    set_times(entry, {q25});
    entry.stored = stored(kBase, 0.004, runs);
    entry.stored->q99 = 0.02;
    for (int w = 0; w < 3; ++w) {
      Window window{"run", "a", w, {}};
      for (int i = 0; i < 7; ++i) {
        window.processes.push_back(
            {Nanoseconds(std::llround(4 * q25 * std::exp(noise * (i - 3)))), 4});
      }
      entry.windows.push_back(window);
    }
    evidence.cases = {entry};
    const Decision decision = decide(evidence);
    EXPECT_THAT(decision.requests, IsEmpty());
    return decision.judgements[0];
  }
};

TEST_F(StoreAlone, SeesWhatIsBeyondTheSpreadOfItsRuns) {
  EXPECT_EQ(judge(kBase * 1.10, 0.001, 10).verdict, Verdict::regression);
  EXPECT_EQ(judge(kBase * 0.90, 0.001, 10).verdict, Verdict::improved);
}

TEST_F(StoreAlone, CallsAnythingLessASuspect) {
  const CaseAssessment judgement = judge(kBase * 1.025, 0.001, 10);
  EXPECT_EQ(judgement.verdict, Verdict::suspect);
  EXPECT_THAT(judgement.reason, HasSubstr("--base"));
}

TEST_F(StoreAlone, TrustsFewRunsLess) {
  EXPECT_EQ(judge(kBase * 1.10, 0.001, 4).verdict, Verdict::suspect);
  EXPECT_EQ(judge(kBase * 1.20, 0.001, 4).verdict, Verdict::regression);
}

TEST_F(StoreAlone, EffectAndTimesComeFromTheWindows) {
  const CaseAssessment judgement = judge(kBase * 1.10, 0.001, 10);
  EXPECT_EQ(judgement.against, Reference::store);
  EXPECT_NEAR(static_cast<double>(judgement.candidate->count()) / judgement.base->count(),
              1 + *judgement.effect, 1e-5);
}

TEST(Decide, WithoutABaseAsksForWindowsThenNamesWhatIsMissing) {
  GateEvidence evidence;
  evidence.cases = {measured("new"), measured("other"), measured("slow")};
  evidence.cases[1].stored = StoredEvidence{};
  evidence.cases[1].stored->incomparable = "case_hash differs: 1 and 2";
  evidence.cases[2].stored = stored(kBase / 1.5, 0.003);
  const Decision decision = decide(evidence);
  EXPECT_EQ(decision.judgements[0].verdict, Verdict::no_baseline);
  EXPECT_EQ(decision.judgements[1].verdict, Verdict::incomparable);
  EXPECT_EQ(decision.judgements[1].reason, "case_hash differs: 1 and 2");
  ASSERT_THAT(decision.requests, SizeIs(1));
  EXPECT_EQ(decision.requests[0].kind, MeasurementRequest::Kind::windows);
  EXPECT_EQ(decision.requests[0].count, 7);
}

}  // namespace
}  // namespace bench
