// SPDX-License-Identifier: Apache-2.0
// `bench gate` and `bench duet` as a user calls them. One library with two caps on its instruction
// set is a real regression on every machine that has more than SSE4.1.
#include "base/lines.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::gate_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kId = "conv/forward/c32h28w28k32r3s3p1/f32/onednn/cpu/hot/t1";
constexpr const char* kCap = "ONEDNN_MAX_CPU_ISA=SSE41";
// The same cap as the environment of a whole gate, which makes its candidate slower.
std::map<std::string, std::string> capped() { return {{"ONEDNN_MAX_CPU_ISA", "SSE41"}}; }
// The kit's folder: the id with `__` for `/`.
constexpr const char* kKit = "gate/conv__forward__c32h28w28k32r3s3p1__f32__onednn__cpu__hot__t1";
constexpr const char* kConfig = R"(version: 1
name: one
defaults: { threads: 1, warmup: { iterations: 2, time: 5ms },
            measure: { processes: 3, min_iterations: 10, max_time: 60ms } }
cases:
  - op: conv
    c: 32
    h: 28
    k: 32
    r: 3
    pad: 1
)";

// The same suite with another case instead of its own.
constexpr const char* kOtherConfig = R"(version: 1
name: one
defaults: { threads: 1, warmup: { iterations: 1, time: 0ms },
            measure: { processes: 2, min_iterations: 3, max_time: 4ms } }
cases:
  - { op: pointwise, function: relu, shape: [4, 64] }
)";

class GateProgramTest : public testing::Test {
 protected:
  GateProgramTest() { folder_.write("one.yaml", kConfig); }
  ProgramResult bench(std::vector<std::string> arguments,
                      std::map<std::string, std::string> environment = {}) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  ProgramResult gate(std::vector<std::string> arguments,
                     std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> command = {"gate", "one.yaml", "--out", "gate"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return bench(std::move(command), std::move(environment));
  }
  std::string read(const std::string& name) const { return read_text(folder_.file(name)); }

  // Runs the configuration `runs` times and keeps the results in the store.
  void fill_store(int runs) {
    for (int run = 0; run < runs; ++run) {
      const ProgramResult measured =
          bench({"run", "one.yaml", "--profile", "--out", "r.jsonl", "--force", "--quiet"});
      ASSERT_EQ(measured.status, 0) << measured.err;
      // These runs are too short to be equally fast.
      const ProgramResult saved =
          bench({"baseline", "save", "r.jsonl", "--reason", "test", "--force"});
      ASSERT_EQ(saved.status, 0) << saved.err;
    }
  }

  // A process of the kit's trace.
  struct Process {
    std::string name;
    std::int64_t order = 0;
    std::vector<json> slices;
  };
  // Returns the processes by their order in a trace viewer.
  std::map<std::int64_t, Process> kit_processes() const {
    const json trace = json::parse(read(std::string(kKit) + "/trace.json"));
    std::map<std::int64_t, Process> by_pid;
    for (const json& event : trace.at("traceEvents")) {
      Process& process = by_pid[event.at("pid").get<std::int64_t>()];
      if (event.at("name") == "process_name") process.name = event.at("args").at("name");
      if (event.at("name") == "process_sort_index")
        process.order = event.at("args").at("sort_index").get<std::int64_t>();
      if (event.at("ph") == "X") process.slices.push_back(event);
    }
    std::map<std::int64_t, Process> processes;
    for (auto& [pid, process] : by_pid) processes.emplace(process.order, std::move(process));
    return processes;
  }
  static std::vector<std::string> process_names(const std::map<std::int64_t, Process>& processes) {
    std::vector<std::string> names;
    for (const auto& [pid, process] : processes) names.push_back(process.name);
    return names;
  }
  static double first_start(const std::map<std::int64_t, Process>& processes) {
    double first = std::numeric_limits<double>::infinity();
    for (const auto& [pid, process] : processes) {
      for (const json& slice : process.slices)
        first = std::min(first, slice.at("ts").get<double>());
    }
    return first;
  }
  // The implementations of the process's primitives.
  static std::set<std::string> implementations(const Process& process) {
    std::set<std::string> found;
    for (const json& slice : process.slices) {
      if (slice.at("cat") == "primitive") found.insert(slice.at("args").at("implementation"));
    }
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(GateProgramTest, AVariableOfTheCandidateAloneIsARegressionWithItsDocuments) {
  // Regression test: the documents stated that --cand-env without --base creates a base, but it did
  // not.
  const ProgramResult result = gate({"--cand-env", kCap});
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 1 cases judged: 1 REGRESSION"), HasSubstr(kId),
                                HasSubstr("implementation"), HasSubstr("sse41"), HasSubstr(kKit)));
  const ProgramResult check = bench({"trace", "--check", std::string(kKit) + "/trace.json"});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  // The processes were called `base 1` and `candidate 2`.
  EXPECT_THAT(process_names(kit_processes()),
              ElementsAre(AllOf(StartsWith("base, " + std::string(kId) + " (process "),
                                Not(HasSubstr("(process 1)"))),
                          StartsWith("candidate, " + std::string(kId) + " (process ")));
  EXPECT_EQ(first_start(kit_processes()), 0);
  const std::string readme = read(std::string(kKit) + "/README.md");
  EXPECT_THAT(readme, AllOf(HasSubstr("# REGRESSION"), HasSubstr("implementation"),
                            HasSubstr("sse41"), HasSubstr("bench duet"), HasSubstr(kCap)));
  EXPECT_THAT(read(std::string(kKit) + "/samples.jsonl"), HasSubstr("\"duet\""));

  // Decides again from the same evidence. Earlier, a missing folder of --out was an error.
  const ProgramResult again = bench({"gate", "--from", "gate/gate.jsonl", "--out", "again"});
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 REGRESSION"));
  EXPECT_THAT(read("again/gate.md"), HasSubstr("1 REGRESSION"));

  // Without its duets, the case would be undecided.
  std::string edited;
  const std::string evidence = read("gate/gate.jsonl");
  for (const NumberedLine& line : Lines(evidence)) {
    if (!line.text.starts_with(R"({"record":"duet")")) edited += std::string(line.text) + "\n";
  }
  folder_.write("edited.jsonl", edited);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"gate", "--from", "edited.jsonl"},
        std::vector<std::string>{"report", "edited.jsonl"}}) {
    const ProgramResult refused = bench(command);
    EXPECT_EQ(refused.status, 2) << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("the evidence is not as the gate wrote it"));
  }
}

