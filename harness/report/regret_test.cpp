// SPDX-License-Identifier: Apache-2.0
#include "harness/report/regret.hpp"

#include "base/lines.hpp"
#include "harness/report/run_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
using ops::Regret;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kConv = "conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
constexpr const char* kGemm = "gemm/forward/m64n64k64/f32/onednn/cpu/hot";

// The second of three implementations is 12 % faster; the third one fails.
Regret costly_regret() {
  return {"jit:avx512_core",
          560us,
          "brgconv:avx512_core",
          500us,
          {{"jit:avx512_core", 560us, ""},
           {"brgconv:avx512_core", 500us, ""},
           {"gemm:jit", std::nullopt, "not enough memory"}}};
}

Regret equal_regret() {
  return {"brg:avx512_core",
          5us,
          "brg:avx512_core",
          5us,
          {{"brg:avx512_core", 5us, ""}, {"gemm:jit", 4900ns, ""}}};
}

CaseRecord tuned_case(const char* id, Regret regret) {
  CaseRecord record;
  record.id = id;
  record.device = "cpu";
  record.regret = std::move(regret);
  record.details["tune"] = "8";
  return record;
}

Report tuned_report(std::vector<CaseRecord> cases) {
  Report report;
  report.cases = std::move(cases);
  return report;
}

TEST(DescribeRegret, SaysWhatTheChoiceCosts) {
  EXPECT_EQ(
      describe_regret(costly_regret()),
      "jit:avx512_core was chosen; brgconv:avx512_core is 12 % faster: the choice costs 12 %");
}

TEST(DescribeRegret, SmallCostsHaveADecimal) {
  Regret regret = costly_regret();
  regret.chosen_time = 511us;
  EXPECT_THAT(describe_regret(regret), HasSubstr("is 2.2 % faster: the choice costs 2.2 %"));
}

// The other candidate was 2 % faster, which is noise.
TEST(DescribeRegret, ShowsNoDifferenceWithinTheNoise) {
  EXPECT_EQ(describe_regret(equal_regret()),
            "brg:avx512_core was chosen; the other candidate is not faster beyond the noise");
}

TEST(DescribeRegret, OneCandidateIsNoComparison) {
  Regret regret = equal_regret();
  regret.candidates.pop_back();
  EXPECT_EQ(describe_regret(regret), "brg:avx512_core was chosen; no other candidate was measured");
}

// The sign was wrong: "is -1.8 % faster". The candidate that failed does not count.
TEST(DescribeRegret, ABestThatIsSlowerIsNoCost) {
  Regret regret = costly_regret();
  regret.best_time = 570us;
  EXPECT_EQ(describe_regret(regret),
            "jit:avx512_core was chosen; the other candidate is not faster beyond the noise");
}

TEST(DescribeRegret, CandidatesThatFailedAreNoComparison) {
  Regret regret = costly_regret();
  regret.best = regret.chosen;
  regret.best_time = regret.chosen_time;
  regret.candidates.erase(regret.candidates.begin() + 1);
  EXPECT_EQ(describe_regret(regret), "jit:avx512_core was chosen; no other candidate was measured");
}

TEST(FormatCandidates, ListsAllInTheOrderOfTheLibrary) {
  EXPECT_EQ(format_candidates(costly_regret(), 2),
            "  jit:avx512_core      560.0 us  chosen\n"
            "  brgconv:avx512_core  500.0 us  best\n"
            "  gemm:jit             failed: not enough memory\n");
  EXPECT_EQ(format_candidates(equal_regret(), 4),
            "    brg:avx512_core  5.000 us  chosen\n"
            "    gemm:jit         4.900 us\n");
}

TEST(RegretSentence, OfOneCase) {
  EXPECT_EQ(regret_sentence(tuned_report({tuned_case(kConv, costly_regret())})),
            std::string(kConv) + ": " + describe_regret(costly_regret()) + ".");
}

