// SPDX-License-Identifier: Apache-2.0
// `bench run --trace-failures`: what remains of a failed case. A preloaded library affects the one
// matrix multiplication of the run.
#include "profiler/export/trace_validator.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench::test::trace_failures_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

constexpr const char* kGemm = "gemm/forward/m16n16k16/f32/onednn/cpu/hot";
constexpr const char* kGemmTrace = "gemm-forward-m16n16k16-f32-onednn-cpu-hot.json";
// A hang costs this test the limit twice.
constexpr const char* kConfig = R"(version: 1
name: faults
defaults:
  warmup: { iterations: 2, time: 0ms }
  measure: { processes: 1, min_iterations: 4, max_time: 1ms }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
  - { op: gemm, m: 16, n: 16, k: 16, measure: { timeout: 2s } }
)";

class TraceFailures : public ::testing::Test {
 protected:
  // The fault begins with that execution of a process: 0 is the first run, before the check.
  ProgramResult run(const std::string& fault, int after, const Words& more = {}) {
    folder_.write("faults.yaml", kConfig);
    const char* const sanitizer = std::getenv("ASAN_OPTIONS");
    Words command{BENCH_BINARY,       "run",    "faults.yaml", "--out", "r.jsonl",
                  "--trace-failures", "traces", "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(
        {command,
         folder_.path(),
         {{"LD_PRELOAD", BENCH_FAULTY_PRIMITIVE},
          {"BENCH_FAULT", fault},
          {"BENCH_FAULT_AFTER", std::to_string(after)},
          {"ASAN_OPTIONS", (sanitizer != nullptr ? sanitizer + std::string(":") : "") +
                               "verify_asan_link_order=0"}}});
  }

  Words traces() const {
    Words names;
    if (!std::filesystem::exists(folder_.file("traces"))) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("traces"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  // The slices of the failed case's trace, in order of time.
  std::vector<json> slices() const {
    const std::string path = folder_.file(std::string("traces/") + kGemmTrace);
    const auto check = check_trace_file(path);
    EXPECT_TRUE(check.ok() && check->ok()) << path;
    std::vector<json> found;
    const json trace = json::parse(read_text(path));
    for (const json& event : trace.at("traceEvents")) {
      if (event["ph"] == "X") found.push_back(event);
    }
    std::stable_sort(found.begin(), found.end(), [](const json& a, const json& b) {
      return a["ts"].get<double>() < b["ts"].get<double>();
    });
    return found;
  }
  static bool is_unfinished(const json& slice) {
    return slice.contains("args") && slice["args"].value("unfinished", false);
  }
  // Names of the slices that began and did not end, in order of time, as "category name".
  Words open_slices() const {
    Words names;
    for (const json& slice : slices()) {
      if (is_unfinished(slice)) {
        names.push_back(slice["cat"].get<std::string>() + " " + slice["name"].get<std::string>());
      }
    }
    return names;
  }
  std::int64_t finished(const std::string& category) const {
    const std::vector<json> all = slices();
    return std::count_if(all.begin(), all.end(), [&](const json& slice) {
      return slice["cat"] == category && !is_unfinished(slice);
    });
  }
  std::map<std::string, std::string> outcomes() const {
    std::map<std::string, std::string> found;
    for (const json& record : records_of_kind(read_text(folder_.file("r.jsonl")), "case")) {
      found[record.at("op")] = record.at("outcome");
    }
    return found;
  }
  void expect_only_the_gemm_failed(const ProgramResult& result, const std::string& outcome) const {
    EXPECT_EQ(result.status, 3) << result.err;
    EXPECT_EQ(outcomes(), (std::map<std::string, std::string>{{"conv", "ok"}, {"gemm", outcome}}));
    EXPECT_THAT(traces(), ElementsAre(kGemmTrace));
  }

  TemporaryFolder folder_;
};

TEST_F(TraceFailures, ACrashInTheFirstRunLeavesItOpen) {
  expect_only_the_gemm_failed(run("crash", 0), "crashed");
  EXPECT_THAT(open_slices(), ElementsAre("range preparation", "operator gemm", "primitive matmul"));
  EXPECT_TRUE(is_unfinished(slices().back()));
}

TEST_F(TraceFailures, ACrashInALaterIterationComesBehindThoseThatEnded) {
  expect_only_the_gemm_failed(run("crash", 4), "crashed");
  EXPECT_THAT(open_slices(), ElementsAre("operator gemm", "primitive matmul"));
  EXPECT_EQ(finished("operator"), 4);
  const json last = slices().back();
  EXPECT_TRUE(is_unfinished(last));
  EXPECT_EQ(last["args"]["case"], kGemm);
  EXPECT_EQ(last["args"]["flops"], 2 * 16 * 16 * 16);
  EXPECT_EQ(last["args"]["in_shapes"], "16x16 16x16");
}

TEST_F(TraceFailures, AHangLeavesWhatHung) {
  expect_only_the_gemm_failed(run("hang", 1), "timed_out");
  EXPECT_THAT(open_slices(), ElementsAre("operator gemm", "primitive matmul"));
  EXPECT_EQ(finished("operator"), 1);
}

TEST_F(TraceFailures, AWrongResultLeavesItsCheckOpen) {
  expect_only_the_gemm_failed(run("wrong", 0), "wrong_result");
  EXPECT_THAT(open_slices(), ElementsAre("range check"));
  EXPECT_EQ(finished("operator"), 1);
  EXPECT_EQ(slices().back()["name"], "check");
}

TEST_F(TraceFailures, WithAProfileOnlyTheFailedCaseLeavesOne) {
  expect_only_the_gemm_failed(run("crash", 0, {"--profile", "--profile-iterations", "0-1"}),
                              "crashed");
  EXPECT_TRUE(is_unfinished(slices().back()));
}

TEST_F(TraceFailures, ARunThatPassesLeavesNone) {
  const ProgramResult result = run("none", 0);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(traces(), IsEmpty());
}

TEST_F(TraceFailures, AFolderThatCannotBeMadeIsReportedBeforeTheRun) {
  folder_.write("traces", "a file is in the way");
  const ProgramResult result = run("crash", 0);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("bench run: traces: cannot create the folder"));
  EXPECT_THAT(result.err, HasSubstr("choose another folder with --trace-failures"));
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace bench::test::trace_failures_test