// The gate compared the bundled library with itself: "1 PASS", exit status 0.
TEST_F(GateProgramTest, ALibraryPathThatASideDidNotTakeIsAUsageError) {
  std::filesystem::create_directory(folder_.file("later"));
  folder_.write("later/libdnnl.so.4", "");
  const ProgramResult typo = gate({"--cand-env", "LD_LIBRARY_PATH=typo"});
  EXPECT_EQ(typo.status, 2) << typo.out << typo.err;
  EXPECT_THAT(typo.err, AllOf(HasSubstr("--cand-env LD_LIBRARY_PATH=typo: `typo` is not a folder"),
                              HasSubstr("libdnnl.so.3")));
  const ProgramResult later = gate({"--base-env", "LD_LIBRARY_PATH=later"});
  EXPECT_EQ(later.status, 2) << later.out << later.err;
  EXPECT_THAT(later.err, HasSubstr("--base-env LD_LIBRARY_PATH=later: it has no libdnnl.so.3, but "
                                   "libdnnl.so.4"));
  const ProgramResult preload = gate({"--cand-env", "LD_PRELOAD=/no/such.so"});
  EXPECT_EQ(preload.status, 2) << preload.out << preload.err;
  const ProgramResult duet = bench({"duet", kId, "--base-env", "LD_LIBRARY_PATH=typo"});
  EXPECT_EQ(duet.status, 2) << duet.out << duet.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("gate"))) << "nothing was measured";
}

