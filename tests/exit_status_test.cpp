// SPDX-License-Identifier: Apache-2.0
// The exit status of every command that measures or compares, for every way in which it can end
// without a result. There is one test per cell of the table in docs/manual.md. The last test checks
// the table.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench::test::exit_status_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kCase = "gemm/forward/m16n16k16/f32/onednn/cpu/hot/t1";
constexpr const char* kConfig = R"(version: 1
name: statuses
defaults: { threads: 1, warmup: { iterations: 2, time: 0ms },
            measure: { processes: 2, min_iterations: 4, max_time: 2ms } }
cases:
  - { op: gemm, m: 16, n: 16, k: 16 }
)";
constexpr const char* kSkipped = R"(version: 1
name: skipped
defaults: { device: cuda }
cases:
  - { op: gemm, m: 16, n: 16, k: 16 }
)";

class ExitStatuses : public testing::Test {
 protected:
  using Environment = std::map<std::string, std::string>;

  ExitStatuses() {
    folder_.write("one.yaml", kConfig);
    folder_.write("skipped.yaml", kSkipped);
    std::filesystem::create_directory(folder_.file("elsewhere"));
    folder_.write("elsewhere/notes.txt", "no baseline");
  }
  ProgramResult bench(Words arguments, Environment environment = {}) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    environment.emplace("CUDA_VISIBLE_DEVICES", "");
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  static Environment fault(const std::string& name) {
    const char* const sanitizer = std::getenv("ASAN_OPTIONS");
    return {{"LD_PRELOAD", BENCH_FAULTY_PRIMITIVE},
            {"BENCH_FAULT", name},
            {"BENCH_FAULT_AFTER", "0"},
            {"ASAN_OPTIONS", (sanitizer != nullptr ? std::string(sanitizer) + ":" : std::string()) +
                                 "verify_asan_link_order=0"}};
  }
  static Words base_environment(const Environment& environment) {
    Words words;
    for (const auto& [name, value] : environment) {
      words.insert(words.end(), {"--base-env", name + "=" + value});
    }
    return words;
  }
  ProgramResult gate(Words arguments) {
    Words command = {"gate", "one.yaml", "--out", "gate"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return bench(std::move(command));
  }
  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }
  json gate_report() const { return json::parse(read_text(folder_.file("gate/gate.json"))); }
  // Expects the sentence at the beginning of every report of the gate.
  void expect_in_every_report(const std::string& sentence) const {
    for (const char* name : {"gate/gate.md", "gate/gate.xml", "gate/gate.json"}) {
      EXPECT_THAT(read_text(folder_.file(name)), HasSubstr(sentence)) << name;
    }
    EXPECT_THAT(read_text(folder_.file("gate/gate.xml")), Not(HasSubstr("errors=\"0\"")));
  }
  // Writes the evidence of a gate that has measured all its duets. Their differences vary by 11 %
  // around zero.
  void write_undecided_evidence() {
    ASSERT_EQ(gate({"--base", BENCH_BINARY}).status % 4, 0);  // 0 or, on a noisy machine, 4
    std::string text;
    std::map<std::string, int> duets;
    for (json& record : parse_json_lines(read_text(folder_.file("gate/gate.jsonl")))) {
      if (record.at("record") == "gate") {
        record["policy"]["extended_duets"] = 6;
      }
      if (record.at("record") == "duet") {
        const int number = ++duets[record.at("id")];
        if (number > 6) continue;
        record["base_ns"] = {1000};
        record["candidate_ns"] = {number % 2 == 0 ? 900 : 1111};
      }
      record.erase("digest");  // as in files of older versions
      text += record.dump() + "\n";
    }
    folder_.write("undecided.jsonl", text);
  }

  TemporaryFolder folder_;
};

TEST_F(ExitStatuses, RunThatTheBudgetEndedIs3) {
  EXPECT_EQ(bench({"run", "one.yaml", "--budget", "1ms"}).status, 3);
}

TEST_F(ExitStatuses, RunThatCtrlCEndedIs3) {
  const ProgramResult result = bench({"run", "one.yaml"}, fault("interrupt"));
  EXPECT_EQ(result.status, 3) << result.err;
}

TEST_F(ExitStatuses, RunWhoseWorkerDiesIs3) {
  EXPECT_EQ(bench({"run", "one.yaml"}, fault("crash")).status, 3);
}