TEST(RegretSentence, OfSeveralCasesNamesTheMostCostlyOne) {
  Regret small = costly_regret();
  small.chosen_time = 511us;
  const Report report = tuned_report({tuned_case("a", small), tuned_case(kConv, costly_regret()),
                                      tuned_case(kGemm, equal_regret()), CaseRecord()});
  EXPECT_EQ(regret_sentence(report),
            "The library's choice costs time in 2 of 3 tuned cases, most in " + std::string(kConv) +
                ": " + describe_regret(costly_regret()) + ".");
  EXPECT_EQ(lead_sentences(report), regret_sentence(report));
}

TEST(RegretSentence, WithoutADifferenceSaysSo) {
  const Report report =
      tuned_report({tuned_case(kConv, equal_regret()), tuned_case(kGemm, equal_regret())});
  EXPECT_EQ(regret_sentence(report),
            "In 2 tuned cases no candidate is faster than the library's choice beyond the noise.");
}

TEST(RegretSentence, WithoutATunedCaseThereIsNone) {
  const Report report = tuned_report({CaseRecord()});
  EXPECT_THAT(regret_sentence(report), IsEmpty());
  EXPECT_THAT(regret_table(report, 80, Colour::off), IsEmpty());
  EXPECT_THAT(lead_sentences(report), IsEmpty());
}

// One candidate is not evidence that the library's choice is the best one.
TEST(RegretSentence, CountsOnlyCasesWithSeveralCandidatesAsCompared) {
  Regret alone = equal_regret();
  alone.candidates.pop_back();
  EXPECT_EQ(regret_sentence(tuned_report({tuned_case(kConv, alone), tuned_case(kGemm, alone)})),
            "In 2 tuned cases no other candidate was measured.");
  EXPECT_EQ(
      regret_sentence(tuned_report({tuned_case(kConv, alone), tuned_case(kGemm, equal_regret())})),
      "In 1 tuned case no candidate is faster than the library's choice beyond the noise.");
}

constexpr const char* kColdConv = "conv/forward/n1c64h56w56k64r3s3p1/f32/onednn/cpu/cold";

// The sentence gave the cost of a case with cold caches without saying how it was measured.
TEST(RegretSentence, NamesHotCachesOfACaseWithColdOnes) {
  CaseRecord record = tuned_case(kColdConv, costly_regret());
  record.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_EQ(regret_sentence(tuned_report({record})), std::string(kColdConv) + ": " +
                                                         describe_regret(costly_regret()) +
                                                         ", measured with hot caches.");
  EXPECT_THAT(choice_notes(tuned_report({record})),
              ElementsAre("The candidates of 1 case (" + std::string(kColdConv) +
                          ") were measured with hot caches instead of cold ones, so with cold "
                          "caches the cost can differ. A run without `tune` measures the library's "
                          "choice with cold caches."));
  record.details["tuned_caches"] = "cold: executions rotate over 100.0 MiB";
  EXPECT_THAT(choice_notes(tuned_report({record})), IsEmpty());
}

// The note on the caches of the candidates was there if no other candidate was measured.
TEST(RegretSentence, WithoutAnotherCandidateNoNoteNamesItsCaches) {
  Regret alone = equal_regret();
  alone.candidates.pop_back();
  CaseRecord record = tuned_case(kColdConv, alone);
  record.details["tuned_caches"] = "hot, other than those of the case";
  EXPECT_EQ(regret_sentence(tuned_report({record})),
            std::string(kColdConv) + ": " + describe_regret(alone) + ".");
  for (const std::string& note : choice_notes(tuned_report({record})))
    EXPECT_THAT(note, Not(HasSubstr("hot caches")));
}

std::vector<std::string> choice_texts(const CaseRecord& record) {
  std::vector<std::string> texts;
  const Table table = choice_table({&record});
  for (const TableCell& cell : table.rows.at(0).cells) texts.push_back(cell.text);
  return texts;
}