// A misspelt variable, or one with an invalid value, passed silently.
TEST_F(GateProgramTest, AVariableWithoutEffectIsNamedFirstAndStrictRefusesIt) {
  const ProgramResult result = gate({"--cand-env", "ONEDNN_MAX_CPU_ISSA=SSE41", "--strict"});
  EXPECT_EQ(result.status, 4) << result.out << result.err;
  EXPECT_THAT(result.out, StartsWith("both sides are the same program and libraries: "
                                     "`ONEDNN_MAX_CPU_ISSA=SSE41` changed nothing"));
  const json report = json::parse(read("gate/gate.json"));
  EXPECT_THAT(report.at("conclusion").get<std::string>(), HasSubstr("changed nothing"));
  EXPECT_EQ(report.at("base").at("loaded"), report.at("candidate").at("loaded"));
  EXPECT_EQ(report.at("base").at("loaded").at(0).at("path"),
            std::filesystem::canonical(BENCH_BINARY).string());
  EXPECT_THAT(read("gate/gate.md"), HasSubstr("libdnnl"));
  EXPECT_THAT(read("gate/gate.html"), HasSubstr("libdnnl"));
  // The evidence alone gives the same answer.
  const ProgramResult again = bench({"gate", "--from", "gate/gate.jsonl", "--strict"});
  EXPECT_EQ(again.status, 4) << again.err;
  EXPECT_THAT(again.out, HasSubstr("changed nothing"));
}

TEST_F(GateProgramTest, TheMirrorImageIsAnImprovementAndExits0) {
  const ProgramResult result = gate({"--base-env", kCap, "--cand-env", "A=B", "--json"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"IMPROVED\""));
}

TEST_F(GateProgramTest, EqualSidesAreNeverRed) {
  const ProgramResult result = gate({"--base", BENCH_BINARY, "--kit"});
  EXPECT_THAT(result.status, AnyOf(0, 4)) << result.out << result.err;  // 4: too noisy to decide
  EXPECT_THAT(result.out, Not(HasSubstr("REGRESSION")));
  EXPECT_THAT(result.out, StartsWith("both sides are the same program and libraries: bench "));
  EXPECT_THAT(read(std::string(kKit) + "/README.md"), HasSubstr("timeline.html"));
}

TEST_F(GateProgramTest, AgainstTheStoreAloneALargeRegressionIsOneAndTheStoreItsOtherHalf) {
  ASSERT_NO_FATAL_FAILURE(fill_store(2));
  const ProgramResult result = gate({}, capped());
  EXPECT_EQ(result.status, 1) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("--base"), HasSubstr("no base")));
  const std::string readme = read(std::string(kKit) + "/README.md");
  EXPECT_THAT(
      readme,
      AllOf(HasSubstr("stored, "), HasSubstr("sse41"), HasSubstr("env ONEDNN_MAX_CPU_ISA=SSE41 "),
            HasSubstr(std::string(BENCH_BINARY) + " run "), HasSubstr("--baseline baselines")));

  const ProgramResult check = bench({"trace", "--check", std::string(kKit) + "/trace.json"});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  const auto processes = kit_processes();
  EXPECT_THAT(process_names(processes), ElementsAre(AllOf(StartsWith("stored, "), EndsWith(kId)),
                                                    StartsWith("candidate, " + std::string(kId))));
  EXPECT_THAT(implementations(processes.at(0)), AllOf(SizeIs(1), Each(Not(HasSubstr("sse41")))));
  EXPECT_THAT(implementations(processes.at(1)), AllOf(SizeIs(1), Each(HasSubstr("sse41"))));
}

TEST_F(GateProgramTest, ACaseThatVanishedIsAnErrorUnlessItIsAllowed) {
  ASSERT_NO_FATAL_FAILURE(fill_store(1));
  folder_.write("other.yaml", kOtherConfig);
  const ProgramResult vanished = bench({"gate", "other.yaml", "--out", "gate"});
  EXPECT_EQ(vanished.status, 3) << vanished.out << vanished.err;
  EXPECT_THAT(vanished.out,
              AllOf(HasSubstr("1 ERROR"), HasSubstr(kId),
                    HasSubstr("not in the configuration; --allow-removed accepts this")));
  const ProgramResult allowed =
      bench({"gate", "other.yaml", "--out", "allowed", "--allow-removed"});
  EXPECT_EQ(allowed.status, 5) << allowed.out << allowed.err;  // and nothing else to compare with
  EXPECT_THAT(allowed.out, AllOf(Not(HasSubstr("ERROR")), Not(HasSubstr(kId))));
}

TEST_F(GateProgramTest, WithoutStoreAndBaseNothingIsComparable) {
  const ProgramResult result = gate({"--require-baseline"});
  EXPECT_EQ(result.status, 5) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("0 of 1 cases judged: 1 NO BASELINE"));
}

