// SPDX-License-Identifier: Apache-2.0
// The built program as a user calls it: statuses, output streams, and the files that it leaves.
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"
#include "tests/support/schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bench::test::commands_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Processes per case of kTiny.
constexpr int kTinyProcesses = 2;

constexpr const char* kTiny = R"(version: 1
name: tiny
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 2, min_iterations: 3, max_time: 4ms }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
  - { op: gemm, m: 16, n: 16, k: 16, cache: [hot, cold] }
  - { op: pointwise, function: relu, shape: [4, 64], device: [cpu, cuda] }
)";

ProgramResult bench(std::vector<std::string> arguments, const std::string& folder = ".",
                    std::map<std::string, std::string> environment = {}) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

Report read_report(const std::string& path) {
  auto report = parse_report(read_text(path), path);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message());
  return report.ok() ? *report : Report{};
}

std::set<std::string> ids_with_time(const Report& report) {
  std::set<std::string> ids;
  for (const CaseRecord& record : report.cases) {
    if (record.outcome == Outcome::ok && record.time) ids.insert(record.id);
  }
  return ids;
}

TEST(RunTest, WritesAValidResultFileAndATable) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result = bench({"run", "tiny.yaml", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot"));
  EXPECT_THAT(result.err, HasSubstr("results: r.jsonl"));
  EXPECT_THAT(result.out, testing::StartsWith("Measured 4 of 5 cases in "));
  EXPECT_THAT(result.out, HasSubstr(" compare r.jsonl LATER_RESULT\n"));
  EXPECT_THAT(result_file_problems(read_text(folder.file("r.jsonl"))), testing::IsEmpty());
  const Report report = read_report(folder.file("r.jsonl"));
  EXPECT_EQ(report.cases.size(), 5u);
  EXPECT_EQ(ids_with_time(report).size(), 4u);
  EXPECT_GE(report.processes.size(), 8u);  // more on a busy machine
  EXPECT_EQ(report.ends.size(), 1u);
}

// Earlier, `list` reported that all parts can run here, for a network that `run` called
// unsupported.
TEST(ListTest, ANetworkInTrainingIsWhatRunSaysOfIt) {
  const TemporaryFolder folder;
  folder.write("networks/cnn.yaml",
               "version: 1\nnetwork: cnn\ninput: { c: 1, h: 8 }\nlayers:\n"
               "  - { name: conv0, op: conv, k: 4, r: 3 }\n"
               "  - { name: largest0, op: reduction, function: max, axis: [2, 3] }\n");
  folder.write("t.yaml",
               "version: 1\ndefaults:\n  warmup: { iterations: 1, time: 1ms }\n"
               "  measure: { processes: 2, min_iterations: 3, max_time: 4ms }\n"
               "cases: [{ network: cnn, mode: training, measure: [layers, network] }]\n");
  const ProgramResult run = bench({"run", "t.yaml", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("not included"),
                                      HasSubstr("gradients of reduction (largest0)"),
                                      Not(HasSubstr("conv/backward_data/"))));
  const Report report = read_report(folder.file("r.jsonl"));
  const auto network = std::ranges::find(report.cases, "network", &CaseRecord::op);
  ASSERT_NE(network, report.cases.end());
  EXPECT_EQ(network->outcome, Outcome::unsupported);
  const ProgramResult list = bench({"list", "t.yaml"}, folder.path());
  EXPECT_THAT(list.out, HasSubstr("no: " + network->reason.value_or("?")));
  EXPECT_THAT(list.out, HasSubstr("7 cases, 6 can run here"));
  const json listed = json::parse(bench({"list", "t.yaml", "--json"}, folder.path()).out);
  for (const json& entry : listed.at("cases")) {
    EXPECT_EQ(entry.contains("support"), entry.at("op") == "network") << entry;
  }
  const json document =
      json::parse(bench({"report", "r.jsonl", "--format", "json"}, folder.path()).out);
  EXPECT_EQ(document.at("networks").at(0).at("lacks").at(0), "gradients of reduction (largest0)");
  EXPECT_THAT(schema_problems(document.dump(), "docs/report.schema.json"), testing::IsEmpty());
}

// Earlier, `list` and `run --dry-run` answered "yes" for types that the processor lacks, and
// counted their time.
TEST(ListTest, WhatTheProcessorCannotComputeIsRefusedWithTheReasonOfRun) {
  const TemporaryFolder folder;
  folder.write("networks/cnn.yaml",
               "version: 1\nnetwork: cnn\ninput: { c: 4, h: 8 }\nlayers:\n"
               "  - { name: conv0, op: conv, k: 4, r: 3 }\n  - { name: relu0, op: pointwise, "
               "function: relu }\n");
  folder.write("types.yaml",
               "version: 1\ndefaults:\n  warmup: { iterations: 1, time: 1ms }\n"
               "  measure: { processes: 1, min_iterations: 3, max_time: 4ms }\ncases:\n"
               "  - { op: gemm, m: 8, n: 8, k: 8, dtype: [f32, bf16, f16, s8] }\n"
               "  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1, dtype: bf16 }\n"
               "  - { op: pointwise, function: relu, shape: [4, 64], dtype: [bf16, f16] }\n"
               "  - { op: peak, function: amx, steps: 10, dtype: s8, backend: native }\n"
               "  - { network: cnn, dtype: bf16, measure: [network] }\n");
  for (const char* processor : {"AVX2", "DEFAULT"}) {
    const std::map<std::string, std::string> environment = {{"ONEDNN_MAX_CPU_ISA", processor}};
    const std::string file = std::string(processor) + ".jsonl";
    const ProgramResult run =
        bench({"run", "types.yaml", "--out", file}, folder.path(), environment);
    const Report report = read_report(folder.file(file));
    ASSERT_EQ(report.cases.size(), 9U) << run.err;
    const ProgramResult text = bench({"list", "types.yaml"}, folder.path(), environment);
    const json listed =
        json::parse(bench({"list", "types.yaml", "--json"}, folder.path(), environment).out);
    std::size_t runs = 0;
    for (const json& entry : listed.at("cases")) {
      const auto record =
          std::ranges::find(report.cases, entry.at("id").get<std::string>(), &CaseRecord::id);
      ASSERT_NE(record, report.cases.end()) << entry;
      const bool is_refused = record->outcome == Outcome::unsupported;
      runs += is_refused ? 0 : 1;
      ASSERT_EQ(entry.contains("support"), is_refused) << entry;
      EXPECT_FALSE(entry.contains("outcome")) << "nothing was measured";
      if (!is_refused) continue;
      EXPECT_EQ(entry.at("support").at("reason"), *record->reason) << entry;
      EXPECT_THAT(text.out, HasSubstr("no: " + *record->reason));
    }
    EXPECT_EQ(listed.at("cases").size(), 9U);
    EXPECT_THAT(text.out, HasSubstr(fmt::format("9 cases, {} can run here\n", runs)));
    const ProgramResult dry = bench({"run", "types.yaml", "--dry-run"}, folder.path(), environment);
    EXPECT_THAT(dry.out,
                testing::StartsWith(runs == 9 ? std::string("9 cases in about ")
                                              : fmt::format("9 cases, {} can run here. ", runs)));
    if (std::string_view(processor) != "AVX2") continue;
    EXPECT_LE(runs, 3U) << text.out;  // the products of f32 and s8, and AMX tiles
    EXPECT_THAT(text.out, HasSubstr("does not compute bf16 on this CPU"));
  }
}

// What the library prints on request must not mix with the list.
TEST(ListTest, TheLibraryPrintsNothingIntoTheList) {
  const ProgramResult list = bench({"list", "gemm/forward/m4n4k4/f32/onednn/cpu/hot", "--json"},
                                   ".", {{"ONEDNN_VERBOSE", "all"}});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_EQ(json::parse(list.out).at("cases").size(), 1U);
}

// Earlier, `list` answered "yes" for a case that `run` skipped for lack of memory or processors.
TEST(ListTest, ACaseThatRunSkipsForLackOfMemoryOrProcessorsCannotRunHere) {
  const TemporaryFolder folder;
  const std::string large = "gemm/forward/m4000000n4000000k4/f32/onednn/cpu/hot";
  const std::string wide = "gemm/forward/m4n4k4/f32/onednn/cpu/hot/t1000";
  const ProgramResult run = bench({"run", large, wide, "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.err;
  const Report report = read_report(folder.file("r.jsonl"));
  ASSERT_EQ(report.cases.size(), 2u);
  const ProgramResult list = bench({"list", large, wide}, folder.path());
  EXPECT_THAT(list.out, HasSubstr("2 cases, 0 can run here"));
  for (const CaseRecord& record : report.cases) {
    EXPECT_EQ(record.outcome, Outcome::skipped) << record.id;
    // Without the available amount, which is different each time.
    const std::string reason = record.reason.value_or("?");
    EXPECT_THAT(list.out, HasSubstr("no: " + reason.substr(0, reason.rfind(", ")))) << record.id;
  }
  // Two tensors of 4000000 x 4000000 numbers of 4 bytes, and the same as numbers of 8 bytes.
  EXPECT_THAT(run.out, HasSubstr("not enough memory: needs 232.8 TiB (58.21 TiB for the tensors"));
  const json listed = json::parse(bench({"list", large, "--json"}, folder.path()).out);
  EXPECT_EQ(listed.at("cases").at(0).at("support").at("runs"), "no");
}

// Earlier, the JSON called a case runnable that the table refused.
TEST(ListTest, JsonAndTableRefuseAGpuCaseForTheSameReason) {
  const TemporaryFolder folder;
  for (const std::string id : {"gemm/forward/m4000000n4000000k4/f32/cublaslt/cuda/hot",
                               "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot/t1000"}) {
    const json listed = json::parse(bench({"list", id, "--json"}, folder.path()).out);
    const json support = listed.at("cases").at(0).at("support");
    EXPECT_EQ(support.at("runs"), "no") << id;
    // Without the available amount, which is different each time.
    const auto reason = support.at("reason").get<std::string>();
    EXPECT_THAT(bench({"list", id}, folder.path()).out,
                HasSubstr("no: " + reason.substr(0, reason.rfind(", "))));
  }
}

TEST(ListTest, StandardInputIsAConfiguration) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult list = run_program(
      {{"/bin/sh", "-c", "cat tiny.yaml | '" BENCH_BINARY "' list -"}, folder.path(), {}});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("5 cases, 4 can run here"));
  const ProgramResult wrong = run_program(
      {{"/bin/sh", "-c", "echo 'cases: 1' | '" BENCH_BINARY "' list -"}, folder.path(), {}});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, testing::StartsWith("-:1:"));
}

