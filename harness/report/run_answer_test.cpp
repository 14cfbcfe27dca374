// SPDX-License-Identifier: Apache-2.0
#include "harness/report/run_answer.hpp"

#include "base/terminal_text.hpp"
#include "harness/report/console.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kCeilingsUnknown =
    "How near these times are to this machine's ceilings is unknown; `bench peak` measures the "
    "ceilings.";

CaseRecord timed(const std::string& id, Nanoseconds median) {
  CaseRecord record;
  record.id = id;
  record.run_id = "r";
  TimeSummary& time = record.time.emplace();
  time.median = median;
  time.low = median - median / 100;
  time.high = saturated_sum(median, median / 100);
  record.flops_per_s = FlopsPerSecond{1e9};
  return record;
}

CaseRecord limited(const std::string& id, Nanoseconds median, Nanoseconds ideal, Bound bound) {
  CaseRecord record = timed(id, median);
  Roofline& roofline = record.roofline.emplace();
  roofline.ideal = ideal;
  roofline.bound = bound;
  return record;
}

CaseRecord without_interval(const std::string& id) {
  CaseRecord record = timed(id, 1ms);
  record.time->low.reset();
  record.time->high.reset();
  return record;
}

void add_processes(Report& report, const std::string& id, int count) {
  for (int i = 0; i < count; ++i) {
    ProcessRecord process;
    process.run_id = "r";
    process.id = id;
    process.samples = {1ms};
    report.processes.push_back(process);
  }
}

TEST(RunAnswer, FirstSentenceCountsCasesFlagsAndOtherOutcomes) {
  Report report;
  report.cases = {timed("a", 1ms), timed("b", 1ms)};
  EXPECT_EQ(answer_sentence(report), "Measured 2 cases.");
  report.ends.resize(1);
  report.ends[0].accounting.wall = 4230ms;
  report.cases[0].flags = {Flag::noisy, Flag::unsteady};
  report.cases[1].flags = {Flag::noisy};
  report.cases.resize(4);
  report.cases[2].outcome = Outcome::skipped;
  report.cases[3].outcome = Outcome::crashed;
  EXPECT_EQ(answer_sentence(report),
            "Measured 2 of 4 cases in 4.2 s, 2 noisy, 1 unsteady; 1 skipped, 1 crashed.");
}

TEST(RunAnswer, ARunThatEndedEarlyStillCountsItsCases) {
  Report report;
  report.cases = {timed("a", 1ms), {}};  // the second one is ok but has no time yet
  report.ends.resize(1);
  report.ends[0].accounting.wall = 640ms;
  EXPECT_EQ(answer_sentence(report), "Measured 1 of 2 cases in 640 ms.");
}

// They have no record, and "Measured 3 cases" was the answer to 61.
TEST(RunAnswer, ARunThatWasStoppedCountsTheCasesThatItDidNotReach) {
  Report report;
  report.cases = {timed("a", 1ms)};
  report.runs.resize(1);
  report.runs[0].run_id = "first";
  report.ends.resize(1);
  report.ends[0].run_id = "first";
  report.ends[0].interrupted = true;
  report.ends[0].not_measured = 4;
  EXPECT_EQ(answer_sentence(report), "Measured 1 of 5 cases.");
  report.cases = std::vector(5, timed("a", 1ms));
  report.runs.resize(2);
  report.runs[1].run_id = "second";
  report.runs[1].resumes = "first";
  report.ends.resize(2);
  report.ends[1].run_id = "second";
  EXPECT_EQ(answer_sentence(report), "Measured 5 cases.");
}

// The report of a run that was killed did not say so.
TEST(RunAnswer, ARunWithoutAnEndIsSaidToBeUnfinished) {
  Report report;
  report.runs.resize(1);
  report.runs[0].run_id = "first";
  EXPECT_THAT(answer_sentence(report), StartsWith("No case has a time yet. The run has no end"));
  report.cases = {timed("a", 1ms)};
  EXPECT_THAT(answer_sentence(report), StartsWith("Measured 1 case. The run has no end"));
  report.ends.resize(1);
  report.ends[0].run_id = "first";
  EXPECT_EQ(answer_sentence(report), "Measured 1 case.");
}

