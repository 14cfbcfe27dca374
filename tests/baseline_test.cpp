// SPDX-License-Identifier: Apache-2.0
// `bench baseline`, and how `run` and `compare` use a store, as a user calls them. Most tests write
// result files with known times. A test calls `bench run` only if a result must be of this machine.
#include "harness/store/store.hpp"
#include "tests/fakes/reports.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace bench::test::baseline_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kId = kStoredCase;
constexpr const char* kFile =
    "baselines/test-2c-00000000/gemm__forward__m16n16k16__f32__onednn__cpu__hot.jsonl";

constexpr const char* kTiny = R"(version: 1
name: tiny
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 5, min_iterations: 3, max_time: 5ms }
cases:
  - { op: gemm, m: 16, n: 16, k: 16 }
  - { op: pointwise, function: relu, shape: [4, 64] }
)";

class BaselineTest : public testing::Test {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), {}});
  }
  ProgramResult baseline(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "baseline");
    return bench(std::move(arguments));
  }
  ProgramResult save(const std::string& file) const {
    return baseline({"save", file, "--reason", "nightly"});
  }
  void append(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.file(name), std::ios::app) << text;
  }
  const TemporaryFolder folder_;
};

RunRecord run_record(int number) {
  RunRecord run = sample_run("run-" + std::to_string(number));
  run.started = "2026-11-0" + std::to_string(number) + "T08:00:00Z";
  run.tool_version = "0.1.0";
  run.tool_commit = "c0ffee00000" + std::to_string(number);
  return run;
}

std::string result_text(const RunRecord& run, std::int64_t nanoseconds,
                        const std::string& id = kId) {
  CaseRecord record = sample_case(run.run_id, id);
  record.implementation = "brg:avx512_core";
  record.memory = MemoryUse{Bytes{4096}, Bytes{1024}, Bytes{0}};
  return result_file(run, record, nanoseconds);
}

