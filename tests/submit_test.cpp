// SPDX-License-Identifier: Apache-2.0
// Suites on many machines: shards by the variables of a scheduler, their merge, and the jobs that
// `bench submit` writes.
#include "harness/result/report.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::test::submit_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSuite = R"(version: 1
name: tiny
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 2, min_iterations: 3, max_time: 4ms }
cases:
  - { op: gemm, n: 16, k: 16, cache: [hot, cold], sweep: { m: [16, 256] } }
  - { op: pointwise, shape: [4, 64], sweep: { function: [relu, tanh, gelu_tanh] } }
)";

ProgramResult bench(std::vector<std::string> arguments, const std::string& folder,
                    std::map<std::string, std::string> environment = {}) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

std::map<std::string, std::string> pod(int index) {
  return {{"BENCH_SHARDS", "3"}, {"JOB_COMPLETION_INDEX", std::to_string(index)}};
}

std::string shard_file(int index) { return "shard-" + std::to_string(index) + ".jsonl"; }

std::vector<std::string> ids_of(const json& document) {
  std::vector<std::string> ids;
  for (const json& record : document.at("cases")) ids.push_back(record.at("id"));
  return ids;
}

TEST(ShardAuto, EveryPodMeasuresItsPartAndTheMergeIsTheWhole) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  for (int index = 0; index < 3; ++index) {
    const ProgramResult run =
        bench({"run", "tiny.yaml", "--shard", "auto", "--out", shard_file(index)}, folder.path(),
              pod(index));
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("shard " + std::to_string(index + 1) + " of 3: "));
    EXPECT_THAT(run.err, HasSubstr("assigned by estimates"));
  }
  const ProgramResult merged = bench(
      {"report", shard_file(0), shard_file(1), shard_file(2), "-o", "all.json"}, folder.path());
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_THAT(merged.err, Not(HasSubstr("missing")));
  const std::vector<std::string> ids = ids_of(json::parse(read_text(folder.file("all.json"))));
  EXPECT_EQ(ids.size(), 7U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 7U);
}

TEST(ShardAuto, AMissingShardIsNamedAndTheStatusIs3) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  for (const int index : {0, 2}) {
    ASSERT_EQ(bench({"run", "tiny.yaml", "--shard", "auto", "--out", shard_file(index)},
                    folder.path(), pod(index))
                  .status,
              0);
  }
  const ProgramResult merged =
      bench({"report", shard_file(0), shard_file(2), "-o", "all.json"}, folder.path());
  EXPECT_EQ(merged.status, 3);
  EXPECT_THAT(merged.err, HasSubstr("Shard 2 of 3 of `tiny` is missing"));
  EXPECT_TRUE(std::filesystem::exists(folder.file("all.json")));
  // On the terminal, the report itself says it, once.
  const ProgramResult shown = bench({"report", shard_file(0), shard_file(2)}, folder.path());
  EXPECT_EQ(shown.status, 3);
  EXPECT_THAT(shown.out, HasSubstr("Shard 2 of 3"));
  EXPECT_THAT(shown.err, Not(HasSubstr("Shard 2 of 3")));
  // One file is a part as expected.
  EXPECT_EQ(bench({"report", shard_file(0), "-o", "one.json"}, folder.path()).status, 0);
}

TEST(ShardAuto, ARequeuedShardMeasuresOnlyTheRestOfItsCases) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  const std::vector<std::string> run = {"run", "tiny.yaml", "--shard", "auto", "--out", "1.jsonl"};
  ASSERT_EQ(bench(run, folder.path(), pod(1)).status, 0);
  const std::string text = read_text(folder.file("1.jsonl"));
  // Ends in the middle of the second process, as after a kill.
  const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
  folder.write("cut.jsonl", text.substr(0, second + 30));
  const ProgramResult other = bench(
      {"run", "tiny.yaml", "--shard", "auto", "--resume", "cut.jsonl"}, folder.path(), pod(2));
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("the file is that of shard 2/3"));
  const ProgramResult resumed = bench(
      {"run", "tiny.yaml", "--shard", "auto", "--resume", "cut.jsonl"}, folder.path(), pod(1));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("as the resumed run assigned them"));
  bench({"report", "1.jsonl", "-o", "whole.json"}, folder.path());
  bench({"report", "cut.jsonl", "-o", "resumed.json"}, folder.path());
  const auto whole = ids_of(json::parse(read_text(folder.file("whole.json"))));
  EXPECT_THAT(ids_of(json::parse(read_text(folder.file("resumed.json")))),
              testing::UnorderedElementsAreArray(whole));
}

