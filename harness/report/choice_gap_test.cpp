// SPDX-License-Identifier: Apache-2.0
#include "harness/report/choice_gap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using ops::Regret;
using testing::ElementsAre;
using testing::IsEmpty;

using Details = std::map<std::string, std::string>;

std::string reason_of(const TunedCase& tuned) {
  const auto gap = find_choice_gap(tuned);
  return gap ? gap->reason : "compared";
}

std::string next_step_of(const TunedCase& tuned) {
  const auto gap = find_choice_gap(tuned);
  return gap ? gap->next_step : "";
}

Regret regret_of_one() { return {"jit:blk", 5us, "jit:blk", 5us, {{"jit:blk", 5us, ""}}}; }

TEST(ChoiceGap, TwoMeasuredCandidatesAreAComparison) {
  Regret regret = regret_of_one();
  regret.candidates.push_back({"gemm:jit", 4900ns, ""});
  const Details details = {{"tune", "8"}};
  EXPECT_EQ(reason_of({"gemm", "onednn", "cpu", details, &regret}), "compared");
}

TEST(ChoiceGap, ALibraryWithOneCandidate) {
  const Regret regret = regret_of_one();
  const Details details = {{"tune", "8"}};
  for (const char* backend : {"onednn", "cudnn"}) {
    const TunedCase tuned{"reorder", backend, "cpu", details, &regret};
    EXPECT_EQ(reason_of(tuned), "the library offers no other candidate");
    EXPECT_EQ(next_step_of(tuned),
              "to compare libraries, give the case several backends and run `bench compare RESULT "
              "--by backend`");
  }
}

// The library may offer more.
TEST(ChoiceGap, ACaseThatAskedForOneCandidate) {
  const Regret regret = regret_of_one();
  const Details details = {{"tune", "1"}};
  const TunedCase tuned{"conv", "onednn", "cpu", details, &regret};
  EXPECT_EQ(reason_of(tuned), "`tune: 1` measures only what the library takes by itself");
  EXPECT_EQ(next_step_of(tuned), "use `tune: true`, which measures other candidates too");
}

TEST(ChoiceGap, CandidatesThatFailed) {
  Regret regret = regret_of_one();
  regret.candidates.push_back({"gemm:jit", std::nullopt, "not enough memory"});
  const Details details = {{"tune", "8"}};
  const TunedCase tuned{"conv", "onednn", "cpu", details, &regret};
  EXPECT_EQ(reason_of(tuned), "no other candidate could be measured (gemm:jit: not enough memory)");
  EXPECT_EQ(next_step_of(tuned),
            "`bench explain` with the same `tune` shows why each of them "
            "failed");
}

TEST(ChoiceGap, ReasonsThatTheBackendStates) {
  const auto reason_for = [](const char* text) {
    const Details details = {{"tune", "8"}, {"tuned", text}};
    return reason_of({"conv", "cudnn", "cuda", details, nullptr});
  };
  EXPECT_EQ(reason_for("no: not enough memory"), "not enough memory");
  EXPECT_EQ(reason_for("as chosen before for the case: cudnn:engine_4 (2=2 6=0)"),
            "the run repeats an earlier choice, cudnn:engine_4 (2=2 6=0)");
  EXPECT_EQ(reason_for("3"), "`cudnn` states no times of its candidates");
}

TEST(ChoiceGap, Networks) {
  const Details details = {{"tune", "8"}};
  const TunedCase on_cpu{"network", "onednn", "cpu", details};
  const TunedCase on_gpu{"network", "cudnn", "cuda", details};
  EXPECT_EQ(reason_of(on_cpu), "`tune` has no effect on a whole network on the CPU");
  EXPECT_EQ(reason_of(on_gpu), "a network has a choice per layer, not one for the whole");
  for (const TunedCase& tuned : {on_cpu, on_gpu}) {
    EXPECT_EQ(next_step_of(tuned),
              "tune the layers as cases of their own: `measure: [layers]` with `tune: true`");
  }
}

TEST(ChoiceGap, BackendsAndOperatorsWithoutAChoice) {
  const Details details = {{"tune", "8"}};
  EXPECT_EQ(reason_of({"gemm", "openblas", "cpu", details}),
            "the backend `openblas` offers no choice");
  const TunedCase grouped{"grouped_gemm", "onednn", "cpu", details};
  EXPECT_EQ(reason_of(grouped),
            "`onednn` offers no choice for `grouped_gemm`: it has one kernel for it, or computes "
            "it by several kernels");
  EXPECT_EQ(next_step_of(grouped),
            "if it is computed by several kernels, tune its parts as cases of their own, such as "
            "`gemm` for `grouped_gemm`");
}

CaseRecord record_of(const char* id, const char* backend, Details details) {
  CaseRecord record;
  record.id = id;
  record.op = "gemm";
  record.backend = backend;
  record.device = "cpu";
  record.details = std::move(details);
  return record;
}

TEST(ChoiceGapNotes, GroupCasesByReason) {
  Report report;
  report.cases = {record_of("a", "openblas", {{"tune", "8"}}),
                  record_of("b", "native", {{"tune", "8"}}),
                  record_of("c", "openblas", {{"tune", "8"}})};
  constexpr const char* kNext =
      "to compare libraries, give the case several backends and run `bench compare RESULT --by "
      "backend`.";
  EXPECT_THAT(choice_gap_notes(report),
              ElementsAre(std::string("2 cases with `tune` have no measured alternative (first: "
                                      "a): the backend `openblas` offers no choice; ") +
                              kNext,
                          std::string("1 case with `tune` has no measured alternative (b): the "
                                      "backend `native` offers no choice; ") +
                              kNext));
}

TEST(ChoiceGapNotes, LeaveOutCasesWithoutTuneAndFailedOnes) {
  Report report;
  report.cases = {record_of("a", "openblas", {}), record_of("b", "openblas", {{"tune", "8"}})};
  report.cases.back().outcome = Outcome::failed;
  EXPECT_THAT(choice_gap_notes(report), IsEmpty());
}

}  // namespace
}  // namespace bench