// Regression test: `save` used to store a much slower run with a warning. The gate was then blind.
TEST_F(BaselineTest, SaveRefusesARunThatIsClearlySlower) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 280'000));
  EXPECT_EQ(save("a.jsonl").status, 0);
  const ProgramResult slower = save("b.jsonl");
  EXPECT_EQ(slower.status, 1);
  EXPECT_THAT(slower.out, AllOf(HasSubstr("refused"), HasSubstr("2.8x slower"),
                                HasSubstr("than the last stored run")));
  EXPECT_THAT(slower.err,
              AllOf(HasSubstr("1 case is slower or of another environment and not saved"),
                    HasSubstr("`bench baseline accept`"), HasSubstr("--force"),
                    HasSubstr("0 saved in baselines, 0 known before, 1 refused")));
  EXPECT_EQ(baseline({"verify"}).out, "1 case, 1 run, 0 problems\n");
  EXPECT_EQ(baseline({"save", "b.jsonl", "--reason", "a busy night", "--force"}).status, 0);
  EXPECT_EQ(baseline({"verify"}).out, "1 case, 2 runs, 0 problems\n");
  // A run that the store has already is beyond doubt.
  EXPECT_EQ(save("b.jsonl").status, 0);
  folder_.write("c.jsonl", result_text(run_record(3), 900'000));
  EXPECT_EQ(baseline({"accept", "c.jsonl", "--reason", "a check"}).status, 0);
}

TEST_F(BaselineTest, SaveRefusesASlowerRunThatHasTooFewProcessesForAnInterval) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  EXPECT_EQ(save("a.jsonl").status, 0);
  const RunRecord quick = run_record(2);
  folder_.write("b.jsonl",
                to_json_line(quick) + "\n" +
                    to_json_line(sample_process(quick.run_id, kId, 0, {Nanoseconds(300'000)})) +
                    "\n" + to_json_line(sample_case(quick.run_id, kId)) + "\n");
  EXPECT_EQ(save("b.jsonl").status, 1);
}

TEST_F(BaselineTest, SaveRefusesARunOfAnotherEnvironment) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  RunRecord other = run_record(2);
  other.environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
  folder_.write("b.jsonl", result_text(other, 100'000));
  EXPECT_EQ(save("a.jsonl").status, 0);
  const ProgramResult refused = save("b.jsonl");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.out, HasSubstr("env.ONEDNN_MAX_CPU_ISA n/a -> SSE41"));
  EXPECT_EQ(baseline({"accept", "b.jsonl", "--reason", "from now on"}).status, 0);
  // Then the former environment is the other one.
  folder_.write("c.jsonl", result_text(run_record(3), 100'000));
  EXPECT_EQ(save("c.jsonl").status, 1);
}

TEST_F(BaselineTest, RemoveUndoesASave) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 101'000));
  folder_.write("c.jsonl", result_text(run_record(2), 101'000, "pool/x"));
  ASSERT_EQ(baseline({"save", "a.jsonl", "b.jsonl", "c.jsonl", "--reason", "r"}).status, 0);
  const std::string before = read_text(folder_.file(kFile));
  const ProgramResult rehearsal = baseline({"remove", "run-2", "--dry-run"});
  EXPECT_EQ(rehearsal.status, 0) << rehearsal.err;
  EXPECT_THAT(rehearsal.out,
              AllOf(testing::StartsWith("1 run of 2 cases would be removed\n"), HasSubstr(kFile)));
  EXPECT_EQ(read_text(folder_.file(kFile)), before);
  const ProgramResult removed = baseline({"remove", "run-2"});
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_EQ(removed.out, "1 run of 2 cases removed\n");
  EXPECT_EQ(baseline({"verify"}).out, "1 case, 1 run, 0 problems\n");
  const ProgramResult unknown = baseline({"remove", "run-3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean `run-1`?"));
}

TEST_F(BaselineTest, RemoveNeedsForceForAnAnchor) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  ASSERT_EQ(baseline({"save", "a.jsonl", "--reason", "r", "--anchor", "v1"}).status, 0);
  const ProgramResult refused = baseline({"remove", "run-1"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("has the anchor `v1`"), HasSubstr("--force")));
  EXPECT_EQ(json::parse(baseline({"remove", "run-1", "--force", "--json"}).out)
                .at("cases")
                .at(0)
                .at("run_id"),
            "run-1");
  EXPECT_FALSE(std::filesystem::exists(folder_.file(kFile)));
}

TEST_F(BaselineTest, OnlyRemoveAndAdoptCanBeRehearsed) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  const ProgramResult result = baseline({"save", "a.jsonl", "--reason", "r", "--dry-run"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--dry-run: cannot be used with `save`"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("baselines")));
}

// Regression test: a run that was saved used to be compared with itself.
TEST_F(BaselineTest, CompareLeavesTheRunItselfOutAndSaysSo) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 130'000));
  ASSERT_EQ(save("a.jsonl").status, 0);
  const ProgramResult alone = bench({"compare", "baselines", "a.jsonl"});
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("run run-1 is in the store itself: 1 case has no other run"));
  ASSERT_EQ(baseline({"save", "b.jsonl", "--reason", "r", "--force"}).status, 0);
  const ProgramResult result = bench({"compare", "baselines", "b.jsonl"});
  EXPECT_THAT(result.err, HasSubstr("run run-2 is in the store itself: the last other run of each "
                                    "case is compared with it"));
  EXPECT_THAT(result.out, HasSubstr("30 % slower"));
  // One file of the store, and an anchor that is the last run.
  EXPECT_THAT(bench({"compare", kFile, "b.jsonl"}).out, HasSubstr("both sides are run run-2"));
  ASSERT_EQ(baseline({"save", "b.jsonl", "--reason", "r", "--anchor", "v1"}).status, 0);
  EXPECT_THAT(bench({"compare", "baselines@v1", "baselines"}).out,
              HasSubstr("both sides are run run-2"));
}

// The class of this machine adopts runs of another build; a class of another processor only by
// force.
TEST_F(BaselineTest, AdoptTakesOverTheRunsOfAnotherBuild) {
  folder_.write("tiny.yaml", kTiny);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--out", "r.jsonl", "--quiet"}).status, 0);
  RunRecord run = run_record(1);
  run.environment.details["cpu.family"] = "none";
  folder_.write("other.jsonl", result_text(run, 100'000));
  ASSERT_EQ(save("other.jsonl").status, 0);
  const ProgramResult refused = baseline({"adopt", "test-2c-00000000"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("another kind of machine: cpu.family none -> "),
                                 HasSubstr("--force adopts them all the same")));
  EXPECT_THAT(baseline({"adopt", "nowhere"}).err, HasSubstr("it has those of test-2c-00000000"));

  // Another build of this program on this machine.
  std::string text = read_text(folder_.file("r.jsonl"));
  const std::string own = json::parse(text.substr(0, text.find('\n')))
                              .at("environment")
                              .at("machine_class")
                              .get<std::string>();
  for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos;)
    text.replace(at, own.size(), "former-2c-11111111");
  const std::string flags = "\"build.flags\":\"";
  const std::size_t at = text.find(flags);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + flags.size(), "-mtune=x ");
  folder_.write("former.jsonl", text);
  ASSERT_EQ(save("former.jsonl").status, 0);
  const ProgramResult missing =
      bench({"run", "tiny.yaml", "--quick", "--out", "s.jsonl", "--baseline", "baselines"});
  EXPECT_THAT(missing.out, AllOf(HasSubstr("differs in: build.flags -mtune=x "),
                                 HasSubstr("`bench baseline adopt former-2c-11111111`")));
  const ProgramResult rehearsal = baseline({"adopt", "former-2c-11111111", "--dry-run"});
  EXPECT_EQ(rehearsal.status, 0) << rehearsal.err;
  EXPECT_THAT(rehearsal.out, HasSubstr("2 runs of 2 cases and 0 ceilings would be adopted"));
  const ProgramResult adopted = baseline({"adopt", "former-2c-11111111"});
  EXPECT_EQ(adopted.status, 0) << adopted.err;
  EXPECT_THAT(adopted.out, HasSubstr("2 runs of 2 cases and 0 ceilings adopted from "
                                     "former-2c-11111111 to " +
                                     own));
  EXPECT_THAT(bench({"compare", "baselines", "s.jsonl"}).out, Not(HasSubstr("machine_class")));
  EXPECT_EQ(baseline({"verify"}).status, 0);
  EXPECT_THAT(baseline({"adopt", "former-2c-11111111"}).out, HasSubstr("2 cases had runs already"));
  EXPECT_THAT(baseline({"adopt", own}).err, HasSubstr("is the class of this machine"));
}

// Every command that reads the store names the line and does not use it. malformed_line_test.cpp
// does so for every field.
TEST_F(BaselineTest, EveryCommandNamesAMalformedLineAndDoesNotUseIt) {
  folder_.write("tiny.yaml", kTiny);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--out", "r.jsonl", "--filter", "gemm/*", "-q"}).status, 0);
  ASSERT_EQ(save("r.jsonl").status, 0);
  std::string file;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_.file("baselines"))) {
    if (entry.path().extension() == ".jsonl") file = entry.path().string();
  }
  const std::string relative = file.substr(folder_.path().size() + 1);
  const json good = json::parse(read_text(file));
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{
           {"/time", "garbage"},
           {"/epoch", 9'000'000'000},
           {"/processes/0/med_ns", std::int64_t{9'000'000'000'000'000'000}},
           {"/processes/0/n", -1},
           {"/environment/machine_class", "other"}}) {
    json changed = good;
    changed["run_id"] = "changed";
    changed[json::json_pointer(pointer)] = value;
    std::ofstream(file) << good.dump() << "\n" << changed.dump() << "\n";
    const std::string place = relative + ":2: record refused: ";
    const ProgramResult verified = baseline({"verify"});
    EXPECT_EQ(verified.status, 2) << pointer;
    EXPECT_THAT(verified.out, AllOf(HasSubstr(place), HasSubstr("1 case, 1 run, 1 problem")));
    EXPECT_THAT(bench({"history"}).err, HasSubstr(place)) << pointer;
    EXPECT_THAT(bench({"compare", "baselines", "r.jsonl"}).err, HasSubstr(place)) << pointer;
    EXPECT_THAT(baseline({"prune"}).err, HasSubstr(place)) << pointer;
    EXPECT_THAT(baseline({"list"}).err, HasSubstr(place)) << pointer;
    EXPECT_THAT(baseline({"remove", "changed"}).err, HasSubstr("no such run")) << pointer;
  }
  const ProgramResult run = bench({"run", "tiny.yaml", "--filter", "gemm/*", "--quick", "--out",
                                   "s.jsonl", "--baseline", "baselines"});
  EXPECT_THAT(run.out, HasSubstr(":2: record refused: "));
  const ProgramResult gate = bench({"gate", "tiny.yaml", "--filter", "gemm/*", "--quick", "--out",
                                    "gate", "--baseline", "baselines"});
  EXPECT_THAT(gate.out + gate.err, HasSubstr(":2: record refused: "));
}

// Earlier, the schema did not allow `config`, which every saved run has.
TEST(StoreOfThisProject, MatchesTheSchema) {
  int lines = 0;
  const std::string store = std::string(BENCH_SOURCE_DIR) + "/baselines";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store)) {
    if (entry.path().extension() != ".jsonl") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line); ++lines) {
      EXPECT_THAT(schema_problems(line, "docs/baseline.schema.json"), IsEmpty()) << entry.path();
    }
  }
  EXPECT_GT(lines, 0);
}

TEST_F(BaselineTest, SaveListShowAndVerify) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 101'000));
  const ProgramResult saved =
      baseline({"save", "a.jsonl", "b.jsonl", "--reason", "nightly run of main"});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_THAT(saved.out, AllOf(HasSubstr(kId), HasSubstr("saved")));
  EXPECT_THAT(saved.err, HasSubstr("2 saved in baselines, 0 known before, 0 refused"));
  const std::string text = read_text(folder_.file(kFile));
  EXPECT_THAT(schema_problems(text.substr(0, text.find('\n')), "docs/baseline.schema.json"),
              IsEmpty());

  const ProgramResult list = baseline({"list"});
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("baselines/test-2c-00000000"), HasSubstr(kId),
                              HasSubstr("c0ffee000002"), HasSubstr("101.0 us")));
  const json listed = json::parse(baseline({"list", "--json"}).out).at("cases").at(0);
  EXPECT_EQ(listed.at("id"), kId);
  EXPECT_EQ(listed.at("runs"), 2);
  EXPECT_EQ(listed.at("median_ns"), 101'002);
  EXPECT_THAT(baseline({"list", "--filter", "conv/*"}).out, HasSubstr("no baselines"));

  const ProgramResult show = baseline({"show", kId});
  EXPECT_EQ(show.status, 0) << show.err;
  EXPECT_THAT(show.out, AllOf(HasSubstr("run-1"), HasSubstr("+1.00%"), HasSubstr("nightly run"),
                              HasSubstr("brg:avx512_core"),
                              testing::ContainsRegex("memory.peak_bytes +4096")));
  EXPECT_EQ(json::parse(baseline({"show", kId, "--json"}).out).at("runs").size(), 2u);
  const ProgramResult unknown = baseline({"show", "conv/x"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("conv/x"), HasSubstr("bench baseline list")));

  const ProgramResult verified = baseline({"verify"});
  EXPECT_EQ(verified.status, 0);
  EXPECT_EQ(verified.out, "1 case, 2 runs, 0 problems\n");
}

TEST_F(BaselineTest, AReasonIsNeeded) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  for (const char* action : {"save", "accept"}) {
    for (const auto& words : {std::vector<std::string>{}, {"--reason", " "}}) {
      std::vector<std::string> arguments = {action, "a.jsonl"};
      arguments.insert(arguments.end(), words.begin(), words.end());
      const ProgramResult result = baseline(arguments);
      EXPECT_EQ(result.status, 2);
      EXPECT_THAT(result.err, AllOf(HasSubstr(action), HasSubstr("needs --reason TEXT")));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.file("baselines")));
}

TEST_F(BaselineTest, AcceptOpensAnEpochAndAnchorsStay) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 200'000));
  EXPECT_EQ(baseline({"save", "a.jsonl", "--reason", "r", "--anchor", "release-1.4"}).status, 0);
  EXPECT_EQ(baseline({"accept", "b.jsonl", "--reason", "checks its input (#1)"}).status, 0);
  EXPECT_THAT(save("b.jsonl").out, HasSubstr("known"));
  EXPECT_THAT(baseline({"show", kId}).out,
              AllOf(HasSubstr("release-1.4"), HasSubstr("checks its input (#1)")));
  const json listed = json::parse(baseline({"list", "--json"}).out).at("cases").at(0);
  EXPECT_EQ(listed.at("epochs"), 2);
  EXPECT_EQ(listed.at("anchors"), json::array({"release-1.4"}));
  EXPECT_THAT(bench({"compare", "baselines@release-1.4", "baselines"}).out,
              AllOf(HasSubstr("slower"), HasSubstr("2.0x slower")));
  const ProgramResult unknown = bench({"compare", "baselines@1.5", "baselines"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("anchors there: release-1.4"));
  const ProgramResult pruned = baseline({"prune"});
  EXPECT_EQ(pruned.status, 0) << pruned.err;
  EXPECT_THAT(pruned.out, HasSubstr("0 runs of 1 case removed"));
}

TEST_F(BaselineTest, WhatIsNoTimeOfItsOwnIsRefusedWithTheReason) {
  RunRecord under = run_record(1);
  under.under = "perf record";
  RunRecord slow = run_record(2);
  slow.environment.details["env.BENCH_SLOWDOWN"] = "3%";
  folder_.write("under.jsonl", result_text(under, 100'000));
  folder_.write("slow.jsonl", result_text(slow, 100'000));
  for (const auto& [file, reason] :
       {std::pair("under.jsonl", "perf record"), {"slow.jsonl", "BENCH_SLOWDOWN=3%"}}) {
    const ProgramResult result = save(file);
    EXPECT_EQ(result.status, 2) << file;
    EXPECT_THAT(result.out, AllOf(HasSubstr("refused"), HasSubstr(reason)));
    EXPECT_THAT(result.err, HasSubstr(file));
  }
  EXPECT_EQ(baseline({"list"}).status, 2);
}

TEST_F(BaselineTest, HostileIdsAndMachinesStayInTheStore) {
  RunRecord run = run_record(1);
  run.environment.machine_class = "../../evil";
  folder_.write("a.jsonl", result_text(run, 100'000, "../../../tmp/evil"));
  EXPECT_EQ(save("a.jsonl").status, 0);
  EXPECT_THAT(baseline({"list"}).out, HasSubstr("../../../tmp/evil"));
  EXPECT_TRUE(std::filesystem::exists(
      folder_.file("baselines/%2E.__..__evil/%2E.__..__..__tmp__evil.jsonl")));
}

TEST_F(BaselineTest, DamagedFilesAreNamedByLine) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  EXPECT_EQ(save("a.jsonl").status, 0);
  append(kFile, "<<<<<<< HEAD\n{\"schema\":\"bench.baseline/2\"}\n{\"schema\":\"bench.bas");
  const ProgramResult verified = baseline({"verify"});
  EXPECT_EQ(verified.status, 2);
  EXPECT_THAT(verified.out,
              AllOf(HasSubstr(std::string(kFile) + ":2: "), HasSubstr(std::string(kFile) + ":3: "),
                    HasSubstr("bench.baseline/2"), HasSubstr(std::string(kFile) + ":4: "),
                    HasSubstr("1 case, 1 run, 3 problems")));
  EXPECT_EQ(json::parse(baseline({"verify", "--json"}).out).at("problems").size(), 3u);
  EXPECT_THAT(baseline({"list"}).err, HasSubstr(std::string(kFile) + ":2: "));
  EXPECT_EQ(baseline({"prune"}).status, 2);
  EXPECT_EQ(baseline({"prune", "--force"}).status, 0);
  EXPECT_EQ(baseline({"verify"}).status, 0);
}

TEST_F(BaselineTest, WrongWordsAreExplained) {
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"lsit"}, "did you mean `list`?"},
           {{"save", "--reason", "x"}, "`save` needs RESULT..."},
           {{"list", "x"}, "`list` does not accept `x`"},
           {{"save", "none.jsonl", "--reason", "x"}, "none.jsonl"},
           {{"list", "--filter", "[x"}, "--filter [x"},
           {{"list", "--baseline", "nowhere"}, "nowhere"}}) {
    const ProgramResult result = baseline(words);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_THAT(result.err, AllOf(HasSubstr("bench baseline: "), HasSubstr(message)));
  }
}

TEST_F(BaselineTest, TwoWritersAtTheSameTime) {
  constexpr int kFiles = 8;
  std::vector<std::string> first = {"save"};
  std::vector<std::string> second = {"save"};
  for (int i = 1; i <= kFiles; ++i) {
    const std::string name = std::to_string(i) + ".jsonl";
    folder_.write(name, result_text(run_record(i), 100'000));
    (i % 2 == 0 ? first : second).push_back(name);
  }
  for (auto* words : {&first, &second}) words->insert(words->end(), {"--reason", "r"});
  std::thread other([&] { EXPECT_EQ(baseline(first).status, 0); });
  EXPECT_EQ(baseline(second).status, 0);
  other.join();
  EXPECT_EQ(baseline({"verify"}).out, "1 case, 8 runs, 0 problems\n");
}

TEST_F(BaselineTest, CompareReadsStores) {
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  folder_.write("b.jsonl", result_text(run_record(2), 130'000));
  EXPECT_EQ(save("a.jsonl").status, 0);
  for (const std::string base : {"baselines", "baselines/test-2c-00000000", kFile}) {
    const ProgramResult result = bench({"compare", base, "b.jsonl"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, AllOf(HasSubstr("slower"), HasSubstr("30 % slower"),
                                  HasSubstr("tool.commit: c0ffee000001 -> c0ffee000002"),
                                  Not(HasSubstr("config."))));
  }
  RunRecord elsewhere = run_record(3);
  elsewhere.environment.machine_class = "other-4c-11111111";
  folder_.write("c.jsonl", result_text(elsewhere, 130'000));
  const ProgramResult result = bench({"compare", "baselines", "c.jsonl"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("incomparable"), Not(HasSubstr("+30")),
                    HasSubstr("machine_class differs: test-2c-00000000 and other-4c-11111111")));
  // If the store has two machine classes, `compare` uses the one of the other side.
  EXPECT_EQ(save("c.jsonl").status, 0);
  EXPECT_THAT(bench({"compare", "baselines", "b.jsonl"}).out, HasSubstr("30 % slower"));
  EXPECT_THAT(bench({"compare", "baselines", "baselines"}).err, HasSubstr("2 machine classes"));
}

TEST_F(BaselineTest, RunShowsItsCasesBesideTheStore) {
  folder_.write("tiny.yaml", kTiny);
  const ProgramResult before = bench({"run", "tiny.yaml", "--profile", "--out", "r.jsonl"});
  ASSERT_EQ(before.status, 0) << before.err;
  EXPECT_THAT(before.out, Not(HasSubstr("vs baseline")));
  ASSERT_EQ(baseline({"save", "r.jsonl", "--filter", "gemm/*", "--reason", "first"}).status, 0);
  EXPECT_THAT(baseline({"show", kId}).out, testing::ContainsRegex("profile +1 step executed in"));
  // The command named the default store, whatever store was listed.
  EXPECT_THAT(bench({"baseline", "list", "--baseline", "baselines"}).out,
              testing::ContainsRegex("history\\s+--baseline\\s+baselines`\\s+shows"));

  const ProgramResult after = bench({"run", "tiny.yaml", "--out", "s.jsonl"});
  ASSERT_EQ(after.status, 0) << after.err;
  EXPECT_THAT(after.out, testing::ContainsRegex("vs baseline"));
  // The change has an interval, unless the machine was too busy for enough quiet processes.
  EXPECT_THAT(after.out,
              testing::ContainsRegex("[+-][0-9.]+%( \\[[+-][0-9.]+%, [+-][0-9.]+%\\])? "));
  EXPECT_THAT(after.out, HasSubstr("no baseline: baselines has no run of this case"));

  const ProgramResult other = bench({"run", "tiny.yaml", "--baseline", "none", "--out", "t.jsonl"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("none: no store of baselines"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("t.jsonl")));
}

TEST_F(BaselineTest, RunSaysWhyThereIsNothingToCompareWith) {
  folder_.write("tiny.yaml", kTiny);
  folder_.write("a.jsonl", result_text(run_record(1), 100'000));
  ASSERT_EQ(save("a.jsonl").status, 0);
  const ProgramResult plain = bench({"run", "tiny.yaml", "--quick", "--out", "a1.jsonl"});
  EXPECT_THAT(plain.out, Not(HasSubstr("vs baseline")));
  const ProgramResult requested =
      bench({"run", "tiny.yaml", "--quick", "--out", "a2.jsonl", "--baseline", "baselines"});
  EXPECT_EQ(requested.status, 0) << requested.err;
  EXPECT_THAT(requested.out,
              AllOf(HasSubstr("no baseline: baselines has no run of the machine class"),
                    HasSubstr("only of test-2c-00000000"), HasSubstr("2 cases")));
}

}  // namespace
}  // namespace bench::test::baseline_test