TEST(ChoiceTable, IsThatOfAllFormats) {
  EXPECT_THAT(
      choice_texts(tuned_case(kConv, costly_regret())),
      ElementsAre(kConv, "jit:avx512_core", "560.0 us", "brgconv:avx512_core", "500.0 us", "12 %"));
  EXPECT_THAT(choice_texts(tuned_case(kGemm, equal_regret())),
              ElementsAre(kGemm, "brg:avx512_core", "5.000 us", "as chosen", "", "none"));
  Regret alone = equal_regret();
  alone.candidates.pop_back();
  EXPECT_THAT(choice_texts(tuned_case(kGemm, alone)),
              ElementsAre(kGemm, "brg:avx512_core", "5.000 us", "n/a", "", "n/a"));
  EXPECT_THAT(choice_table({}).columns, SizeIs(6));
}

TEST(RegretTable, ShowsEveryTunedCase) {
  const Report report =
      tuned_report({tuned_case(kGemm, equal_regret()), tuned_case(kConv, costly_regret())});
  const std::string wide = regret_table(report, 200, Colour::off);
  EXPECT_THAT(wide, ContainsRegex("tuned case +chosen +takes +best +takes +costs\n"));
  EXPECT_THAT(wide, ContainsRegex("gemm[^ ]* +brg:avx512_core +5.000 us +as chosen +none\n"));
  EXPECT_THAT(wide, ContainsRegex("conv[^ ]* +jit:avx512_core +560.0 us +brgconv:avx512_core "
                                  "+500.0 us +12 %\n"));
  EXPECT_THAT(wide, HasSubstr("\n  bench explain " + std::string(kConv) + " --set tune=8\n"));
}

// Ids and names were cut to "gemm/......./hot" and "jit:a...core".
TEST(RegretTable, KeepsTheNamesOfCandidatesWithin80Columns) {
  const Report report =
      tuned_report({tuned_case(kGemm, equal_regret()), tuned_case(kConv, costly_regret())});
  const std::string table = regret_table(report, 80, Colour::off);
  EXPECT_THAT(table, ContainsRegex("tuned case +chosen +best +costs\n"));
  EXPECT_THAT(table, ContainsRegex("gemm[^ ]* +brg:avx512_core +as chosen +none\n"));
  EXPECT_THAT(table, ContainsRegex("conv[^ ]* +jit:avx512_core +brgconv:avx512_core +12 %\n"));
  for (const std::size_t width : {60u, 80u, 100u}) {
    const std::string text = regret_table(report, width, Colour::off);
    for (const NumberedLine& line : Lines(text)) {
      if (line.text.starts_with("  bench ")) continue;
      EXPECT_LE(line.text.size(), width) << line.text;
    }
  }
}

// Ids and details come from files.
TEST(ChoiceCommand, IsSafeToCopy) {
  CaseRecord record = tuned_case(kGemm, equal_regret());
  record.details["tune"] = "8; reboot";
  EXPECT_EQ(choice_command({&record}),
            "bench explain " + std::string(kGemm) + " --set tune='8; reboot'");
  record.id = "a\x1b[2J";
  EXPECT_THAT(regret_table(tuned_report({record}), 80, Colour::off), Not(HasSubstr("\x1b")));
}

// Such a run was silent about `tune`.
TEST(RegretTable, WithoutCandidatesThereAreOnlyTheReasons) {
  CaseRecord record;
  record.id = "gemm/forward/m4n4k4/f32/openblas/cpu/hot";
  record.op = "gemm";
  record.backend = "openblas";
  record.device = "cpu";
  record.details["tune"] = "8";
  EXPECT_EQ(regret_table(tuned_report({record}), 1000, Colour::off),
            "1 case with `tune` has no measured alternative "
            "(gemm/forward/m4n4k4/f32/openblas/cpu/hot): the backend `openblas` offers no choice; "
            "to compare libraries, give the case several backends and run `bench compare RESULT "
            "--by backend`.\n");
}

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