// A checkout has `./bench`, which builds the program first. Here it is a link to this build.
TEST_F(GateProgramTest, ABaseMayBeTheFolderOfACheckout) {
  std::filesystem::create_directory(folder_.file("checkout"));
  std::filesystem::create_symlink(BENCH_BINARY, folder_.file("checkout/bench"));
  const ProgramResult result = gate({"--base", "checkout"});
  EXPECT_THAT(result.status, AnyOf(0, 4)) << result.out << result.err;  // 4: too noisy to decide
  EXPECT_THAT(read("gate/gate.jsonl"), HasSubstr("checkout/bench"));    // the base's program
  EXPECT_THAT(result.out, Not(HasSubstr("REGRESSION")));
}

// The advice was to run the gate again.
TEST_F(GateProgramTest, ABaseWhoseLibraryIsTooOldSaysAgainstWhatToBuildIt) {
  const std::string base =
      folder_.write("base",
                    "#!/bin/sh\n[ \"$1\" != --version ] || { echo bench 0.1.0; exit; }\n"
                    "echo 'bench: undefined symbol: dnnl_memory_desc_query_v2' >&2\nexit 127\n");
  std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  const ProgramResult result = gate({"--base", base});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(read("gate/gate.json"), HasSubstr("build bench against the older oneDNN"));
  EXPECT_THAT(result.out, Not(HasSubstr("run the gate again")));
}

// Neither program nor library of such a base was shown.
TEST_F(GateProgramTest, ABaseWhoseWorkerDoesNotStartShowsItsFilesAndTheNextStep) {
  const std::string base =
      folder_.write("base", "#!/bin/sh\n[ \"$2$3\" != --probeonednn ] || exec " BENCH_BINARY
                            " \"$@\"\n[ \"$1\" != --version ] || { echo bench 0.1.0; exit; }\n"
                            "echo broken >&2\nexit 4\n");
  std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  const ProgramResult result = gate({"--base", base});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("base: bench 0.1.0 at "), HasSubstr(base + ", onednn "),
                                HasSubstr("broken; see what `" + base + " doctor` says")));
  const ProgramResult duet = bench({"duet", kId, "--base", base});
  EXPECT_EQ(duet.status, 3) << duet.err;
  EXPECT_THAT(duet.err, AllOf(HasSubstr(base + " with onednn "), HasSubstr("libdnnl"),
                              HasSubstr("broken; see what `" + base + " doctor` says")));
}

TEST_F(GateProgramTest, ABaseWhoseWorkerIsSilentShowsItsProgramAfterTheBudget) {
  const std::string base =
      folder_.write("base",
                    "#!/bin/sh\n[ \"$1\" != --version ] || { echo bench 0.1.0; exit; }\n"
                    "exec tail -f /dev/null\n");
  std::filesystem::permissions(base, std::filesystem::perms::owner_all);
  const ProgramResult result = gate({"--base", base, "--budget", "10ms"});
  EXPECT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("base: bench 0.1.0 at " + base),
                                HasSubstr(" before the candidate measured a case"),
                                Not(HasSubstr("during the candidate's run"))));
}

TEST_F(GateProgramTest, ABaseThatIsNoBenchIsAUsageError) {
  const ProgramResult result = gate({"--base", "/bin/true"});
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("--base /bin/true"), HasSubstr("version")));
  EXPECT_EQ(gate({"--base", "no/such/folder"}).status, 2);
  EXPECT_EQ(gate({"--base-env", "NOTHING"}).status, 2);
  EXPECT_EQ(bench({"gate"}).status, 2);
  EXPECT_EQ(bench({"gate", "--from", "one.yaml"}).status, 2);
}

TEST_F(GateProgramTest, EvidenceIsReplacedOnlyWithForce) {
  folder_.write("gate.jsonl", "precious");
  const ProgramResult result = bench({"gate", "one.yaml", "--out", "."});
  EXPECT_EQ(result.status, 2) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("gate.jsonl"), HasSubstr("--force")));
  EXPECT_EQ(read("gate.jsonl"), "precious");
}

