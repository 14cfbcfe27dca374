// SPDX-License-Identifier: Apache-2.0
// `bench run` as an NVTX tool sees it: under the tool (`--under`), in a profiling pass, and if a
// case fails. The tools are scripts that run the command appended to them, as nsys, ncu, perf and
// vtune do.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bench::test::under_test {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

constexpr const char* kCase = "conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot";
// Requests more processes than are possible under a tool, and a profile, which is not possible
// there.
constexpr const char* kConfig = R"(version: 1
name: tool
profile: { kinds: [operators] }
defaults:
  warmup: { iterations: 2, time: 1ms }
  measure: { processes: 3, min_iterations: 4, max_time: 4ms }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
)";

// Records that it was started, then becomes the command appended to it.
constexpr const char* kTool = R"(#!/bin/sh
echo "started with $1" >> "$TOOL_LOG"
[ "$1" = --rate ] && shift 2
exec "$@"
)";

class Under : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tool.yaml", kConfig);
    folder_.write("tool", kTool);
    std::filesystem::permissions(folder_.file("tool"), std::filesystem::perms::owner_all);
  }

  ProgramResult bench(Words arguments, Environment environment = {}) {
    environment.emplace("TOOL_LOG", folder_.file("tool.log"));
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), std::move(environment)});
  }
  ProgramResult under(const std::string& tool, Environment environment = {}) {
    return bench({"run", "tool.yaml", "--under", tool, "--out", "r.jsonl"}, std::move(environment));
  }

  std::vector<json> records(const std::string& kind) const {
    return records_of_kind(read_text(folder_.file("r.jsonl")), kind);
  }

  Environment nvtx() const {
    return {{"NVTX_INJECTION64_PATH", BENCH_NVTX_INJECTION},
            {"BENCH_NVTX_LOG", folder_.file("log")}};
  }
  // Returns the lines of the log. Removes the thread id at the start of lines of NVTX calls.
  Words log() const {
    std::istringstream lines(read_text(folder_.file("log")));
    Words found;
    for (std::string line; std::getline(lines, line);) {
      const bool call = line.find_first_not_of("0123456789") == line.find(' ');
      found.push_back(call ? line.substr(line.find(' ') + 1) : line);
    }
    return found;
  }

  TemporaryFolder folder_;
};

std::ptrdiff_t count_prefix(Words::const_iterator begin, Words::const_iterator end,
                            const std::string& prefix) {
  return std::count_if(begin, end,
                       [&](const std::string& line) { return line.starts_with(prefix); });
}

// Depth of the ranges after all calls; -1 if a range ended that had not begun.
int depth_of(const Words& calls) {
  int depth = 0;
  for (const std::string& call : calls) {
    if (call.starts_with("push ")) ++depth;
    if (call == "pop" && --depth < 0) return -1;
  }
  return depth;
}

TEST_F(Under, ResultIsMarkedAndOneProcessMeasuresWithoutOwnCollectors) {
  const ProgramResult result = under("./tool --rate 'two words'");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read_text(folder_.file("tool.log")), "started with --rate\n");
  EXPECT_THAT(result_file_problems(read_text(folder_.file("r.jsonl"))), IsEmpty());
  ASSERT_EQ(records("run").size(), 1U);
  EXPECT_EQ(records("run")[0]["under"], "./tool --rate 'two words'");
  ASSERT_EQ(records("process").size(), 1U);
  EXPECT_EQ(records("process")[0]["samples_ns"].size(), 4U);
  EXPECT_THAT(records("profile_pass"), IsEmpty());
  EXPECT_THAT(records("activity"), IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("used `./tool --rate 'two words'`"));
}

// `bench profile --window cuda-profiler-api` collects as nsys does with
// --capture-range=cudaProfilerApi.
TEST_F(Under, AToolThatWaitsForCudasProfilerCollectsTheMeasuredIterationsAlone) {
  const std::string tool = std::string(BENCH_BINARY) + " profile --out p.jsonl ";
  const auto executed = [&](const std::string& window) -> std::int64_t {
    const ProgramResult result =
        bench({"run", "tool.yaml", "--under", tool + window + "--", "--out", "r.jsonl", "--force"});
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    std::int64_t count = 0;
    for (const json& record : parse_json_lines(read_text(folder_.file("p.jsonl")))) {
      if (record.value("kind", "") == "primitive" &&
          record.at("attributes").value("phase", "") == "exec") {
        ++count;
      }
    }
    std::filesystem::remove(folder_.file("p.jsonl"));
    return count;
  };
  const auto measured = [&] {
    const json process = records("process").at(0);
    return static_cast<std::int64_t>(process.at("samples_ns").size()) *
           process.at("iterations_per_sample").get<std::int64_t>();
  };
  const std::int64_t all = executed("");
  EXPECT_GT(all, measured());  // includes warm-up and check
  const std::int64_t within = executed("--window cuda-profiler-api ");
  EXPECT_EQ(within, measured());
}

