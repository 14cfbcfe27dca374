// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/conclusion.hpp"

#include "harness/judge/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace bench {
namespace {

using test::measured;
using testing::StartsWith;

// Builds a gate with one case per given verdict.
class ConclusionTest : public testing::Test {
 protected:
  CaseAssessment& add(Verdict verdict) {
    evidence_.cases.push_back(measured("case"));
    judgements_.emplace_back().verdict = verdict;
    return judgements_.back();
  }
  // Adds a case that is undecided after 7 of its 10 duets.
  void add_waiting() {
    CaseAssessment& judgement = add(Verdict::inconclusive);
    judgement.cut_short = true;
    judgement.pending = Pending{MeasurementRequest::Kind::duets, 7, 10};
  }
  Conclusion conclude(const ExitRules& rules = {}) const {
    return bench::conclude(evidence_, judgements_, rules);
  }
  ExitStatus status(const ExitRules& rules = {}) const { return conclude(rules).status; }

  GateEvidence evidence_;
  std::vector<CaseAssessment> judgements_;
  const ExitRules strict_{.undecided = ExitRules::Undecided::strict};
  const ExitRules required_{.baseline = ExitRules::Baseline::required};
  const ExitRules allowed_{.incomparable = ExitRules::Incomparable::allowed};
};

TEST_F(ConclusionTest, CasesThatPassAreGreen) {
  add(Verdict::pass);
  add(Verdict::improved);
  EXPECT_EQ(status(), ExitStatus::success);
  EXPECT_EQ(conclude().sentence,
            "no case became slower, 1 case became faster; 2 of 2 cases judged: 1 IMPROVED, 1 PASS");
}

TEST_F(ConclusionTest, TheAnswerComesFirst) {
  add(Verdict::pass);
  EXPECT_THAT(conclude().sentence, StartsWith("no case became slower; 1 of 1 cases judged"));
  add(Verdict::inconclusive);
  EXPECT_THAT(conclude().sentence, StartsWith("no judged case became slower; 1 of 2 cases judged"));
  add(Verdict::regression);  // no effect: its memory grew
  EXPECT_THAT(conclude().sentence, StartsWith("1 case needs more memory, no judged case became "
                                              "slower; 2 of 3 cases judged"));
  add(Verdict::regression).effect = 0.2;
  add(Verdict::regression).effect = 0.1;
  EXPECT_THAT(conclude().sentence,
              StartsWith("2 cases became slower, 1 case needs more memory; 4 of 5 cases judged"));
  add_waiting();
  EXPECT_THAT(conclude().sentence,
              StartsWith("2 cases became slower, 1 case needs more memory; the evidence ends after "
                         "7 of 10 duets; 1 of 6 cases not decided; "));
}

TEST_F(ConclusionTest, ARegressionWinsOverAnErrorAndOverEvidenceThatEndedEarly) {
  add(Verdict::error);
  add_waiting();
  EXPECT_EQ(status(), ExitStatus::not_measured);
  add(Verdict::regression);
  EXPECT_EQ(status(), ExitStatus::regression);
}

TEST_F(ConclusionTest, AGateThatTheBudgetStoppedIsNeverGreen) {
  evidence_.stopped = StopCause::budget;
  add(Verdict::pass);
  add_waiting();
  add_waiting();
  const Conclusion conclusion = conclude();
  EXPECT_EQ(conclusion.status, ExitStatus::not_measured);
  EXPECT_EQ(conclusion.sentence,
            "stopped by the budget after 14 of 20 duets; 2 of 3 cases not decided; "
            "1 of 3 cases judged: 2 INCONCLUSIVE, 1 PASS");
}

TEST_F(ConclusionTest, AGateThatCtrlCStoppedIsNeverGreen) {
  evidence_.stopped = StopCause::interruption;
  add(Verdict::inconclusive).cut_short = true;
  evidence_.cases[0].is_unmeasured = true;
  const Conclusion conclusion = conclude();
  EXPECT_EQ(conclusion.status, ExitStatus::not_measured);
  EXPECT_THAT(conclusion.sentence, StartsWith("stopped by Ctrl-C before the candidate measured a "
                                              "case; 1 of 1 cases not decided"));
  add(Verdict::pass);
  EXPECT_THAT(conclude().sentence, StartsWith("stopped by Ctrl-C during the candidate's run; 1 of "
                                              "2 cases not decided"));
}

// The sentence said that such a budget ended during the candidate's run.
TEST_F(ConclusionTest, ABudgetThatTheBaseUsedUpDidNotEndDuringTheCandidatesRun) {
  evidence_.stopped = StopCause::budget;
  for (int i = 0; i < 2; ++i) {
    add(Verdict::inconclusive).cut_short = true;
    evidence_.cases.back().is_unmeasured = true;
    evidence_.cases.back().failure =
        SideFailure{SideFailure::Side::base, Outcome::failed, "no answer"};
  }
  EXPECT_THAT(conclude().sentence,
              StartsWith("stopped by the budget before the candidate measured a case, and the base "
                         "failed; 2 of 2 cases not decided"));
  EXPECT_THAT(conclude().advice, testing::EndsWith("; the base failed with: no answer"));
}

TEST_F(ConclusionTest, AGateThatWasKilledIsNeverGreen) {
  add_waiting();
  EXPECT_EQ(status(), ExitStatus::not_measured);
  EXPECT_THAT(conclude().sentence, StartsWith("the evidence ends after 7 of 10 duets; "));
}

TEST_F(ConclusionTest, ABaseThatDiedIsNeverGreen) {
  add(Verdict::pass);
  add(Verdict::incomparable).cut_short = true;
  EXPECT_EQ(status(allowed_), ExitStatus::not_measured);
  EXPECT_THAT(conclude().sentence, StartsWith("the base failed; 1 of 2 cases not decided"));
  // The advice was to run the gate again, which fails again.
  evidence_.cases[1].failure = SideFailure{SideFailure::Side::base, Outcome::failed, "no symbol"};
  EXPECT_EQ(conclude().advice, "fix the base; it failed with: no symbol");
}

TEST_F(ConclusionTest, NothingJudgedIsGreenOnlyInTheFirstRunOfAConfiguration) {
  add(Verdict::no_baseline);
  EXPECT_EQ(status(), ExitStatus::success);
  EXPECT_THAT(conclude().sentence, StartsWith("nothing was judged: the store has no run of this"));
  EXPECT_EQ(status(required_), ExitStatus::nothing_comparable);
  evidence_.configuration_is_stored = true;
  EXPECT_EQ(status(), ExitStatus::nothing_comparable);
  EXPECT_EQ(status(allowed_), ExitStatus::success);
}

// The advice named a file RESULT, which the user had to find.
TEST_F(ConclusionTest, TheFirstRunNamesTheFileToSave) {
  add(Verdict::no_baseline);
  ExitRules rules;
  rules.save_command = format_save_command("./bench", "my gate/gate.jsonl", "stored runs");
  EXPECT_EQ(conclude(rules).advice,
            "`./bench baseline save 'my gate/gate.jsonl' --baseline 'stored runs' --reason TEXT` "
            "keeps this run for later gates");
  EXPECT_EQ(format_save_command("bench", "gate/gate.jsonl", std::nullopt),
            "bench baseline save gate/gate.jsonl");
}

TEST_F(ConclusionTest, CasesThatCannotRunHereDoNotSpoilTheFirstRun) {
  add(Verdict::no_baseline);
  add(Verdict::incomparable);
  EXPECT_EQ(status(), ExitStatus::nothing_comparable);
  evidence_.cases[1].candidate.outcome = Outcome::skipped;
  EXPECT_EQ(status(), ExitStatus::success);
}

TEST_F(ConclusionTest, AGateInWhichEveryCaseIsSkippedIsNotGreen) {
  add(Verdict::incomparable);
  evidence_.cases[0].candidate.outcome = Outcome::skipped;
  EXPECT_EQ(status(), ExitStatus::nothing_comparable);
}

TEST_F(ConclusionTest, NothingComparableIsFiveUnlessThatIsAccepted) {
  add(Verdict::incomparable);
  EXPECT_EQ(status(), ExitStatus::nothing_comparable);
  EXPECT_THAT(conclude().sentence, StartsWith("nothing was judged: no case has a base"));
  EXPECT_EQ(status(allowed_), ExitStatus::success);
  add(Verdict::pass);
  EXPECT_EQ(status(), ExitStatus::success);
}

TEST_F(ConclusionTest, NothingDecidedIsFourWithOrWithoutStrict) {
  add(Verdict::inconclusive);
  add(Verdict::suspect);
  EXPECT_EQ(status(), ExitStatus::undecided);
  EXPECT_EQ(status(strict_), ExitStatus::undecided);
  EXPECT_EQ(status(allowed_), ExitStatus::undecided);
  EXPECT_THAT(conclude().sentence, StartsWith("nothing was judged: the measurements decide no"));
  add(Verdict::pass);
  EXPECT_EQ(status(), ExitStatus::success);
  EXPECT_EQ(status(strict_), ExitStatus::undecided);
}

TEST_F(ConclusionTest, NoCaseAtAllIsNotGreen) {
  EXPECT_EQ(status(), ExitStatus::nothing_comparable);
}

}  // namespace
}  // namespace bench