// Earlier, the message was only `cannot open the file`.
TEST(ListTest, AConfigurationOfTheProgramIsFoundFromEveryFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"quick", "quick.yaml", "configs/quick.yaml"}) {
    const ProgramResult list = bench({"list", name}, folder.path());
    EXPECT_EQ(list.status, 0) << list.err;
    EXPECT_THAT(list.out, HasSubstr("3 cases, "));
  }
  folder.write("quick.yaml", kTiny);
  EXPECT_THAT(bench({"list", "quick.yaml"}, folder.path()).out, HasSubstr("5 cases, "));
  EXPECT_EQ(bench({"list", "x/quick.yaml"}, folder.path()).status, 2);
  EXPECT_THAT(bench({"list", "nothing.yaml"}, folder.path()).err,
              HasSubstr("\nconfigurations: bert bert_large blas "));
}

// Earlier, the command omitted the options, so that it listed other cases.
TEST(RunTest, TheCommandThatListsWhatCouldNotRunSelectsTheSameCases) {
  const TemporaryFolder folder;
  folder.write("none.yaml",
               "version: 1\ncases: [{ op: gemm, m: 4, n: 4, k: 4, device: [cpu, cuda] }]\n");
  const ProgramResult run = bench({"run", "none.yaml", "--device", "cuda", "--filter", "gemm/*",
                                   "--set", "dtype=f16", "--out", "r.jsonl"},
                                  folder.path(), {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_THAT(run.out, HasSubstr(std::string(BENCH_BINARY) +
                                 " list none.yaml --set dtype=f16 --filter 'gemm/*' --device "
                                 "cuda\n"));
}

// Earlier, such a run printed a table of n/a and ended with status 0, like a measurement.
TEST(RunTest, ARunWhoseCasesWereAllSkippedSaysThatNothingWasMeasuredAndWhatToDo) {
  const TemporaryFolder folder;
  folder.write("none.yaml",
               "version: 1\ndefaults: { device: cuda }\n"
               "cases: [{ op: gemm, m: 4, n: 4, k: 4 }, { op: gemm, m: 8, n: 4, k: 4 }]\n");
  const std::map<std::string, std::string> no_gpu = {{"CUDA_VISIBLE_DEVICES", ""}};
  const ProgramResult run = bench({"run", "none.yaml", "--out", "r.jsonl"}, folder.path(), no_gpu);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::StartsWith("Nothing was measured: 2 of 2 cases skipped; the "
                                           "reasons are below.\n"));
  EXPECT_THAT(run.out, HasSubstr("\nThe exit status is 0: skipped and unsupported cases are not "
                                 "failures.\n"));
  EXPECT_THAT(run.out, HasSubstr(std::string(BENCH_BINARY) + " list none.yaml\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("canaries")));
  const ProgramResult required =
      bench({"run", "none.yaml", "--require", "gpu", "--out", "s.jsonl"}, folder.path(), no_gpu);
  EXPECT_EQ(required.status, 3) << required.err;
  EXPECT_THAT(required.out, HasSubstr("\nThe exit status is 3.\n"));
  const ProgramResult document =
      bench({"run", "none.yaml", "--json", "--out", "t.jsonl"}, folder.path(), no_gpu);
  EXPECT_EQ(json::parse(document.out).at("cases").size(), 2u);
  EXPECT_THAT(document.err, HasSubstr("bench run: Nothing was measured: 2 of 2 cases skipped"));
}

// Earlier, it reported "at most 720 ms" for a run that took 3.6 s, because it counted only warm-up
// and timed iterations.
TEST(RunTest, ADryRunEstimatesTheWholeRunAndShowsTheCommandThatMeasures) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult run =
      bench({"run", "tiny.yaml", "--dry-run", "--budget", "90s"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::StartsWith("5 cases"));
  for (const char* part :
       {" timed, ", " warm-up, ", " preparation and checks, ", " starts of workers, "}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  // The variables that this test inherits may stand between.
  EXPECT_THAT(run.out, HasSubstr("To measure:\n  "));
  EXPECT_THAT(run.out,
              testing::EndsWith(std::string(BENCH_BINARY) + " run tiny.yaml --budget 90s\n"));
  const ProgramResult short_run =
      bench({"run", "tiny.yaml", "--dry-run", "--budget", "100ms"}, folder.path());
  EXPECT_THAT(short_run.out, HasSubstr(". The budget ends the run after 0.1 s; without it, the run "
                                       "takes about "));
}

// Earlier, the estimate counted the skipped case: 6412003 s, though a run measured nothing.
TEST(RunTest, ADryRunNamesTheCasesThatWillBeSkippedAndLeavesThemOut) {
  const TemporaryFolder folder;
  const std::string huge = "{ op: gemm, m: 200000, n: 200000, k: 200000 }";
  const std::string cuda = "{ op: gemm, m: 4, n: 4, k: 4, device: cuda }";
  folder.write("huge.yaml", "version: 1\ncases: [" + huge + ", " + cuda + "]\n");
  folder.write("mixed.yaml", "version: 1\ncases: [" + huge + ", {op: gemm, m: 4, n: 4, k: 4}]\n");
  const std::map<std::string, std::string> no_gpu = {{"CUDA_VISIBLE_DEVICES", ""}};
  const ProgramResult none = bench({"run", "huge.yaml", "--dry-run"}, folder.path(), no_gpu);
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_THAT(none.out, testing::StartsWith("2 cases: none can run here, so a run measures "
                                            "nothing.\n"));
  EXPECT_THAT(none.out, HasSubstr("no: not enough memory: needs "));
  EXPECT_THAT(none.out, HasSubstr("no: no cuda device"));
  const ProgramResult mixed = bench({"run", "mixed.yaml", "--dry-run"}, folder.path());
  EXPECT_THAT(mixed.out, testing::StartsWith("2 cases, 1 can run here. The run takes about "));
  EXPECT_THAT(mixed.out.substr(0, mixed.out.find(':')), testing::EndsWith(" s"));
  EXPECT_THAT(mixed.out, HasSubstr("no: not enough memory: needs "));
}

TEST(ValidateTest, OneCaseIsSingular) {
  const TemporaryFolder folder;
  folder.write("one.yaml", "version: 1\ncases: [{ op: gemm, m: 4, n: 4, k: 4 }]\n");
  EXPECT_EQ(bench({"validate", "one.yaml"}, folder.path()).out, "one.yaml: 1 case\n");
}

// Earlier, `-nq` stayed unchanged, so that the command that should measure was another dry run.
TEST(RunTest, TheCommandBehindADryRunKeepsTheLettersBesideN) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult run = bench({"run", "tiny.yaml", "-nq"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::EndsWith(std::string(BENCH_BINARY) + " run tiny.yaml -q\n"));
}

// Earlier, the command printed "no cases" and ended with status 0, so that a gate built on it
// passed.
TEST(ReportTest, AnEmptyFileIsRefused) {
  const TemporaryFolder folder;
  folder.write("empty.jsonl", "\n");
  const ProgramResult result = bench({"report", "empty.jsonl"}, folder.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "bench report: empty.jsonl: is empty; name a file that `bench run` wrote\n");
}

// Earlier, the line began with `bench`, although a checkout has only `./bench`.
TEST(ExplainTest, TheLineToPasteBeginsWithTheProgramAsItWasCalled) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink(BENCH_BINARY, folder.file("bench"));
  const ProgramResult result = run_program(
      {{"./bench", "explain", "gemm/forward/m4n4k4/f32/onednn/cpu/hot"}, folder.path(), {}});
  EXPECT_THAT(result.out, HasSubstr(" ./bench run gemm/forward/m4n4k4/f32/onednn/cpu/hot\n"));
}

TEST(RunTest, MemoryOfACaseIsToldByWhatItIsFor) {
  const TemporaryFolder folder;
  const std::string id = "gemm/forward/m16n32k64/f32/onednn/cpu/hot/t1";
  const ProgramResult result = bench({"run", id, "--quick", "--out", "r.jsonl"}, folder.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string text = read_text(folder.file("r.jsonl"));
  EXPECT_THAT(result_file_problems(text), testing::IsEmpty());
  const std::vector<json> cases = records_of_kind(text, "case");
  ASSERT_EQ(cases.size(), 1U);
  const json memory = cases[0].at("memory");
  const auto bytes = [&](const char* name) { return memory.at(name).get<std::int64_t>(); };
  EXPECT_EQ(bytes("activations_bytes"), (16 * 64 + 16 * 32) * 4) << "its source and destination";
  EXPECT_GE(bytes("weights_bytes"), 64 * 32 * 4) << "blocked layouts pad";
  EXPECT_GE(bytes("peak_bytes"), bytes("activations_bytes") + bytes("weights_bytes"));
}

// The time of the profile counts once: otherwise idle time would be negative.
TEST(RunTest, WritesAValidResultFileWithAProfile) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result =
      bench({"run", "tiny.yaml", "--profile", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("Profiling changed the time of 4 iterations, one of each case, by "));
  EXPECT_THAT(result_file_problems(read_text(folder.file("r.jsonl"))), testing::IsEmpty());
  const Report report = read_report(folder.file("r.jsonl"));
  EXPECT_THAT(report.warnings, testing::IsEmpty());
  EXPECT_EQ(report.profile_passes.size(), 4u);
  ASSERT_EQ(report.ends.size(), 1u);
  EXPECT_GE(report.ends[0].accounting.idle, Nanoseconds(0));
  EXPECT_GT(report.ends[0].accounting.profile, Nanoseconds(0));
}

TEST(RunTest, AnAbsentGpuIsSkippedWithItsReasonAndStatus0UnlessRequired) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult plain =
      bench({"run", "tiny.yaml", "--device", "cuda", "--out", "a.jsonl"}, folder.path());
  EXPECT_EQ(plain.status, 0) << plain.err;
  const Report report = read_report(folder.file("a.jsonl"));
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.cases[0].outcome, Outcome::skipped);
  EXPECT_THAT(report.cases[0].reason.value_or(""), HasSubstr("no CUDA device"));
  const ProgramResult required =
      bench({"run", "tiny.yaml", "--device", "cuda", "--require", "gpu", "--out", "b.jsonl"},
            folder.path());
  EXPECT_EQ(required.status, 3);
}

TEST(RunTest, JsonOnStdoutIsTheReportDocument) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result = bench({"run", "tiny.yaml", "--json", "--quiet"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(schema_problems(result.out, "docs/report.schema.json"), testing::IsEmpty());
  EXPECT_EQ(json::parse(result.out).at("cases").size(), 5u);
}

TEST(RunTest, AnExistingFileIsReplacedOnlyWithForce) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  folder.write("r.jsonl", "precious\n");
  const ProgramResult refused = bench({"run", "tiny.yaml", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("r.jsonl"));
  EXPECT_EQ(read_text(folder.file("r.jsonl")), "precious\n");
  EXPECT_EQ(bench({"run", "tiny.yaml", "--filter", "gemm/*", "--out", "r.jsonl", "--force"},
                  folder.path())
                .status,
            0);
}

TEST(RunTest, ShardsTogetherAreTheWhole) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--out", "all.jsonl"}, folder.path()).status, 0);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--shard", "1/2", "--out", "1.jsonl"}, folder.path()).status,
            0);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--shard", "2/2", "--out", "2.jsonl"}, folder.path()).status,
            0);
  const ProgramResult merged =
      bench({"report", "1.jsonl", "2.jsonl", "-o", "merged.json"}, folder.path());
  EXPECT_EQ(merged.status, 0) << merged.err;
  const json document = json::parse(read_text(folder.file("merged.json")));
  EXPECT_EQ(document.at("cases").size(), read_report(folder.file("all.jsonl")).cases.size());
  EXPECT_EQ(document.at("runs").size(), 2u);
}