TEST(ShardAuto, WithoutASchedulerNothingIsMeasured) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  const ProgramResult run = bench({"run", "tiny.yaml", "--shard", "auto", "--out", "r.jsonl"},
                                  folder.path(), {{"SLURM_ARRAY_TASK_ID", ""}});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("r.jsonl")));
}

TEST(Submit, TheRecipesAreWhatItWrites) {
  const TemporaryFolder folder;
  const ProgramResult slurm =
      bench({"submit", "--slurm", "quick", "--shards", "4", "--time", "30m"}, folder.path());
  ASSERT_EQ(slurm.status, 0) << slurm.err;
  expect_golden("ci/slurm/bench-quick.slurm.sh", read_text(folder.file("bench-quick.slurm.sh")));
  const ProgramResult kubernetes = bench({"submit", "--kubernetes", "quick", "--shards", "4",
                                          "--time", "30m", "--image", "registry.example/bench:0.1"},
                                         folder.path());
  ASSERT_EQ(kubernetes.status, 0) << kubernetes.err;
  expect_golden("ci/kubernetes/bench-quick.job.yaml",
                read_text(folder.file("bench-quick.job.yaml")));
}

TEST(Submit, WritesNoPathOfThisMachine) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  const ProgramResult result =
      bench({"submit", "--slurm", "tiny.yaml", "--set", "measure.processes=3"}, folder.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string script = read_text(folder.file("bench-tiny.slurm.sh"));
  EXPECT_THAT(script, Not(HasSubstr(folder.path())));
  EXPECT_THAT(script, Not(HasSubstr(BENCH_BINARY)));
  EXPECT_THAT(script, HasSubstr("run tiny.yaml --set measure.processes=3 --shard auto"));
  // An existing job is not replaced.
  EXPECT_EQ(bench({"submit", "--slurm", "tiny.yaml"}, folder.path()).status, 2);
}

// A program in place of sbatch, which notes its arguments and answers with a number.
TEST(Submit, NowSubmitsTheArrayAndTheMergeAfterIt) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  std::filesystem::create_directory(folder.file("bin"));
  const std::string sbatch =
      folder.write("bin/sbatch", "#!/bin/sh\necho \"$@\" >>calls\nwc -l <calls | tr -d ' '\n");
  std::filesystem::permissions(sbatch, std::filesystem::perms::owner_all);
  const ProgramResult result =
      bench({"submit", "--slurm", "tiny.yaml", "--shards", "2", "--time", "5m", "--now"},
            folder.path(), {{"PATH", folder.file("bin") + ":/usr/bin:/bin"}});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("job 1 measures the shards 1-2 of 2"));
  const std::string calls = read_text(folder.file("calls"));
  EXPECT_THAT(calls, HasSubstr("--array=1-2 --nodes=1 --exclusive --time=5 --requeue"));
  EXPECT_THAT(calls, HasSubstr("--dependency=afterany:1 "));
}

TEST(Submit, OptionsThatDoNotFitAreErrors) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", kSuite);
  const auto error_of = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"submit", "tiny.yaml"});
    const ProgramResult result = bench(options, folder.path());
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_THAT(error_of({}), HasSubstr("add --slurm"));
  EXPECT_THAT(error_of({"--kubernetes"}), HasSubstr("add --image IMAGE"));
  EXPECT_THAT(error_of({"--slurm", "--image", "a"}), HasSubstr("--image"));
  EXPECT_THAT(error_of({"--kubernetes", "--image", "a b"}), HasSubstr("name of an image"));
  EXPECT_THAT(error_of({"--kubernetes", "--image", "a", "--now"}), HasSubstr("--now"));
  EXPECT_THAT(error_of({"--slurm", "--shards", "0"}), HasSubstr("number of shards"));
}

}  // namespace
}  // namespace bench::test::submit_test
