// SPDX-License-Identifier: Apache-2.0
#include "harness/report/findings.hpp"

#include "harness/report/case_sum.hpp"
#include "harness/report/comparison_text.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Returns a run of cases gemm/0, gemm/1, ... with these medians; each interval is +-1 %.
Report run_of(const std::vector<Nanoseconds>& medians) {
  Report report;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    test::add_timed_case(report, fmt::format("gemm/forward/m{}/f32/x/cpu/hot", i),
                         medians[i].count());
  }
  return report;
}

void set_ideal(CaseRecord& record, Nanoseconds ideal) {
  Roofline& roofline = record.roofline.emplace();
  roofline.ideal = ideal;
  roofline.efficiency =
      static_cast<double>(ideal.count()) / static_cast<double>(record.time->median.count());
}

// Returns the same without processes, for tests that add them.
Report run_without_processes(const std::vector<Nanoseconds>& medians) {
  Report report = run_of(medians);
  report.processes.clear();
  return report;
}

void remove_interval(CaseRecord& record) {
  record.time->low.reset();
  record.time->high.reset();
}

// `with_canaries`: how many of the processes say how fast the machine was; 0: there are no
// canaries.
void add_measured_processes(const std::string& id, std::size_t count, std::size_t with_canaries,
                            Report& report) {
  for (std::size_t i = 0; i < count; ++i) {
    ProcessRecord& process = report.processes.emplace_back();
    process.id = id;
    process.iterations_per_sample = 1;
    process.samples = {10ms, 11ms};
    if (with_canaries == 0) continue;
    process.canaries.threads = 1;
    process.canaries.times.assign(2, i < with_canaries ? 10us : 0us);
  }
}

TEST(RunFindings, TheLargestGainLeadsToItsCase) {
  Report report = run_of({10ms, 30ms, 20ms});
  set_ideal(report.cases[0], 9900us);
  set_ideal(report.cases[1], 6300us);
  set_ideal(report.cases[2], 15ms);
  const PageFindings findings = run_findings(report);
  ASSERT_THAT(findings.list, SizeIs(2));
  EXPECT_EQ(findings.list[0].text,
            "gemm/forward/m1/f32/x/cpu/hot is at 21 % of its ceiling, bound by compute: 23.70 ms "
            "to gain, of 60.00 ms that all cases take together.");
  EXPECT_EQ(findings.list[0].place, report.cases[1].id);
  EXPECT_EQ(findings.list[1].place, report.cases[2].id);
}

TEST(RunFindings, AGainCountsEachLayerOfANetwork) {
  Report report = run_of({10ms, 30ms});
  report.cases[0].multiplicity = 5;
  report.cases[0].network = "net";
  set_ideal(report.cases[0], 5ms);
  EXPECT_THAT(run_findings(report).list.front().text,
              HasSubstr("25.00 ms to gain in 5 layers, of 80.00 ms"));
  report.cases[0].network.reset();
  EXPECT_THAT(run_findings(report).list.front().text,
              HasSubstr("25.00 ms to gain executed 5 times, of 80.00 ms"));
}

TEST(RunFindings, SaysHowFarACeilingIsKnown) {
  Report report = run_of({30ms});
  set_ideal(report.cases[0], 10ms);
  report.cases[0].roofline->source = CeilingSource::calibrated;
  EXPECT_THAT(run_findings(report).list.front().text,
              HasSubstr("of its ceiling (found by a short calibration, so it may be higher)"));
}

