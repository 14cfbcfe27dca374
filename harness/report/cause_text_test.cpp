// SPDX-License-Identifier: Apache-2.0
#include "harness/report/cause_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using testing::ElementsAre;

const Change kLibraryChange{"library.onednn", "3.1.0", "3.2.0"};
const Change kCommitChange{"tool.commit", "c001", "c002"};

MoveContext known_move() {
  MoveContext context;
  context.certainty = "p = 0.001";
  return context;
}

TEST(CauseText, ALikelyCauseNamesItsFactsAndWhatNoRecordShows) {
  EXPECT_EQ(describe_cause(judge_cause({{kLibraryChange}, {}, {}}, known_move())),
            "likely cause: library (onednn 3.1.0 -> 3.2.0), the only difference that the records "
            "contain; the machine may have changed unseen");
}

TEST(CauseText, AMachineIsTheCauseOnlyByExclusion) {
  MoveContext context = known_move();
  context.canary = std::log(1.08);
  EXPECT_EQ(describe_cause(judge_cause({}, context)),
            "likely cause: machine; the records contain no difference, and the change is beyond "
            "chance; the machine was 8 % slower, by its canary");
}

TEST(CauseText, SeveralDifferencesAreAllNamed) {
  MoveContext context;
  context.uneventful = {{CauseKind::code, 14}};
  const CauseFacts facts{
      {kLibraryChange, kCommitChange}, {{"implementation", "jit:a", "jit:b"}}, {"measure.rules"}};
  EXPECT_EQ(describe_cause(judge_cause(facts, context)),
            "cause: undetermined: these differ: library (onednn 3.1.0 -> 3.2.0), code (commit c001 "
            "-> c002; it also changed 14 times without a change of times); the records do not "
            "contain measure.rules; also possible: machine, noise; with it: implementation jit:a "
            "-> jit:b");
}

TEST(CauseText, ADuetShowsTheCause) {
  MoveContext context = known_move();
  context.timing = MoveContext::Timing::together;
  EXPECT_EQ(describe_cause(judge_cause({{kCommitChange}, {}, {}}, context)),
            "cause: code (commit c001 -> c002); both sides were measured together, and nothing "
            "else differs");
}

std::string command_of(const std::vector<Change>& changes, const MoveContext& context,
                       const CauseMeasurement& measurement) {
  const auto next = next_command(judge_cause({changes, {}, {}}, context), measurement);
  return next ? next->command : "";
}

TEST(CauseCommand, SeparatesTheCausesThatRemain) {
  CauseMeasurement measurement;
  measurement.id = "gemm/x";
  measurement.old_commit = "c001";
  EXPECT_EQ(command_of({kCommitChange}, known_move(), measurement),
            "bench duet gemm/x --base CHECKOUT");
  EXPECT_EQ(command_of({kLibraryChange}, known_move(), measurement),
            "bench duet gemm/x --base-library PATH");
  EXPECT_EQ(
      command_of({{"env.ONEDNN_MAX_CPU_ISA", std::nullopt, "AVX2"}}, known_move(), measurement),
      "bench duet gemm/x --cand-env ONEDNN_MAX_CPU_ISA=AVX2");
  EXPECT_EQ(command_of({}, known_move(), measurement), "bench doctor");
  EXPECT_EQ(command_of({}, {}, measurement), "bench run gemm/x --set measure.processes=20");
  measurement.old_program = "/old/bench";
  EXPECT_EQ(command_of({kCommitChange}, known_move(), measurement),
            "bench duet gemm/x --base /old/bench");
}

TEST(CauseCommand, OfSidesThatWereMeasuredTogetherGoesOnToTheCommitOrTheLibrary) {
  MoveContext context = known_move();
  context.timing = MoveContext::Timing::together;
  CauseMeasurement measurement;
  measurement.id = "gemm/x";
  measurement.old_commit = "c001";
  measurement.new_commit = "c002";
  measurement.old_library = "/old/libdnnl.so.3";
  EXPECT_EQ(command_of({kCommitChange}, context, measurement), "git bisect start c002 c001");
  EXPECT_EQ(command_of({kLibraryChange, kCommitChange}, context, measurement),
            "bench duet gemm/x --base-library /old/libdnnl.so.3");
  measurement.new_commit = "c002-dirty";
  EXPECT_EQ(command_of({kCommitChange}, context, measurement), "");
}

TEST(CauseSummary, CountsCasesWithOneCause) {
  const CauseFinding library = judge_cause({{kLibraryChange}, {}, {}}, known_move());
  CauseSummary summary;
  summary.add(judge_cause({}, known_move()));
  summary.add(library);
  summary.add(std::nullopt);
  summary.add(library);
  CauseSummary alone;
  alone.add(library);
  EXPECT_THAT(alone.sentences(), ElementsAre(describe_cause(library)));
  EXPECT_THAT(summary.sentences(),
              ElementsAre("2 changed cases: " + describe_cause(library),
                          "1 changed case: " + describe_cause(judge_cause({}, known_move()))));
}

}  // namespace
}  // namespace bench