TEST(RunTest, ResumeMeasuresWhatIsMissingAndRefusesAnotherConfiguration) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  ASSERT_EQ(bench({"run", "tiny.yaml", "--out", "r.jsonl"}, folder.path()).status, 0);
  const std::string full_text = read_text(folder.file("r.jsonl"));
  const Report undisturbed = read_report(folder.file("r.jsonl"));
  // Cuts after the third process record (which follows the run's record), in the middle of the next
  // line, as a kill would.
  std::size_t cut = 0;
  for (int seen = 0; seen < 4; ++seen) cut = full_text.find('\n', cut) + 1;
  folder.write("cut.jsonl", full_text.substr(0, cut + 20));
  const ProgramResult resumed = bench({"run", "tiny.yaml", "--resume", "cut.jsonl"}, folder.path());
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(ids_with_time(read_report(folder.file("cut.jsonl"))), ids_with_time(undisturbed));
  // Each requested process has one record. On a busy machine, further processes replace disturbed
  // ones.
  std::set<std::pair<std::string, int>> processes;
  for (const ProcessRecord& process : read_report(folder.file("cut.jsonl")).processes) {
    EXPECT_TRUE(processes.emplace(process.id, process.process).second) << process.id;
  }
  for (const ProcessRecord& process : undisturbed.processes) {
    if (process.process >= kTinyProcesses) continue;
    EXPECT_TRUE(processes.contains({process.id, process.process})) << process.id;
  }
  EXPECT_THAT(result_file_problems(read_text(folder.file("cut.jsonl"))), testing::IsEmpty());
  folder.write("other.yaml", std::string(kTiny) + "  - { op: softmax, shape: [2, 10] }\n");
  const ProgramResult refused =
      bench({"run", "other.yaml", "--resume", "cut.jsonl"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("another configuration"));
}

