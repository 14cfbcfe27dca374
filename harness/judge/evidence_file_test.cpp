// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/evidence_file.hpp"

#include "base/lines.hpp"
#include "harness/result/report.hpp"
#include "tests/fakes/speed_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

namespace bench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

// A gate of two cases, with every kind of record except `gate_end`.
struct ExampleGate {
  GateFacts facts;
  GateEvidence evidence;

  ExampleGate() {
    facts.run_id = "run1";
    facts.config_name = "resnet";
    facts.config_files = {"configs/resnet.yaml"};
    facts.machine_class = "zen4-2c-0123abcd";
    facts.candidate = {"/opt/bench", "0.1.0", "abc", {{"A", "B"}}, {{"onednn", "3.2.0"}}};
    facts.base = GateSide{"/old/bench", "0.1.0", "def", {}, {{"onednn", "3.1.0"}}};
    facts.candidate.loaded = {{"bench", "/opt/bench", "started by /src/bench"},
                              {"onednn", "/opt/lib/libdnnl.so.3.2", "AVX2, build 1", "0123abcd"}};
    facts.candidate.other_files = {"/lib/libc.so.6"};
    facts.store = "baselines";
    facts.inherited = {{"ONEDNN_MAX_CPU_ISA", "AVX2"}};
    evidence.mode = GateEvidence::Mode::paired;
    evidence.settings = {0.02, 0.03, 0.10};
    evidence.policy.first_duets = 2;
    evidence.policy.last_confirmations = 1;
    evidence.configuration_is_stored = true;
    evidence.removed = {"gone"};
    evidence.changes = {{"library.onednn", "3.1.0", "3.2.0"}};
    CaseEvidence& first = evidence.cases.emplace_back();
    first.candidate.id = "a";
    first.candidate.source = "configs/resnet.yaml:14";
    first.candidate.median = Nanoseconds(1200);
    first.candidate.processes = {process_from_iteration(Nanoseconds(1100))};
    first.candidate.exact = {"jit", {}, Bytes{64}, Bytes{0}, Bytes{0}};
    StoredEvidence stored;
    stored.commit = "def";
    stored.time = "2026-11-20T08:00:00Z";
    stored.run_id = "run0";
    stored.runs = 7;
    stored.log_level = 6.9;
    stored.by_speed = test::times_at(1000);
    stored.sigma = 0.004;
    stored.q95 = 0.01;
    stored.difference =
        CauseFacts{{{"library.onednn", "3.1.0", "3.2.0"}}, {}, {std::string(kMeasuringFact)}};
    stored.measured.median = Nanoseconds(1000);
    stored.measured.clock_hz = 1'700'000'000;
    stored.measured.exact = {"gemm", {}, Bytes{64}};
    first.stored = stored;
    first.base = ExactProperties{"gemm", {{"primitives", "1"}}};
    first.duets = {duet(0), duet(1)};
    first.windows.push_back({"run1", "a", 0, {{Nanoseconds(4000), 4}}, test::times_at(1000)});
    CaseEvidence& second = evidence.cases.emplace_back();
    second.candidate.id = "b";
    second.candidate.source = "configs/resnet.yaml:20";
    second.candidate.median = Nanoseconds(50);
    second.candidate.processes = {process_from_iteration(Nanoseconds(50))};
    second.failure = SideFailure{SideFailure::Side::base, Outcome::crashed, "SIGSEGV"};
    second.stored = StoredEvidence{};
    second.stored->incomparable = "case_hash differs: 1 in the store, 2 here";
  }

  static Duet duet(int number) {
    return {"run1",
            "a",
            Duet::Stage::first,
            number,
            3,
            {Nanoseconds(1000), Nanoseconds(1001)},
            {Nanoseconds(1200), Nanoseconds(1202)},
            {1'700'000'000, 1'710'000'000},
            {1'690'000'000, 1'700'000'000},
            {Nanoseconds(50), Nanoseconds(51)},
            {Nanoseconds(52), Nanoseconds(53)}};
  }

  // Returns the file as a gate writes it, with digests and its last record.
  std::string sealed_text() const {
    EvidenceSeal seal;
    std::string sealed;
    const std::string records = text() + gate_end_line("run1", std::nullopt) + "\n";
    for (const NumberedLine& line : Lines(records)) {
      const bool is_of_gate = sealed.find("\"record\":\"gate\"") != std::string::npos ||
                              line.text.starts_with(R"({"record":"gate")");
      if (!is_of_gate) seal.add(line.text);
      sealed += is_of_gate ? seal.seal(line.text) : std::string(line.text);
      sealed += '\n';
    }
    return sealed;
  }