// Earlier, the folder and the evidence had different run ids.
TEST_F(GateProgramTest, TheDefaultFolderBearsTheRunIdOfTheEvidenceInIt) {
  const ProgramResult result = bench({"gate", "one.yaml"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const std::string prefix = "evidence: ";
  const std::size_t begin = result.err.find(prefix);
  ASSERT_NE(begin, std::string::npos) << result.err;
  std::istringstream rest(result.err.substr(begin + prefix.size()));
  std::string folder;
  std::getline(rest, folder);
  const std::vector<json> records = parse_json_lines(read(folder + "/gate.jsonl"));
  for (const json& record : records) {
    EXPECT_EQ(folder, "gate-one-" + record.at("run_id").get<std::string>()) << record;
  }
  EXPECT_GT(records.size(), 0U);
}

TEST_F(GateProgramTest, DuetShowsTheEffectOfOneCase) {
  const ProgramResult result =
      bench({"duet", kId, "--base-env", kCap, "--duets", "6", "--out", "duets.jsonl", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(StartsWith("candidate is "), HasSubstr("faster than base over 6 duets"),
                    HasSubstr("changed: "), HasSubstr("implementation")));
  const std::string lines = read("duets.jsonl");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 7);  // the base's facts, and six duets
  EXPECT_EQ(bench({"duet", kId}).status, 2);
}

TEST_F(GateProgramTest, StatesWhetherTheGateWasShownAliveByAStoredSelfTest) {
  gate({"--base-env", "A=1", "--quiet"});
  EXPECT_THAT(read("gate/gate.md"), HasSubstr("no self-test is stored; run"));
  const json first = json::parse(read("gate/gate.json"));
  const std::string machine = first.at("machine_class").get<std::string>();
  const json proof = {{"record", "proof"},
                      {"schema", "bench.proof/1"},
                      {"run_id", "s"},
                      {"time", first.at("time")},
                      {"machine_class", machine},
                      {"tool_version", "0.1.0"},
                      {"commit", ""},
                      {"duets", 40},
                      {"suites", 1000},
                      {"red_suites", 1},
                      {"power", json::array({{{"slowdown", 0.03}, {"cases", 100}, {"found", 95}}})},
                      {"injected", {{"slowdown", 0.03}, {"measured", 0.029}}}};
  const std::string folder = folder_.file("baselines/" + machine);
  std::filesystem::create_directories(folder);
  folder_.write("baselines/" + machine + "/selftest.jsonl", proof.dump() + "\n");
  gate({"--base-env", "A=1", "--quiet", "--force"});
  EXPECT_THAT(read("gate/gate.md"),
              AllOf(HasSubstr("shown alive "), HasSubstr("0.1 % of unchanged suites"),
                    HasSubstr("+3 % is the smallest slowdown found")));
  const json report = json::parse(read("gate/gate.json"));
  EXPECT_EQ(report.at("proof").at("power"), proof.at("power"));
  EXPECT_THAT(bench({"gate", "--from", "gate/gate.jsonl"}).out, HasSubstr("shown alive "));
  // Nothing is measured while this self-test is recent.
  const ProgramResult recent = bench({"selftest", "--if-older", "8000h"});
  EXPECT_EQ(recent.status, 0) << recent.err;
  EXPECT_THAT(recent.err, HasSubstr("nothing is measured"));
  EXPECT_EQ(recent.out, "");
  EXPECT_EQ(bench({"baseline", "verify"}).status, 0);
  folder_.write("baselines/" + machine + "/selftest.jsonl", "{}\n");
  EXPECT_THAT(bench({"baseline", "verify"}).out, HasSubstr("selftest.jsonl:1"));
  EXPECT_THAT(gate({"--base-env", "A=1", "--quiet", "--force"}).err,
              HasSubstr("malformed self-test"));
  EXPECT_THAT(read("gate/gate.md"), HasSubstr("no self-test is stored"));
}

TEST_F(GateProgramTest, SelftestSeesAnInjectedSlowdownAndKeepsItsFewDuetsWithoutRates) {
  const ProgramResult result =
      bench({"selftest", kId, "--duets", "6", "--record", "d.jsonl", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(StartsWith("Too few duets for an answer: no case has more than 6"),
                    HasSubstr("A/A duets (both sides equal)"), HasSubstr("injected: +3.0 %"),
                    Not(HasSubstr("false positives per 100 cases"))));
  // Too few duets show nothing, so nothing is stored.
  EXPECT_FALSE(std::filesystem::exists(folder_.file("baselines")));
  // `gate --self-test` gives the same result.
  const ProgramResult again = bench({"gate", "--self-test", "--from", "d.jsonl", "--json"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out).at("kernels").size(), 1U);
  EXPECT_EQ(bench({"selftest", "--from", "none.jsonl"}).status, 2);
}

}  // namespace
}  // namespace bench::test::gate_test