TEST(RunTest, ACaseHasItsPrimitivesAndTheDigestOfItsOutput) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result =
      bench({"run", "tiny.yaml", "--quick", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const Report report = read_report(folder.file("r.jsonl"));
  EXPECT_THAT(result.out, Not(HasSubstr("canaries")));  // users do not know this word
  for (const CaseRecord& record : report.cases) {
    if (record.outcome != Outcome::ok) continue;
    EXPECT_TRUE(record.details.contains("primitives")) << record.id;
    EXPECT_EQ(record.details.at("output.digest").size(), 16u) << record.id;
  }
}

TEST(RunTest, ASlowdownOnPurposeIsRecordedAndAWrongOneRefused) {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments = {"run", "gemm/forward/m16n16k16/f32/onednn/cpu/hot",
                                              "--quick", "--out", "r.jsonl"};
  const ProgramResult refused = bench(arguments, folder.path(), {{"BENCH_SLOWDOWN", "fast"}});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("BENCH_SLOWDOWN: `fast` is not a fraction of the time"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("r.jsonl")));
  const ProgramResult slowed = bench(arguments, folder.path(), {{"BENCH_SLOWDOWN", "3%"}});
  EXPECT_EQ(slowed.status, 0) << slowed.err;
  const Report report = read_report(folder.file("r.jsonl"));
  EXPECT_EQ(report.runs.at(0).environment.details.at("env.BENCH_SLOWDOWN"), "3%");
}