TEST(RunAnswer, NamesTheCommandThatMeasuresTheCeilings) {
  Report report;
  report.cases = {timed("a", 1ms)};
  EXPECT_THAT(answer_notes(report), ElementsAre(kCeilingsUnknown));
  report.cases[0].flops_per_s.reset();
  EXPECT_THAT(answer_notes(report), IsEmpty()) << "without work no ceiling applies";
  report.cases[0].time.reset();
  EXPECT_THAT(answer_notes(report), IsEmpty());
}

// The times of layers count as often as the network has them.
TEST(RunAnswer, SumsWhatTheCeilingsPermitAndNamesTheCaseWithMostRecoverableTime) {
  Report report;
  report.cases = {limited("gemm/x", 1ms, 400us, Bound::compute),
                  limited("conv/y", 500us, 300us, Bound::memory)};
  report.cases[1].multiplicity = 4;
  report.cases[1].network = "net";
  // 1 ms + 4 * 0.5 ms = 3 ms; ideal: 0.4 ms + 4 * 0.3 ms = 1.6 ms
  EXPECT_THAT(answer_notes(report),
              ElementsAre("All cases together, each as often as its network has it, run at 53 % of "
                          "what this machine's ceilings permit: 3.000 ms instead of 1.600 ms (1 "
                          "bound by compute, 1 by memory).",
                          "Of the 1.400 ms that could be saved, conv/y has the most (57 %)."));
}

// The times of an imported suite count as often as the program executes them.
TEST(RunAnswer, SaysWhichOperatorsTakeTheTimeOfAProgram) {
  Report report;
  report.cases = {timed("conv/x", 1ms), timed("gemm/y", 2ms), timed("gemm/z", 500us)};
  const std::vector<int> counts = {10, 2, 2};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    report.cases[i].op = report.cases[i].id.substr(0, 4);
    report.cases[i].multiplicity = counts[i];
  }
  // 10 * 1 ms + 2 * 2 ms + 2 * 0.5 ms
  EXPECT_THAT(answer_notes(report),
              ElementsAre("As often as the program executes them, the cases take 15.00 ms: conv "
                          "66.7 %, gemm 33.3 %.",
                          kCeilingsUnknown));
  report.cases[2].multiplicity.reset();
  EXPECT_THAT(answer_notes(report), ElementsAre(kCeilingsUnknown));
}

TEST(RunAnswer, AWholeNetworkIsNotAddedToItsLayers) {
  Report report;
  report.cases = {
      limited("conv/forward/c8/f32/onednn/cpu/hot", 1ms, 500us, Bound::compute),
      limited("network/forward/net+separate/f32/onednn/cpu/hot", 9ms, 1ms, Bound::compute)};
  EXPECT_THAT(answer_notes(report).front(), HasSubstr("10.00 ms instead of 1.500 ms"));
  report.cases[0].network = "net";
  EXPECT_THAT(answer_notes(report),
              ElementsAre(StartsWith("1 case with known ceilings runs at 50 % ")));
}

// A short run answered that it does not know how near its times are to the ceilings.
TEST(RunAnswer, SaysThatTheCeilingsWereCalibratedInTheRunAndHowPrecisely) {
  Report report;
  report.cases.push_back(limited("a", 2ms, 1ms, Bound::compute));
  report.cases.back().roofline->source = CeilingSource::calibrated;
  report.cases.back().roofline->precision = 0.04;
  report.cases.push_back(limited("b", 2ms, 1ms, Bound::compute));
  const auto answer = [&] { return answer_notes(report).front(); };
  EXPECT_THAT(answer(), HasSubstr(" These ceilings were calibrated in this run, to about 4 %; "
                                  "`bench peak` measures them longer and stores them."));
  report.cases.back().roofline->source = CeilingSource::calibrated;
  report.cases.back().roofline->precision = 0.005;
  EXPECT_THAT(answer(), HasSubstr("to about 4 %"));  // the widest of all
  for (CaseRecord& record : report.cases) record.roofline->precision.reset();
  EXPECT_THAT(answer(), HasSubstr("calibrated in this run; `bench peak`"));
  for (CaseRecord& record : report.cases) record.roofline->source = CeilingSource::stored;
  EXPECT_THAT(answer(), testing::Not(HasSubstr("calibrated")));
}