TEST_F(Under, ReportsMarkItTooAndAnOrdinaryRunIsNotMarked) {
  ASSERT_EQ(under("nice -n 1 env").status, 0);
  EXPECT_THAT(bench({"report", "r.jsonl"}).out, HasSubstr("used `nice -n 1 env`"));
  const json report = json::parse(bench({"report", "r.jsonl", "--format", "json"}).out);
  EXPECT_EQ(report["runs"][0]["under"], "nice -n 1 env");
  const ProgramResult plain = bench({"run", "tool.yaml", "--no-profile", "--out", "plain.jsonl"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, Not(HasSubstr("used `")));
  EXPECT_THAT(read_text(folder_.file("plain.jsonl")), Not(HasSubstr("\"under\":")));
}

// oneDNN's lines and NVTX's calls go to one file in the order in which they happen.
TEST_F(Under, OneRangeHoldsTheMeasuredIterationsAndNothingElse) {
  // Workers do not inherit the variable; the tool sets it.
  const ProgramResult result = under(R"(env ONEDNN_VERBOSE=1 sh -c 'exec "$@" >> log' x)", nvtx());
  ASSERT_EQ(result.status, 0) << result.err;
  const Words lines = log();
  const std::string range = std::string("push layer:") + kCase;
  ASSERT_EQ(count_prefix(lines.begin(), lines.end(), "push "), 1);
  ASSERT_EQ(count_prefix(lines.begin(), lines.end(), "pop"), 1);
  const auto begin = std::find(lines.begin(), lines.end(), range);
  const auto end = std::find(lines.begin(), lines.end(), "pop");
  ASSERT_LT(begin, end);
  const std::string execution = "onednn_verbose,exec,cpu,convolution";
  const json process = records("process").at(0);
  const auto measured = static_cast<std::ptrdiff_t>(process["samples_ns"].size()) *
                        process["iterations_per_sample"].get<std::ptrdiff_t>();
  EXPECT_EQ(count_prefix(begin, end, execution), measured);
  EXPECT_EQ(end - begin - 1, measured) << "something else happened in the range";
  EXPECT_GE(count_prefix(lines.begin(), begin, execution),
            process["warmup_iterations"].get<std::ptrdiff_t>());
  // The check after the samples executes the kernel once, outside of the range.
  EXPECT_EQ(count_prefix(end, lines.end(), execution), 1);
}

TEST_F(Under, EachCaseHasARangeOfItsOwn) {
  folder_.write(
      "two.yaml",
      "version: 1\nname: two\ndefaults: { warmup: { iterations: 1, time: 1ms } }\ncases:\n"
      "  - { op: pointwise, function: relu, shape: [4, 64] }\n"
      "  - { op: pointwise, function: tanh, shape: [4, 64] }\n");
  const ProgramResult two =
      bench({"run", "two.yaml", "--quick", "--under", "env", "--out", "r.jsonl"}, nvtx());
  ASSERT_EQ(two.status, 0) << two.err;
  Words calls = log();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(depth_of(calls), 0);
  EXPECT_EQ(calls[1], "pop");
  EXPECT_EQ((std::set<std::string>{calls[0], calls[2]}),
            (std::set<std::string>{"push layer:pointwise/forward/relu-4x64/f32/onednn/cpu/hot",
                                   "push layer:pointwise/forward/tanh-4x64/f32/onednn/cpu/hot"}));
}

TEST_F(Under, OutputAndExitStatusOfTheToolDoNotAffectTheResult) {
  const ProgramResult result =
      under(R"(sh -c 'echo non""sense; "$@"; echo "report written"; exit 3' x)");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(records("case").at(0)["outcome"], "ok");
  EXPECT_THAT(result.err, HasSubstr("report written"));
  EXPECT_THAT(result.out, Not(HasSubstr("nonsense")));
}

TEST_F(Under, AToolThatDoesNotStartTheWorkerIsAnErrorThatSaysSo) {
  const struct {
    const char* tool;
    const char* what;
  } rows[] = {
      {"no-such-tool --flag", "not found"},
      {"false", "exit status 1"},
      {"true", "exit status 0"},
      {"sh -c 'echo no licence >&2; exit 7' x", "no licence"},
      {"env -i", "the command did not start a worker"},
      {"'unclosed", "quote"},
  };
  for (const auto& row : rows) {
    const ProgramResult result = under(row.tool);
    EXPECT_EQ(result.status, 3) << row.tool;
    EXPECT_THAT(result.err, HasSubstr(row.what)) << row.tool;
    EXPECT_THAT(result.err, HasSubstr(std::string("--under '") + row.tool + "'"));
    EXPECT_THAT(result.err, HasSubstr("must start the program that is appended to it"));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("r.jsonl")))
        << "the result file must not exist";
  }
}