TEST(RunTest, ACaseIdRerunsOneCase) {
  const TemporaryFolder folder;
  const ProgramResult result =
      bench({"run", "gemm/forward/m16n16k16/f32/onednn/cpu/cold", "--quick", "--out", "r.jsonl"},
            folder.path());
  EXPECT_EQ(result.status, 0) << result.err;
  const Report report = read_report(folder.file("r.jsonl"));
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.cases[0].id, "gemm/forward/m16n16k16/f32/onednn/cpu/cold");
}

TEST(RunTest, WrongConfigurationIsStatus2AndLeavesNoFile) {
  const TemporaryFolder folder;
  folder.write("bad.yaml",
               "version: 1\ncases:\n  - { op: conv, c: 8, h: 8, k: 8, r: 3, strid: 2 }\n");
  const ProgramResult result = bench({"run", "bad.yaml"}, folder.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("bad.yaml:3:"));
  EXPECT_THAT(result.err, HasSubstr("did you mean `stride`?"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(RunTest, AMissingFileAndAnUnwritableFolderAreNamed) {
  const TemporaryFolder folder;
  const ProgramResult missing = bench({"run", "nowhere.yaml"}, folder.path());
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.yaml"));
  folder.write("tiny.yaml", kTiny);
  const ProgramResult unwritable =
      bench({"run", "tiny.yaml", "--out", "no/such/folder/r.jsonl"}, folder.path());
  EXPECT_EQ(unwritable.status, 2);
  EXPECT_THAT(unwritable.err, HasSubstr("no/such/folder"));
}

TEST(RunTest, ABudgetThatEndsEarlyListsWhatItLeftOut) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result =
      bench({"run", "tiny.yaml", "--budget", "1ns", "--out", "r.jsonl"}, folder.path());
  EXPECT_EQ(result.status, 3);
  const Report report = read_report(folder.file("r.jsonl"));
  EXPECT_EQ(report.cases.size(), 5u);
  ASSERT_EQ(report.ends.size(), 1u);
  EXPECT_EQ(report.ends[0].not_measured, 4);
  EXPECT_EQ(report.ends[0].exit, 3);
  EXPECT_THAT(result.err,
              testing::EndsWith("bench run: stopped by the budget: 4 of 5 cases have fewer "
                                "processes than asked for, 4 of them none; --resume r.jsonl "
                                "continues\n"));
}

// Earlier, `list ID --set dtype=bf16` listed the case in f32 without an error.
TEST(ListTest, AnIdTakesWhatIsSetOrRefusesIt) {
  const std::string id = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
  const ProgramResult set = bench({"list", id, "--set", "dtype=bf16", "--set", "threads=1"}, ".");
  EXPECT_EQ(set.status, 0);
  EXPECT_THAT(set.out, HasSubstr("\ngemm/forward/m16n16k16/bf16/onednn/cpu/hot/t1 "));
  const ProgramResult refused = bench({"list", id, "--set", "batch=4"}, ".");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("--set batch=4: `batch` is for networks"));
}

// With OMP_PROC_BIND, the library's OpenMP runtime binds every program that loads it to one
// processor. The coordinator must still count all processors that it may use.
TEST(RunTest, OpenmpVariablesOfTheCallerDoNotShrinkTheMachine) {
  const TemporaryFolder folder;
  const char* const id = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
  const auto threads = [&](const std::string& file,
                           std::map<std::string, std::string> environment) {
    EXPECT_EQ(
        bench({"run", id, "--quick", "--out", file}, folder.path(), std::move(environment)).status,
        0);
    const Report report = read_report(folder.file(file));
    return report.runs.empty() ? std::nullopt : report.runs[0].environment.threads;
  };
  const auto plain = threads("a.jsonl", {});
  EXPECT_EQ(threads("b.jsonl", {{"OMP_PROC_BIND", "true"}}), plain);
}

TEST(ListTest, ShowsWorkAndWhereCasesCanRun) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult text = bench({"list", "tiny.yaml"}, folder.path());
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("5 cases, 4 can run here"));
  const ProgramResult listed =
      bench({"list", "tiny.yaml", "--json", "--filter", "conv/*"}, folder.path());
  const json cases = json::parse(listed.out).at("cases");
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].at("work").at("macs"), 8 * 8 * 8 * 8 * 9);
  EXPECT_FALSE(cases[0].contains("time"));
}