// This sentence was once computed but not printed.
TEST(RunAnswer, NamesTheLayersThatHoldWhatANetworkCouldGain) {
  Report report;
  report.cases = {limited("conv/forward/c8/f32/onednn/cpu/hot", 1ms, 100us, Bound::compute),
                  limited("conv/forward/c9/f32/onednn/cpu/hot", 1ms, 900us, Bound::compute)};
  for (CaseRecord& record : report.cases) {
    record.network = "net";
    record.layers = {record.id};
  }
  EXPECT_THAT(answer_notes(report),
              testing::Contains("cache hot: 1 of 2 distinct layers holds 90 % of the 1.000 ms that "
                                "net could gain at the machine's ceilings."));
}

// The console once left out the advice of the records.
TEST(RunAnswer, TellsTheMostImportantAdviceWithItsCaseAndTheNumberOfOthers) {
  Report report;
  report.cases = {timed("a", 1ms), timed("b", 1ms)};
  for (CaseRecord& record : report.cases) record.details["advice.slow_type"] = "No AMX here.";
  EXPECT_THAT(answer_notes(report),
              testing::Contains("No AMX here. The case is a; 1 more has this advice (slow_type)."));
  report.cases.pop_back();
  EXPECT_THAT(answer_notes(report), testing::Contains("No AMX here. The case is a (slow_type)."));
}

TEST(RunAnswer, ACaseFasterThanItsCeilingRecoversNothing) {
  Report report;
  report.cases = {limited("a", 1ms, 2ms, Bound::compute), limited("b", 1ms, 1ms, Bound::launch)};
  EXPECT_THAT(answer_notes(report), ElementsAre(HasSubstr("at 150 %")));
}

TEST(RunAnswer, HugeTimesOfAFileDoNotOverflow) {
  Report report;
  report.cases = {limited("a", Nanoseconds::max(), 1ms, Bound::compute),
                  limited("b", Nanoseconds::max(), Nanoseconds(-1), Bound::compute),
                  limited("c", Nanoseconds::max(), 1ms, Bound::compute)};
  report.cases[0].multiplicity = 1000;
  report.ends.resize(2);
  report.ends[0].accounting.wall = report.ends[1].accounting.wall = Nanoseconds::max();
  EXPECT_THAT(answer_notes(report), testing::SizeIs(2));
  EXPECT_THAT(answer_sentence(report), StartsWith("Measured 3 cases in "));
}

// It said that 1 process is too few although nearly all cases had 2.
TEST(RunAnswer, MissingIntervalsNameTheNumbersOfProcessesAndThatWhichGivesThem) {
  Report report;
  report.cases = {without_interval("a"), without_interval("b")};
  add_processes(report, "a", 2);
  add_processes(report, "b", 3);
  EXPECT_THAT(
      answer_notes(report),
      ElementsAre(kCeilingsUnknown,
                  "2 cases have no interval: 2 to 3 processes are too few for one, so `+-` shows "
                  "half the range of their medians in brackets; `--set "
                  "measure.processes=5` gives one."));
}

TEST(RunAnswer, MissingIntervalsCountProcessesWithSamples) {
  Report report;
  report.cases = {without_interval("a"), without_interval("b")};
  add_processes(report, "a", 4);
  add_processes(report, "b", 4);
  report.processes[1].samples.clear();
  EXPECT_THAT(answer_notes(report).back(),
              StartsWith("2 cases have no interval: 3 to 4 processes are too few for one"));
}