  // Stage 1 as `execute_plan` writes it.
  std::string stage_one() const {
    RunRecord run;
    run.run_id = "run1";
    std::string text = to_json_line(run) + "\n";
    for (const CaseEvidence& entry : evidence.cases) {
      const MeasuredCase& candidate = entry.candidate;
      ProcessRecord process;
      process.run_id = "run1";
      process.id = candidate.id;
      process.samples = {Nanoseconds(std::llround(*median_iteration(candidate)))};
      text += to_json_line(process) + "\n";
      CaseRecord record;
      record.run_id = "run1";
      record.id = candidate.id;
      record.source = candidate.source;
      const auto median = std::chrono::round<Nanoseconds>(*candidate.median);
      record.time = TimeSummary{median, {}, {}, {}, {}, {}, {}, {}};
      if (!candidate.exact.implementation.empty()) {
        record.implementation = candidate.exact.implementation;
        record.memory = MemoryUse{Bytes{64}, Bytes{0}, Bytes{0}};
      }
      text += to_json_line(record) + "\n";
    }
    return text;
  }

  std::string text() const {
    std::string text = stage_one() + gate_line(facts, evidence) + "\n";
    for (const CaseEvidence& entry : evidence.cases) {
      if (entry.stored) text += stored_line("run1", entry.id(), *entry.stored) + "\n";
      if (entry.base) text += base_side_line("run1", entry.id(), *entry.base) + "\n";
      for (const Duet& duet : entry.duets) text += duet_line(duet) + "\n";
      for (const Window& window : entry.windows) text += window_line(window) + "\n";
      if (entry.failure) text += failure_line("run1", entry.id(), *entry.failure) + "\n";
    }
    for (const CaseAssessment& judgement : decide(evidence).judgements) {
      text += verdict_line("run1", judgement) + "\n";
    }
    return text;
  }
};