TEST_F(Under, ContradictionsAreRefusedBeforeAnythingRuns) {
  const std::vector<Words> rows = {{"--profile"},
                                   {"--sample-rate", "2"},
                                   {"--trace", "t.json"},
                                   {"--trace-failures", "d"},
                                   {"--resume", "r.jsonl"}};
  for (const Words& row : rows) {
    Words words = {"run", "tool.yaml", "--under", "./tool"};
    words.insert(words.end(), row.begin(), row.end());
    const ProgramResult result = bench(words);
    EXPECT_EQ(result.status, 2) << row[0];
    EXPECT_THAT(result.err, StartsWith("bench run: --under: ")) << row[0];
  }
  EXPECT_EQ(under(" ").status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("tool.log")));
}

TEST_F(Under, FilesOfAProfileAreCheckedBeforeAnythingRuns) {
  folder_.write("mine.json", "{}");
  const struct {
    Words options;
    const char* message;
  } rows[] = {
      {{"--trace", "t.html"},
       "bench run: --trace: the suffix of `t.html` is not that of a Chrome trace"},
      {{"--trace", "none/t.json"}, "bench run: none/t.json: there is no folder none; create it"},
      {{"--trace", "mine.json"}, "bench run: mine.json: the file exists already; replace it"},
      {{"--trace", "t.json", "--no-profile"}, "bench: --no-profile and --trace contradict"},
  };
  for (const auto& row : rows) {
    Words words = {"run", "tool.yaml", "--out", "r.jsonl"};
    words.insert(words.end(), row.options.begin(), row.options.end());
    const ProgramResult result = bench(words);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, StartsWith(row.message));
    EXPECT_FALSE(std::filesystem::exists(folder_.file("r.jsonl")))
        << "the result file must not exist";
  }
  EXPECT_EQ(read_text(folder_.file("mine.json")), "{}");
}

using ProfiledRanges = Under;

TEST_F(ProfiledRanges, ScopesAreRangesThatCloseInTheirOrder) {
  const ProgramResult result = bench(
      {"run", kCase, "--quick", "--profile", "--profile-iterations", "0-1", "--out", "r.jsonl"},
      nvtx());
  ASSERT_EQ(result.status, 0) << result.err;
  const Words calls = log();
  EXPECT_EQ(depth_of(calls), 0);
  EXPECT_GE(count_prefix(calls.begin(), calls.end(), std::string("push layer:") + kCase), 1);
  EXPECT_THAT(calls, Each(::testing::AnyOf(StartsWith("push layer:"), "pop")));
}

TEST_F(ProfiledRanges, LayersOfANetworkNestInTheirCase) {
  folder_.write("networks/pair.yaml",
                "version: 1\nnetwork: pair\ninput: { c: 4, h: 8 }\nlayers:\n"
                "  - { name: first, op: conv, k: 4, r: 3, pad: 1 }\n"
                "  - { name: 'stage:second', op: pool, function: max, window: 2 }\n");
  folder_.write("pair.yaml",
                "version: 1\nname: pair\ncases:\n  - { network: pair, measure: [network] }\n");
  const ProgramResult result = bench({"run", "pair.yaml", "--quick", "--profile",
                                      "--profile-iterations", "0-2", "--out", "r.jsonl"},
                                     nvtx());
  ASSERT_EQ(result.status, 0) << result.err;
  const Words calls = log();
  EXPECT_EQ(depth_of(calls), 0);
  EXPECT_GE(count_prefix(calls.begin(), calls.end(), "push layer:first"), 3);
  EXPECT_EQ(count_prefix(calls.begin(), calls.end(), "push layer:first"),
            count_prefix(calls.begin(), calls.end(), "push layer:stage:second"));
  const auto layer = std::find(calls.begin(), calls.end(), "push layer:first");
  EXPECT_GE(depth_of({calls.begin(), layer}), 1) << "the layer is in no range of its case";
}

TEST_F(ProfiledRanges, AFailingCaseLeavesNoRangeOpen) {
  for (const char* const successes_before_failure : {"0", "1", "4"}) {
    Environment environment = nvtx();
    const char* const sanitizer = std::getenv("ASAN_OPTIONS");
    environment["ASAN_OPTIONS"] =
        (sanitizer != nullptr ? sanitizer + std::string(":") : "") + "verify_asan_link_order=0";
    environment["LD_PRELOAD"] = BENCH_FAILING_PRIMITIVE;
    environment["BENCH_FAIL_AFTER"] = successes_before_failure;
    const ProgramResult result =
        bench({"run", kCase, "--quick", "--profile", "--profile-iterations", "0-3", "--out",
               "r.jsonl", "--force"},
              environment);
    ASSERT_EQ(records("case").size(), 1U) << result.err;
    EXPECT_EQ(records("case")[0]["outcome"], "ok") << "only the profiling pass was to fail";
    ASSERT_EQ(records("profile_pass").size(), 1U);
    EXPECT_EQ(records("profile_pass")[0]["outcome"], "failed") << successes_before_failure;
    EXPECT_THAT(result.out, HasSubstr(std::string(kCase) + ": failed: "))
        << successes_before_failure;
    EXPECT_EQ(depth_of(log()), 0) << successes_before_failure;
    std::filesystem::remove(folder_.file("log"));
  }
}

}  // namespace
}  // namespace bench::test::under_test