TEST(RunAnswer, NoisyCasesSayHowWideAndWhatHalvesTheInterval) {
  Report report;
  report.cases = {timed("a", 1ms), timed("b", 1ms)};
  for (CaseRecord& record : report.cases) record.flags = {Flag::noisy};
  report.cases[1].time->low = 930us;
  report.cases[1].time->high = 1070us;
  EXPECT_THAT(answer_notes(report).back(),
              testing::StrEq("noisy, 2 cases: the widest interval is +-7.0 %."));
  add_processes(report, "b", 5);
  EXPECT_THAT(answer_notes(report).back(),
              testing::StrEq("noisy, 2 cases: the widest interval is +-7.0 % with 5 "
                             "processes; `--set measure.processes=20` would give about +-3.5 %."));
}

// The report once advised 24 processes for an interval of +-300 %, which would not have helped.
TEST(RunAnswer, MoreProcessesAreNotAdvisedIfTheyWouldNotHelp) {
  Report report;
  report.cases = {timed("a", 1ms), timed("b", 1ms)};
  report.cases[0].flags = {Flag::noisy};
  report.cases[0].time->high = 4ms;
  report.cases[1].flags = {Flag::noisy};
  add_processes(report, "a", 5);
  EXPECT_THAT(answer_notes(report)[1],
              testing::StrEq("noisy, 2 cases: the widest interval is +-150.5 % with 5 "
                             "processes; only an idle machine can make it narrower."));
}

TEST(RunAnswer, ExplainsAtMostTwoFlags) {
  Report report;
  report.cases = {timed("a", 1ms)};
  report.cases[0].flags = {Flag::noisy, Flag::unsteady, Flag::throttled};
  const std::vector<std::string> notes = answer_notes(report);
  ASSERT_THAT(notes, testing::SizeIs(3));
  EXPECT_THAT(notes[1], StartsWith("noisy, 1 case: the interval is "));
  EXPECT_THAT(notes[2], StartsWith("unsteady, 1 case: "));
}

// The sum once added the times of a layer with cold weights and of the same layer with hot ones.
TEST(RunAnswer, ALayerInTwoCacheModesCountsOnce) {
  Report report;
  report.cases = {limited("conv/forward/c8/f32/onednn/cpu/hot", 1ms, 400us, Bound::compute),
                  limited("conv/forward/c8/f32/onednn/cpu/cold_weights", 9ms, 500us, Bound::memory),
                  limited("conv/forward/c8/f32/onednn/cpu/hot/t1", 1ms, 600us, Bound::compute)};
  EXPECT_THAT(answer_notes(report).front(),
              testing::StrEq("All cases with cache hot together run at 50 % of what this "
                             "machine's ceilings permit: 2.000 ms instead of 1.000 ms (2 bound by "
                             "compute)."));
  report.cases.push_back(limited("conv/forward/c9/f32/onednn/cpu/cold", 1ms, 1ms, Bound::memory));
  EXPECT_THAT(answer_notes(report).front(),
              StartsWith("All cases (each in its first cache mode) together run at 67 % "));
}

// A report with every kind of note.
Report report_with_all_notes() {
  Report report;
  const std::string shape = "/forward/n32c256h14w14k1024r1s1+bias+add+relu/f32/onednn/cpu/";
  for (int i = 0; i < 8; ++i) {
    const std::string op = fmt::format("conv{}", i);
    for (const char* cache : {"hot", "cold_weights"}) {
      CaseRecord record = limited(op + shape + cache, (1 + i) * 1ms, 400us,
                                  i % 2 == 0 ? Bound::compute : Bound::memory);
      record.network = "resnet50_v1_5";
      record.layers = {op};
      record.flags = {Flag::noisy, Flag::unsteady, Flag::above_ceiling, Flag::throttled};
      record.details["advice.slow_type"] =
          "bf16 takes longer than f32, since this processor has no instructions for it: compute in "
          "f32, or on a processor with AMX.";
      report.cases.push_back(record);
      add_processes(report, record.id, 5);
    }
  }
  report.cases[0].time->low.reset();
  report.cases[2].time->low.reset();
  report.cases[2].flags.clear();
  std::erase_if(report.processes, [&](const ProcessRecord& process) {
    return process.id == report.cases[2].id && report.processes.size() > 78;
  });
  for (ProcessRecord& process : report.processes) {
    process.canaries.threads = 2;
    process.canaries.times = {1000ns, 1000ns, 2000ns};
  }
  return report;
}