TEST(ValidateTest, ListsEveryErrorOfEveryFile) {
  const TemporaryFolder folder;
  folder.write("a.yaml",
               "version: 1\ncases:\n  - { op: cnov, c: 8 }\n  - { op: gemm, m: 0, n: 4, k: 4 }\n");
  folder.write("b.yaml", "version: 1\ncases: [ { op: gemm, m: 4, n: 4, k: 4 }\n");
  folder.write("good.yaml", kTiny);
  const ProgramResult result = bench({"validate", "a.yaml", "b.yaml", "good.yaml"}, folder.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("a.yaml:3:"));
  EXPECT_THAT(result.err, HasSubstr("a.yaml:4:"));
  EXPECT_THAT(result.err, HasSubstr("b.yaml:"));
  EXPECT_THAT(result.out, HasSubstr("good.yaml: 5 cases"));
}

TEST(ValidateTest, EveryShippedConfigurationIsValid) {
  const std::filesystem::path configs = std::filesystem::path(BENCH_SOURCE_DIR) / "configs";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(configs)) {
    if (entry.path().extension() != ".yaml") continue;
    const ProgramResult result = bench({"validate", entry.path().string()}, BENCH_SOURCE_DIR);
    EXPECT_EQ(result.status, 0) << result.err;
    ++files;
  }
  EXPECT_GT(files, 3);
}