TEST(EvidenceFile, ReadsWhatItWrote) {
  const ExampleGate example;
  const auto file = read_gate_file(example.text(), "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->facts.candidate, example.facts.candidate);
  EXPECT_EQ(file->facts.base, example.facts.base);
  EXPECT_EQ(file->facts.inherited, example.facts.inherited);
  EXPECT_EQ(file->facts.store, "baselines");
  const GateEvidence& evidence = file->evidence;
  EXPECT_EQ(evidence.mode, GateEvidence::Mode::paired);
  EXPECT_EQ(evidence.settings, example.evidence.settings);
  EXPECT_EQ(evidence.policy.first_duets, 2);
  EXPECT_EQ(evidence.removed, example.evidence.removed);
  EXPECT_EQ(evidence.changes, example.evidence.changes);
  EXPECT_EQ(evidence.stopped, std::nullopt);  // there is no record `gate_end`
  ASSERT_THAT(evidence.cases, SizeIs(2));
  const CaseEvidence& first = example.evidence.cases[0];
  EXPECT_EQ(evidence.cases[0].stored, first.stored);
  EXPECT_EQ(evidence.cases[0].base, first.base);
  EXPECT_EQ(evidence.cases[0].duets, first.duets);
  EXPECT_EQ(evidence.cases[0].windows, first.windows);
  EXPECT_EQ(evidence.cases[0].candidate.exact, first.candidate.exact);
  EXPECT_EQ(evidence.cases[1].failure, example.evidence.cases[1].failure);
  EXPECT_EQ(evidence.cases[1].stored, example.evidence.cases[1].stored);
}

TEST(EvidenceFile, DecidesAgainAsItWasDecided) {
  const ExampleGate example;
  const auto file = read_gate_file(example.text(), "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  const auto again = decide(file->evidence).judgements;
  ASSERT_EQ(again.size(), file->judgements.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(verdict_line("run1", again[i]), verdict_line("run1", file->judgements[i]));
  }
}

// Twice the duets would be twice the evidence.
TEST(EvidenceFile, AGateThatAFileContainsTwiceCountsOnce) {
  const ExampleGate example;
  const auto once = read_gate_file(example.text(), "gate.jsonl");
  const auto twice = read_gate_file(example.text() + example.text(), "gate.jsonl");
  ASSERT_TRUE(once.ok() && twice.ok());
  EXPECT_EQ(twice->judgements.size(), once->judgements.size());
  ASSERT_EQ(twice->evidence.cases.size(), once->evidence.cases.size());
  for (std::size_t i = 0; i < once->evidence.cases.size(); ++i) {
    EXPECT_EQ(twice->evidence.cases[i].duets, once->evidence.cases[i].duets);
    EXPECT_EQ(twice->evidence.cases[i].windows, once->evidence.cases[i].windows);
  }
}

TEST(EvidenceFile, TwoGatesInOneFileAreRefused) {
  ExampleGate other;
  other.facts.run_id = "run2";
  const auto file = read_gate_file(ExampleGate().text() + other.text(), "gate.jsonl");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("two gates"));
}

TEST(EvidenceFile, KnowsWhatStoppedAGateAndWhichCasesItDidNotReach) {
  ExampleGate example;
  CaseEvidence& entry = example.evidence.cases.emplace_back();
  entry.candidate.id = "never reached";
  entry.candidate.source = "configs/resnet.yaml:20";
  entry.is_unmeasured = true;
  const std::string reached = ExampleGate().stage_one();  // after Ctrl-C the case has no record
  const std::string text = reached + gate_line(example.facts, example.evidence) + "\n" +
                           gate_end_line("run1", StopCause::interruption) + "\n";
  const auto file = read_gate_file(text, "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->evidence.stopped, StopCause::interruption);
  ASSERT_THAT(file->evidence.cases, SizeIs(3));
  EXPECT_EQ(file->evidence.cases[2].id(), "never reached");
  EXPECT_EQ(file->evidence.cases[2].candidate.source, "configs/resnet.yaml:20");
  EXPECT_TRUE(file->evidence.cases[2].is_unmeasured);
  EXPECT_TRUE(decide(file->evidence).judgements[2].cut_short);
}

TEST(EvidenceFile, TheMachineDriftOfAnOlderFileIsSkipped) {
  std::string text = ExampleGate().text();
  const std::string_view store = "\"store\":\"baselines\",";
  const std::size_t place = text.find(store);
  ASSERT_NE(place, std::string::npos);
  text.insert(place, R"("moved":"machine speed changed","moved_log":0.0402,)");
  const auto file = read_gate_file(text, "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->facts.store, "baselines");
}

TEST(EvidenceFile, ANumberThatJsonCannotSayIsAbsent) {
  const ExampleGate example;
  std::string text = example.text();
  CaseAssessment judgement;
  judgement.id = "another";
  judgement.effect = std::numeric_limits<double>::quiet_NaN();
  judgement.low = 0.1;
  text += verdict_line("run1", judgement) + "\n";
  const auto file = read_gate_file(text, "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->judgements.back().effect, std::nullopt);
  EXPECT_EQ(file->judgements.back().low, 0.1);
}

TEST(EvidenceFile, ADamagedRecordIsAnErrorWithItsPlace) {
  std::string text = ExampleGate().text();
  const std::size_t place = text.find("\"stage\":\"first\"");
  text.replace(place, 15, "\"stage\":\"third\"");
  const auto file = read_gate_file(text, "gate.jsonl");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("gate.jsonl:9"));
  EXPECT_THAT(file.error().message(), HasSubstr("third"));
}

TEST(EvidenceFile, ParametersOutOfRangeAreRefused) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"duets\":2,", "\"duets\":0,"},
           // Doubling zero gives zero: the next interim analysis would never come.
           {"\"first_confirmations\":10,", "\"first_confirmations\":0,"},
           {"\"bound_error\":0.05", "\"bound_error\":1"},
           {"\"detectable_error\":0.01", "\"detectable_error\":-1"},
           {"\"log_sigma\":0.004", "\"log_sigma\":-1"},
           {"\"delta\":0.02", "\"delta\":-2"}}) {
    std::string text = ExampleGate().text();
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    EXPECT_FALSE(read_gate_file(text, "gate.jsonl").ok()) << to;
  }
}

// The message about too many windows named the processes.
TEST(EvidenceFile, TooManyWindowsAndTooManyProcessesInAWindowAreDistinguished) {
  constexpr std::size_t kTooMany = 31;
  ExampleGate example;
  std::vector<Window>& windows = example.evidence.cases[0].windows;
  const Window window = windows[0];
  windows.assign(kTooMany, window);
  for (std::size_t i = 0; i < windows.size(); ++i) windows[i].number = static_cast<int>(i);
  EXPECT_THAT(read_gate_file(example.text(), "gate.jsonl").error().what,
              EndsWith("too many records `window`"));
  windows = {window};
  windows[0].processes.assign(kTooMany, window.processes[0]);
  EXPECT_THAT(read_gate_file(example.text(), "gate.jsonl").error().what,
              EndsWith("too many processes in a record `window`"));
}