// All notes together once took more lines than a terminal has below a table.
TEST(RunAnswer, TheThreeShownNotesAnswerTheMostImportantQuestions) {
  const std::vector<Note> all = rank_answer_notes(report_with_all_notes());
  EXPECT_GE(all.size(), 7U);
  const ShownNotes shown = select_notes(all, NoteExtent::leading);
  EXPECT_EQ(shown.texts.size() + shown.left_out, all.size());
  EXPECT_THAT(shown.texts,
              testing::UnorderedElementsAre(HasSubstr("ceilings permit"), HasSubstr("could gain"),
                                            HasSubstr("--set measure.processes")));
}

TEST(RunAnswer, TheConsoleNamesTheCommandThatShowsTheOtherNotes) {
  ConsoleOptions options;
  options.width = 80;
  options.notes.command = "bench report r.jsonl";
  EXPECT_THAT(console_report(report_with_all_notes(), options),
              testing::EndsWith(" more notes: bench report r.jsonl --explain\n"));
  options.notes.extent = NoteExtent::all;
  EXPECT_THAT(console_report(report_with_all_notes(), options),
              testing::Not(HasSubstr("more notes")));
}

// The next command named another case than the sentence above it, which counts all executions.
TEST(RunAnswer, TheCaseToExplainIsTheOneWhoseExecutionsGainMost) {
  Report report;
  report.cases = {limited("seldom", 10ms, 6ms, Bound::memory),
                  limited("often", 8ms, 6ms, Bound::memory)};
  report.cases[1].multiplicity = 3;
  EXPECT_THAT(answer_notes(report), testing::Contains(HasSubstr("could be saved, often has")));
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "often");
  for (CaseRecord& record : report.cases) record.time->low.reset();
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "often");
}

// A noisy case whose gain was smaller than its noise was the one to explain.
TEST(RunAnswer, TheCaseToExplainIsOneWhoseGainIsCertain) {
  Report report;
  report.cases = {limited("noisy", 10ms, 6ms, Bound::memory),
                  limited("certain", 8ms, 6ms, Bound::memory), timed("longest", 90ms)};
  report.cases[0].time->low = 5ms;
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "certain");
  EXPECT_EQ(find_most_interesting_case(report)->reason, "the case with the most time to gain");
  report.cases[0].time->low = 9ms;
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "noisy");
  report.cases[0].flags = {Flag::unsteady};
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "certain");
  report.cases[1].time->low.reset();
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "noisy");
  EXPECT_EQ(find_most_interesting_case(report)->reason,
            "the case that may have the most time to gain");
  report.cases = {timed("longest", 90ms), timed("shortest", 1ms)};
  EXPECT_EQ(find_most_interesting_case(report)->record->id, "longest");
  EXPECT_EQ(find_most_interesting_case(report)->reason, "the case that takes longest");
  EXPECT_FALSE(find_most_interesting_case(Report()).has_value());
}

TEST(RunAnswer, NotesOnTheColumnOfTheBaselineCountToo) {
  ConsoleOptions options;
  options.baseline_notes = {"vs baseline, 1 case: no baseline: none", "Another one."};
  const std::string text = console_report(report_with_all_notes(), options);
  EXPECT_THAT(text, HasSubstr("\n- vs baseline, 1 case: no baseline: none\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Another one.")));
}

}  // namespace
}  // namespace bench