TEST(ExplainTest, ShowsFormulasImplementationAndReproduction) {
  const std::string id = "conv/forward/n32c64h56w56k64r3s3p1/f32/onednn/cpu/hot";
  const ProgramResult result = bench({"explain", id});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("2*N*K*(C/g)*P*Q*R*S"));
  EXPECT_THAT(result.out, HasSubstr("7398752256"));
  EXPECT_THAT(result.out, HasSubstr("bench run " + id + "\n"));
  EXPECT_EQ(json::parse(bench({"explain", id, "--json"}).out).at("cases").size(), 1u);
  EXPECT_EQ(bench({"explain", "conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hott"}).status, 2);
}

TEST(ExplainTest, AFormulaThatNamesAnotherShowsItsValueOnce) {
  const ProgramResult result = bench({"explain", "gemm/forward/m256n256k256/f32/onednn/cpu/hot"});
  EXPECT_THAT(result.out, HasSubstr("  flops_valid = flops\n"
                                    "              = 33554432\n"
                                    "  bytes = "));
}

TEST(DoctorTest, NamesTheLibraryAndExits0) {
  const ProgramResult result = bench({"doctor", "--watch", "50ms"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("libdnnl.so.3"));
  EXPECT_THAT(result.out, HasSubstr(" precision       "));
  EXPECT_THAT(result.out, HasSubstr("How long the same work took in "));
  const ProgramResult without = bench({"doctor", "--json", "--watch", "0s"});
  EXPECT_TRUE(json::parse(without.out).at("rows").is_array());
  EXPECT_THAT(without.out, Not(HasSubstr("\"speeds\"")));
  const json with = json::parse(bench({"doctor", "--json", "--watch", "50ms"}).out);
  EXPECT_TRUE(with.at("speeds").is_array());
}

TEST(StreamsTest, NoEscapeSequencesWithoutATerminal) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kTiny);
  const ProgramResult result = bench({"run", "tiny.yaml"}, folder.path());
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace bench::test::commands_test