TEST(EvidenceFile, ATornLastLineIsLeftOut) {
  std::string text = ExampleGate().text();
  text.resize(text.size() - 5);
  const auto file = read_gate_file(text, "gate.jsonl");
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_THAT(file->judgements, SizeIs(2));
}

TEST(EvidenceFile, AResultFileIsNoGate) {
  const auto file = read_gate_file(ExampleGate().stage_one(), "r.jsonl");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("not a gate's file"));
}

// ---- Digests -----------------------------------------------------------------------------------

std::string problem_of(const std::string& text) {
  const auto file = read_gate_file(text, "gate.jsonl");
  return file ? "" : file.error().message();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const NumberedLine& line : Lines(text)) lines.emplace_back(line.text);
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(EvidenceDigests, AFileAsTheGateWroteItIsRead) {
  EXPECT_EQ(problem_of(ExampleGate().sealed_text()), "");
}

TEST(EvidenceDigests, EveryPrefixOfLinesIsTheFileOfAKilledGate) {
  std::vector<std::string> lines = lines_of(ExampleGate().sealed_text());
  while (lines.back().find(R"("record":"gate",)") == std::string::npos) {
    EXPECT_EQ(problem_of(text_of(lines)), "") << lines.size();
    lines.pop_back();
  }
  EXPECT_EQ(problem_of(text_of(lines)), "");
}

// All records of a case could be removed, and the rest was judged, with status 0.
TEST(EvidenceDigests, RemovedRecordsOfACaseAreNoticed) {
  std::vector<std::string> lines = lines_of(ExampleGate().sealed_text());
  std::erase_if(
      lines, [](const std::string& line) { return line.find(R"("id":"a")") != std::string::npos; });
  EXPECT_THAT(problem_of(text_of(lines)),
              testing::AllOf(HasSubstr("gate.jsonl:"),
                             HasSubstr("the evidence is not as the gate wrote it"),
                             HasSubstr("`bench gate --out DIR` wrote it, or measure again")));
}

TEST(EvidenceDigests, EachLineThatIsRemovedRepeatedOrChangedIsNoticed) {
  const std::vector<std::string> lines = lines_of(ExampleGate().sealed_text());
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    std::vector<std::string> removed = lines;
    removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(problem_of(text_of(removed)), "") << lines[i];
    std::vector<std::string> repeated = lines;
    repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    EXPECT_NE(problem_of(text_of(repeated)), "") << lines[i];
    std::vector<std::string> changed = lines;
    const std::size_t digit = changed[i].find_last_of("0123456789");
    ASSERT_NE(digit, std::string::npos) << lines[i];
    changed[i][digit] = changed[i][digit] == '1' ? '2' : '1';
    EXPECT_NE(problem_of(text_of(changed)), "") << lines[i];
  }
}

TEST(EvidenceDigests, ALineCutInTheMiddleIsNoticed) {
  std::string text = ExampleGate().sealed_text();
  text.erase(text.size() / 2, 10);
  EXPECT_NE(problem_of(text), "");
}

// As a program writes the records that parses and prints them.
TEST(EvidenceDigests, RecordsWrittenInAnotherFormAreNoticed) {
  std::string text = ExampleGate().sealed_text();
  for (std::size_t place = 0; (place = text.find("\"digest\":", place)) != std::string::npos;
       ++place)
    text.insert(place + 9, " ");
  EXPECT_THAT(problem_of(text), HasSubstr("its digest is not its last field"));
}

TEST(EvidenceDigests, ARecordWithoutADigestAmongOthersIsNoticed) {
  const ExampleGate example;
  const std::string text = example.sealed_text();
  EXPECT_THAT(problem_of(text + duet_line(ExampleGate::duet(7)) + "\n"),
              HasSubstr("it has no digest, but the records before it have one"));
}

TEST(EvidenceFile, AFailureWithTheOutcomeOkIsRefused) {
  std::string text = ExampleGate().text();
  const std::string_view outcome = "\"outcome\":\"crashed\"";
  text.replace(text.find(outcome), outcome.size(), "\"outcome\":\"ok\"");
  EXPECT_THAT(problem_of(text), HasSubstr("`outcome` is `ok`, which is not a failure"));
}

}  // namespace
}  // namespace bench