// A finding must not come from noise.
TEST(RunFindings, AnUncertainGainIsNotAFinding) {
  const auto findings_with = [](const auto& change) {
    Report report = run_of({30ms});
    set_ideal(report.cases[0], 10ms);
    change(report.cases[0]);
    return run_findings(report);
  };
  EXPECT_THAT(findings_with([](CaseRecord&) {}).list, SizeIs(1));
  for (const Flag flag : {Flag::disturbed, Flag::unsteady, Flag::interrupted, Flag::above_ceiling,
                          Flag::throttled, Flag::voided_samples}) {
    const PageFindings findings = findings_with([&](CaseRecord& record) { record.flags = {flag}; });
    EXPECT_THAT(findings.list, IsEmpty());
    EXPECT_THAT(findings.none, StartsWith("No finding is certain: "));
  }
  EXPECT_THAT(findings_with(remove_interval).list, IsEmpty());
  // The lower end of the interval decides: 12 ms leave a gain, 10.5 ms do not.
  const auto findings_from = [&](Nanoseconds low) {
    return findings_with([&](CaseRecord& record) { record.time->low = low; });
  };
  EXPECT_THAT(findings_from(12ms).list, SizeIs(1));
  EXPECT_THAT(findings_from(10'500us).list, IsEmpty());
}

TEST(RunFindings, FewCasesThatTakeMostOfTheTimeAreAFinding) {
  std::vector<Nanoseconds> medians(20, 1ms);
  medians[3] = 20ms;
  medians[7] = 10ms;
  const PageFindings findings = run_findings(run_of(medians));
  ASSERT_THAT(findings.list, SizeIs(1));
  EXPECT_EQ(findings.list[0].text,
            "2 of 20 cases take 62 % of the time; gemm/forward/m3/f32/x/cpu/hot takes 42 %.");
  EXPECT_EQ(findings.list[0].place, "gemm/forward/m3/f32/x/cpu/hot");
  medians[7] = 1ms;
  EXPECT_EQ(run_findings(run_of(medians)).list.front().text,
            "gemm/forward/m3/f32/x/cpu/hot takes 51 % of the time of all 20 cases.");
}

TEST(RunFindings, AShareThatTheIntervalsDoNotSupportIsNotAFinding) {
  std::vector<Nanoseconds> medians(20, 1ms);
  medians[3] = 20ms;
  Report report = run_of(medians);
  report.cases[0].time->high = Nanoseconds(3ms);
  EXPECT_THAT(run_findings(report).list.front().text, HasSubstr("2 of 20 cases"));
  remove_interval(report.cases[0]);
  EXPECT_THAT(run_findings(report).list, IsEmpty());
  EXPECT_THAT(run_findings(run_of(std::vector<Nanoseconds>(20, 1ms))).list, IsEmpty());
}

TEST(RunFindings, FailuresComeFirstAndThereAreAtMostThree) {
  std::vector<Nanoseconds> medians(20, 1ms);
  medians[3] = 20ms;
  Report report = run_of(medians);
  set_ideal(report.cases[3], 1ms);
  report.cases[3].details["advice.batch"] = "A larger batch shares the weights.";
  report.cases[4].flags = {Flag::noisy};
  report.cases[5].outcome = Outcome::crashed;
  report.cases[5].reason = "SIGSEGV";
  report.cases[5].time.reset();
  const PageFindings findings = run_findings(report);
  ASSERT_THAT(findings.list, SizeIs(kMaxFindings));
  EXPECT_EQ(findings.list[0].text,
            "1 of 20 cases failed: gemm/forward/m5/f32/x/cpu/hot has the outcome crashed: "
            "SIGSEGV.");
  EXPECT_THAT(findings.list[1].text, HasSubstr("19.00 ms to gain"));
  EXPECT_THAT(findings.list[2].text, HasSubstr("takes 53 % of the time"));
}

TEST(RunFindings, AdviceOnACaseThatTakesLittleTimeIsNotAFinding) {
  Report report = run_of({10ms, 10ms, 100us});
  report.cases[2].details["advice.batch"] = "A larger batch shares the weights.";
  EXPECT_THAT(run_findings(report).list, IsEmpty());
  report.cases[1].details["advice.batch"] = "A larger batch shares the weights.";
  EXPECT_EQ(run_findings(report).list.front().text,
            "gemm/forward/m1/f32/x/cpu/hot: A larger batch shares the weights.");
}

TEST(RunFindings, SayWhyThereIsNone) {
  EXPECT_EQ(run_findings({}).none, "There is no finding, since no case has a time.");
  Report report = run_of({10ms, 10ms});
  EXPECT_THAT(run_findings(report).none, HasSubstr("`bench peak` measures them"));
  for (CaseRecord& record : report.cases) set_ideal(record, 9900us);
  EXPECT_THAT(run_findings(report).none, StartsWith("No case stands out"));
}

// The sentence did not say that the processes were too few, or which flag was in doubt.
TEST(RunFindings, NoCertainFindingStatesTheReasonAndTheRemedy) {
  Report report = run_without_processes({10ms, 10ms});
  for (CaseRecord& record : report.cases) {
    remove_interval(record);
    add_measured_processes(record.id, 3, 0, report);
  }
  EXPECT_EQ(run_findings(report).none,
            "No finding is certain: 2 of 2 times have no interval: fewer than the 5 processes that "
            "one needs measured them (`--set measure.processes=5`).");
  report = run_without_processes({10ms, 10ms});
  remove_interval(report.cases[0]);
  add_measured_processes(report.cases[0].id, 1, 0, report);
  report.cases[1].flags = {Flag::unsteady};
  EXPECT_EQ(run_findings(report).none,
            "No finding is certain: 1 of 2 times has no interval: fewer than the 5 processes that "
            "one needs measured it (`--set measure.processes=5`); 1 is `unsteady`: the times still "
            "changed when the warm-up ended; `--set warmup.time=1s` makes it longer.");
}

// Few processes were blamed for every missing interval.
TEST(RunFindings, AMissingIntervalHasTheReasonOfItsRecord) {
  Report report = run_without_processes({10ms, 10ms});
  for (CaseRecord& record : report.cases) remove_interval(record);
  EXPECT_EQ(run_findings(report).none, "No finding is certain: 2 of 2 times have no interval.");
  add_measured_processes(report.cases[0].id, 6, 2, report);
  EXPECT_EQ(run_findings(report).none,
            "No finding is certain: 2 of 2 times have no interval: 1 of them: fewer than 5 of its "
            "processes have samples at a known speed of the machine.");
  add_measured_processes(report.cases[1].id, 2, 0, report);
  EXPECT_EQ(run_findings(report).none,
            "No finding is certain: 2 of 2 times have no interval: 1 of them: fewer than the 5 "
            "processes that one needs measured it (`--set measure.processes=5`), 1 of them: fewer "
            "than 5 of its processes have samples at a known speed of the machine.");
}

TEST(CaseSum, CountsALayerOnceAndNotItsNetworkAgain) {
  Report report;
  for (const char* id : {"network/forward/net/f32/x/cpu/hot", "gemm/forward/m1/f32/x/cpu/hot",
                         "gemm/forward/m1/f32/x/cpu/cold"}) {
    test::add_timed_case(report, id, 1000);
  }
  report.cases[1].network = report.cases[2].network = "net";
  report.cases[1].multiplicity = 3;
  const CaseSum sum = sum_cases(report, SumOf::timed);
  ASSERT_THAT(sum.cases, SizeIs(1));
  EXPECT_EQ(sum.median(), Nanoseconds(3000));
  EXPECT_EQ(sum.networks, 1U);
  EXPECT_EQ(sum.other_modes, 1U);
  EXPECT_EQ(format_cache_mode(sum), " with cache hot");
  EXPECT_THAT(sum_cases(report, SumOf::with_ceiling).cases, IsEmpty());
}

// The console and the picture of the layers named them by two functions; only that of the picture
// named directions, so that a table of a training step had rows of the same name.
TEST(LayerNames, NameTheDirectionOfAGradientAndHowManyAreTheSame) {
  EXPECT_EQ(format_layer_names({}, "forward"), "");
  EXPECT_EQ(format_layer_names({"conv1"}, ""), "conv1");
  EXPECT_EQ(format_layer_names({"conv1", "conv2", "conv3"}, "forward"), "conv1 +2");
  EXPECT_EQ(format_layer_names({"conv1"}, "backward_data"), "conv1 backward_data");
  EXPECT_EQ(format_layer_names({"conv1", "conv2"}, "backward_data"), "conv1 backward_data +1");
}

TEST(GateFindings, NameTheCasesOfEachVerdictThatNeedsAttention) {
  const PageFindings findings = gate_findings(test::sample_gate());
  ASSERT_THAT(findings.list, SizeIs(3));
  EXPECT_EQ(findings.list[0].text,
            "1 case became slower: conv/forward/c64: 20 % slower (20 to 21); changed: "
            "implementation jit:avx2 -> jit:sse41.");
  EXPECT_EQ(findings.list[0].place, "conv/forward/c64");
  EXPECT_EQ(findings.list[1].text, "1 case is an error: gemm/forward/gone: removed.");
  EXPECT_THAT(findings.list[2].text,
              AllOf(StartsWith("1 case is undecided: softmax"), HasSubstr("undecided after 40")));
}

TEST(GateFindings, SeveralSlowerCasesAreOneFindingWithTheWorst) {
  EXPECT_THAT(gate_findings(test::large_gate(40)).list.front().text,
              StartsWith("20 cases became slower, most conv/forward/n1c64"));
}

TEST(GateFindings, AGateThatPassedHasNone) {
  GateFile gate = test::sample_gate();
  gate.judgements = {test::passed_judgement("a"), test::passed_judgement("b")};
  EXPECT_THAT(gate_findings(gate).list, IsEmpty());
  EXPECT_EQ(gate_findings(gate).none, "No case needs attention: all passed.");
}

ComparedCase compared_case(const std::string& id, CaseVerdict verdict, double ratio) {
  ComparedCase entry;
  entry.id = id;
  entry.verdict = verdict;
  entry.ratio = ratio;
  entry.low = ratio - 0.01;
  entry.high = ratio + 0.01;
  return entry;
}

TEST(ComparisonFindings, StateWhatIsUnclearAsSuch) {
  Comparison comparison;
  comparison.cases = {compared_case("conv/a", CaseVerdict::slower, 1.2),
                      compared_case("conv/b", CaseVerdict::slower, 1.3),
                      compared_case("conv/c", CaseVerdict::unclear, 1.4),
                      compared_case("conv/d", CaseVerdict::same, 1)};
  comparison.changes = {{"library.onednn", "3.1.0", "3.2.0"}};
  const PageFindings findings = comparison_findings(comparison);
  ASSERT_THAT(findings.list, SizeIs(3));
  EXPECT_EQ(findings.list[0].text, "2 cases are slower, most conv/b: 30 % slower (29 to 31).");
  EXPECT_THAT(findings.list[1].text, StartsWith("1 case is unclear: conv/c: "));
  EXPECT_EQ(findings.list[2].place, kChangesSection);
  comparison.cases.erase(comparison.cases.begin(), comparison.cases.begin() + 3);
  EXPECT_EQ(comparison_findings(comparison).none, "No case needs attention: all are the same.");
}

TEST(HistoryFindings, NameTheCasesThatChanged) {
  BaselineHistory history;
  for (int run = 1; run <= 16; ++run) {
    history.records.push_back(
        test::baseline(run, 0, Nanoseconds((run <= 8 ? 1000 : 1500) + run % 3)));
  }
  const std::vector<CaseTrend> trends = compute_trends(std::vector{history}, {});
  const PageFindings findings = history_findings(shown_trends(trends, {}));
  ASSERT_THAT(findings.list, SizeIs(1));
  EXPECT_THAT(findings.list[0].text,
              AllOf(StartsWith(trends[0].id + " became "), HasSubstr("slower on ")));
  history.records.resize(8);
  const std::vector<CaseTrend> flat = compute_trends(std::vector{history}, {});
  const PageFindings none = history_findings(shown_trends(flat, {}));
  EXPECT_THAT(none.list, IsEmpty());
  EXPECT_THAT(none.none, Not(IsEmpty()));
  EXPECT_EQ(history_findings({}).none, "There is no finding, since the store has no runs.");
}

}  // namespace
}  // namespace bench