TEST_F(ExitStatuses, RunInWhichEveryCaseIsSkippedIs0) {
  const ProgramResult result = bench({"run", "skipped.yaml"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(bench({"run", "skipped.yaml", "--require", "gpu"}).status, 3);
}

TEST_F(ExitStatuses, RunBesideAFolderThatIsNoStoreIs2) {
  const ProgramResult result = bench({"run", "one.yaml", "--baseline", "elsewhere"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("elsewhere: is not a store of baselines: it contains "
                                    "`notes.txt` and no baseline"));
}

TEST_F(ExitStatuses, GateThatTheBudgetEndedIs3AndEveryReportSaysSo) {
  const ProgramResult result = gate({"--base", BENCH_BINARY, "--budget", "1ms"});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(first_line(result.out), HasSubstr("; stopped by the budget"));  // equal sides
  expect_in_every_report("stopped by the budget");
  EXPECT_EQ(gate_report().at("exit"), 3);
  EXPECT_EQ(gate_report().at("stopped"), "budget");
  // A gate that decides again from the evidence ends with the same status.
  EXPECT_EQ(bench({"gate", "--from", "gate/gate.jsonl"}).status, 3);
}

TEST_F(ExitStatuses, GateThatCtrlCEndedIs3AndEveryReportSaysSo) {
  const ProgramResult result = gate(base_environment(fault("interrupt")));
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_EQ(result.out.find("stopped by Ctrl-C after "), 0U) << result.out;
  expect_in_every_report("stopped by Ctrl-C after ");
  EXPECT_EQ(bench({"gate", "--from", "gate/gate.jsonl"}).status, 3);
}

TEST_F(ExitStatuses, GateThatCtrlCEndedInStageOneKnowsTheCasesThatItDidNotReach) {
  const ProgramResult result = bench({"gate", "one.yaml", "--out", "gate"}, fault("interrupt"));
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 of 1 cases not decided"));
  EXPECT_EQ(bench({"gate", "--from", "gate/gate.jsonl"}).status, 3);
}

TEST_F(ExitStatuses, GateWhoseBaseDiesIs3) {
  const ProgramResult result = gate(base_environment(fault("crash")));
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_EQ(result.out.find("the base failed; 1 of 1 cases not decided"), 0U) << result.out;
  expect_in_every_report("the base failed");
  EXPECT_EQ(gate({"--force", "--allow-incomparable", "--base-env", "LD_PRELOAD=/no/such.so",
                  "--base", "/bin/false"})
                .status,
            2);
}

// The wait had a limit of its own, before the budget began: 15 s for a budget of 3 s.
TEST_F(ExitStatuses, GateWhoseBaseNeverAnswersIs3WithinItsBudget) {
  const std::string program = folder_.write("hang", "#!/bin/sh\ncat; exec sleep 600\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ProgramResult result = gate({"--base", program, "--budget", "1ms"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("did not print its version before the budget ended"));
}

TEST_F(ExitStatuses, GateInWhichEveryCaseIsSkippedIs5) {
  const ProgramResult result = bench({"gate", "skipped.yaml", "--out", "gate"});
  EXPECT_EQ(result.status, 5) << result.out;
  EXPECT_EQ(result.out.find("nothing was judged"), 0U) << result.out;
  EXPECT_EQ(
      bench({"gate", "skipped.yaml", "--out", "gate", "--force", "--allow-incomparable"}).status,
      0);
  EXPECT_EQ(bench({"gate", "skipped.yaml", "--out", "gate", "--force", "--require", "gpu"}).status,
            3);
}

TEST_F(ExitStatuses, GateWithoutBaseAndStoreIsTheFirstRunAndSaysSoFirst) {
  const ProgramResult first = gate({});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out.find("nothing was judged: the store has no run of this configuration yet"),
            0U)
      << first.out;
  EXPECT_EQ(gate({"--force", "--require-baseline"}).status, 5);
  // If the store has runs of the configuration, but none of its present cases, it is not the first
  // run.
  ASSERT_EQ(bench({"run", "one.yaml", "--out", "r.jsonl"}).status, 0);
  ASSERT_EQ(bench({"baseline", "save", "r.jsonl", "--reason", "test"}).status, 0);
  const ProgramResult other = gate({"--force", "--set", "dtype=bf16", "--allow-removed"});
  EXPECT_EQ(other.status, 5) << other.out;
  EXPECT_EQ(
      gate({"--force", "--set", "dtype=bf16", "--allow-removed", "--allow-incomparable"}).status,
      0);
}

TEST_F(ExitStatuses, GateInWhichNothingIsDecidedIs4WithOrWithoutStrict) {
  ASSERT_NO_FATAL_FAILURE(write_undecided_evidence());
  const ProgramResult result = bench({"gate", "--from", "undecided.jsonl"});
  EXPECT_EQ(result.status, 4) << result.out;
  EXPECT_THAT(first_line(result.out),
              HasSubstr("; nothing was judged: the measurements decide no case"));
  EXPECT_EQ(bench({"gate", "--from", "undecided.jsonl", "--strict"}).status, 4);
}

TEST_F(ExitStatuses, GateWithAFolderThatIsNoStoreIs2) {
  const ProgramResult result = gate({"--baseline", "elsewhere"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("is not a store of baselines: it contains `notes.txt`"));
  EXPECT_EQ(gate({"--baseline", "no/such/folder"}).status, 2);
}

TEST_F(ExitStatuses, DuetThatCtrlCEndedIs3) {
  Words command = {"duet", kCase};
  for (const std::string& word : base_environment(fault("interrupt"))) command.push_back(word);
  const ProgramResult result = bench(std::move(command));
  EXPECT_EQ(result.status, 3) << result.err;
  EXPECT_THAT(result.out, HasSubstr("stopped by Ctrl-C after "));
}

TEST_F(ExitStatuses, DuetWhoseBaseDiesIs3) {
  Words command = {"duet", kCase};
  for (const std::string& word : base_environment(fault("crash"))) command.push_back(word);
  EXPECT_EQ(bench(std::move(command)).status, 3);
}

TEST_F(ExitStatuses, DuetOfACaseThatIsSkippedIs3) {
  EXPECT_EQ(
      bench({"duet", "gemm/forward/m16n16k16/f32/cudnn/cuda/hot", "--base-env", "A=B"}).status, 3);
}

TEST_F(ExitStatuses, DuetOfAFolderWithoutABenchIs2) {
  EXPECT_EQ(bench({"duet", kCase, "--base", "elsewhere"}).status, 2);
}

// It was 2, a wrong command line.
TEST_F(ExitStatuses, SelftestWhoseWorkerDiesIs3) {
  EXPECT_EQ(bench({"selftest", kCase, "--duets", "1"}, fault("crash")).status, 3);
  EXPECT_EQ(bench({"selftest", "--from", "elsewhere"}).status, 2);
}

TEST_F(ExitStatuses, CompareLooksAtWhatThereIs) {
  ASSERT_EQ(bench({"run", "one.yaml", "--budget", "1ms", "--out", "cut.jsonl"}).status, 3);
  ASSERT_EQ(bench({"run", "skipped.yaml", "--out", "skipped.jsonl"}).status, 0);
  ASSERT_EQ(bench({"run", "one.yaml", "--out", "r.jsonl"}).status, 0);
  EXPECT_EQ(bench({"compare", "r.jsonl", "cut.jsonl"}).status, 0);
  EXPECT_EQ(bench({"compare", "skipped.jsonl", "skipped.jsonl"}).status, 0);
  // With --fail-on, the command is a check in a CI, which must not pass if it compared nothing.
  EXPECT_EQ(bench({"compare", "r.jsonl", "cut.jsonl", "--fail-on", "regression"}).status, 5);
  EXPECT_EQ(bench({"compare", "skipped.jsonl", "skipped.jsonl", "--fail-on", "regression"}).status,
            5);
  EXPECT_EQ(bench({"compare", "r.jsonl", "elsewhere"}).status, 2);
}

TEST_F(ExitStatuses, TheManualHasThisTable) {
  const std::string manual = read_text(std::string(BENCH_SOURCE_DIR) + "/docs/manual.md");
  for (const char* row : {
           "| | `run` | `gate` | `duet` | `compare` |",
           "| the budget ended it | 3 | 3 | | |",
           "| Ctrl-C ended it | 3 | 3 | 3 | |",
           "| a worker died, in one case or all | 3 | 3 | 3 | |",
           "| every case is skipped or unsupported | 0 | 5 | 3 | 0; 5 |",
           "| nothing is decided | 0 | 4 | 0 | 0 |",
           "| nothing can be compared | | 5; 0 in the first run | | 0; 5 |",
           "| a folder that is not a store, a result or a bench | 2 | 2 | 2 | 2 |",
       }) {
    EXPECT_THAT(manual, HasSubstr(std::string("\n") + row + "\n"));
  }
}

// A library that loads and computes nothing was "ok ... No problem was found".
TEST_F(ExitStatuses, DoctorTriesAComputation) {
  EXPECT_THAT(bench({"doctor", "--watch", "0s"}).out, Not(HasSubstr("does not compute")));
  for (const char* kind : {"wrong", "crash"}) {
    const ProgramResult result = bench({"doctor", "--watch", "0s"}, fault(kind));
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, testing::AllOf(HasSubstr("cannot measure here"), HasSubstr("PROBLEM"),
                                           HasSubstr("does not compute gemm/forward/m8n8k8/")));
    EXPECT_EQ(result.err, "");
  }
}

}  // namespace
}  // namespace bench::test::exit_status_test
