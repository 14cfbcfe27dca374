// SPDX-License-Identifier: Apache-2.0
// `bench run --trace`, `bench trace` and memory_flow.svg, from the built program's own runs.
#include "profiler/export/trace_validator.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bench::test::trace_test {
namespace {

using nlohmann::json;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

constexpr const char* kConv = "conv/forward/c8h8w8k8r3s3p1/f32/onednn/cpu/hot";
constexpr const char* kConfig = R"(version: 1
name: traced
defaults:
  warmup: { iterations: 1, time: 0ms }
  measure: { processes: 1, min_iterations: 3, max_time: 1ms }
cases:
  - { op: conv, c: 8, h: 8, k: 8, r: 3, pad: 1 }
  - { network: pair, measure: [network] }
)";
constexpr const char* kNetwork = R"(version: 1
network: pair
input: { c: 4, h: 8 }
layers:
  - { name: first, op: conv, k: 4, r: 3, pad: 1 }
  - { name: 'stage:second', op: pool, function: max, window: 2 }
)";

ProgramResult bench(const std::string& folder, Words arguments) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, {}});
}

// One run serves all tests that only read its files.
class Trace : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<TemporaryFolder>();
    shared_->write("traced.yaml", kConfig);
    std::filesystem::create_directory(shared_->file("networks"));
    shared_->write("networks/pair.yaml", kNetwork);
    run_ = bench(shared_->path(),
                 {"run", "traced.yaml", "--profile", "--profile-iterations", "2-4", "--sample-rate",
                  "2", "--profile-format", "memory_flow", "--trace", "t.json", "--out", "r.jsonl"});
  }
  static void TearDownTestSuite() { shared_.reset(); }
  void SetUp() override { ASSERT_EQ(run_.status, 0) << run_.err; }

  static std::string result() { return shared_->file("r.jsonl"); }
  ProgramResult trace(Words arguments) {
    arguments.insert(arguments.begin(), "trace");
    return bench(folder_.path(), std::move(arguments));
  }
  // The library's validation of the file.
  static TraceCheck checked(const std::string& path) {
    const auto check = check_trace_file(path);
    EXPECT_TRUE(check.ok()) << path;
    return check.ok() ? *check : TraceCheck{};
  }
  static std::vector<json> events(const std::string& phase) {
    std::vector<json> found;
    const json trace = json::parse(read_text(shared_->file("t.json")));
    for (const json& event : trace.at("traceEvents")) {
      if (event["ph"] == phase) found.push_back(event);
    }
    return found;
  }
  static std::vector<json> slices(const std::string& category, const std::string& name) {
    std::vector<json> found = events("X");
    std::erase_if(found, [&](const json& e) { return e["cat"] != category || e["name"] != name; });
    return found;
  }

  static inline std::unique_ptr<TemporaryFolder> shared_;
  static inline ProgramResult run_;
  TemporaryFolder folder_;
};

TEST_F(Trace, OfARunIsValid) {
  const TraceCheck check = checked(shared_->file("t.json"));
  EXPECT_THAT(check.problems, IsEmpty());
  EXPECT_EQ(check.ending, TraceEnding::terminated);
  EXPECT_THAT(run_.err, HasSubstr("wrote t.json"));
  EXPECT_THAT(run_.err, HasSubstr("wrote r.memory_flow.svg"));
  // Three iterations of a case with one step and of one with two.
  EXPECT_EQ(slices("range", "iteration").size(), 6U);
  EXPECT_EQ(slices("operator", "conv").size(), 3U);
  EXPECT_EQ(slices("operator", "stage:second").size(), 3U);
}

TEST_F(Trace, NamesProcessesAndThreadsAndKeepsThemApart) {
  std::set<std::int64_t> processes;
  std::set<std::string> names;
  for (const json& event : events("M")) {
    names.insert(event["name"]);
    if (event["name"] == "process_name") processes.insert(event["pid"].get<std::int64_t>());
  }
  EXPECT_THAT(names, IsSupersetOf({"process_name", "thread_name", "process_sort_index",
                                   "thread_sort_index"}));
  EXPECT_EQ(processes.size(), 2U);  // each case is profiled in a separate worker
  for (const json& slice : events("X")) {
    EXPECT_TRUE(processes.contains(slice["pid"].get<std::int64_t>())) << slice;
  }
}

TEST_F(Trace, AnExecutionBearsShapesWorkRatesAndImplementation) {
  const std::vector<json> found = slices("primitive", "convolution");
  std::int64_t seen = 0;
  for (const json& slice : found) {
    const json& args = slice["args"];
    if (args["case"] != kConv || args["phase"] != "exec") continue;
    ++seen;
    EXPECT_EQ(args["op"], "conv");
    EXPECT_EQ(args["in_shapes"], "1x8x8x8 8x8x3x3");
    EXPECT_EQ(args["out_shapes"], "1x8x8x8");
    EXPECT_EQ(args["flops"], 2 * 64 * 8 * 8 * 9);
    EXPECT_EQ(args["bytes"], 4 * (8 * 64 + 8 * 8 * 9 + 8 * 64));
    EXPECT_GT(args["flops_per_s"].get<double>(), 0);
    EXPECT_GT(args["bytes_per_s"].get<double>(), 0);
    EXPECT_FALSE(args["implementation"].get<std::string>().empty());
    EXPECT_EQ(args["direction"], "forward");
  }
  EXPECT_EQ(seen, 3);
}

TEST_F(Trace, LayersOfANetworkAreNamedWithTheirPath) {
  const std::vector<json> second = slices("operator", "stage:second");
  ASSERT_FALSE(second.empty());
  EXPECT_EQ(second[0]["args"]["layer"], "pair:stage\\:second");
}

TEST_F(Trace, ArrowsLeadFromEachCallToItsExecution) {
  std::int64_t executions = 0;
  for (const json& slice : events("X")) {
    executions += slice["cat"] == "primitive" && slice["args"].contains("iteration") ? 1 : 0;
  }
  EXPECT_GE(executions, 9);
  EXPECT_EQ(checked(shared_->file("t.json")).flows, executions);
}

TEST_F(Trace, MemoryIsCountedAndItsBuffersAreDrawn) {
  std::map<std::string, std::vector<double>> counters;
  for (const json& event : events("C")) {
    counters[event["name"]].push_back(event["args"]["value"].get<double>());
  }
  ASSERT_TRUE(counters.contains("live_bytes (bytes)"));
  EXPECT_EQ(counters["live_bytes (bytes)"].back(), 0);
  EXPECT_THAT(counters["live_bytes (bytes)"], Each(::testing::Ge(0)));
  // After every second operator of a process; the library decides which reorders there are.
  std::map<std::int64_t, std::size_t> operators;
  for (const json& slice : events("X")) {
    if (slice["cat"] == "operator") ++operators[slice["pid"].get<std::int64_t>()];
  }
  std::size_t samples = 0;
  for (const auto& [pid, count] : operators) samples += count / 2;
  EXPECT_GE(samples, 4U);
  EXPECT_EQ(counters["live_bytes_sampled (bytes)"].size(), samples);
  EXPECT_TRUE(counters.contains("calls"));
  EXPECT_TRUE(counters.contains("concurrency"));
  const std::vector<json> begun = events("b");
  EXPECT_EQ(begun.size(), events("e").size());
  std::set<std::string> roles;
  for (const json& buffer : begun) roles.insert(buffer["args"].value("role", ""));
  EXPECT_THAT(roles, IsSupersetOf({"input", "weights", "output", "activation"}));
}

TEST_F(Trace, IsTheSameInEveryForm) {
  ASSERT_EQ(trace({result(), "-o", "t.json"}).status, 0);
  ASSERT_EQ(trace({result(), "-o", "t.json.gz"}).status, 0);
  const TraceCheck of_run = checked(shared_->file("t.json"));
  const TraceCheck plain = checked(folder_.file("t.json"));
  const TraceCheck packed = checked(folder_.file("t.json.gz"));
  EXPECT_TRUE(plain.ok());
  EXPECT_EQ(plain.events, of_run.events);
  EXPECT_EQ(packed.events, of_run.events);
  EXPECT_EQ(plain.flows, of_run.flows);
  EXPECT_THAT(read_text(folder_.file("t.json.gz")), StartsWith("\x1f\x8b"));
}

TEST_F(Trace, CheckSaysWhetherViewersAcceptAFile) {
  const ProgramResult good = trace({"--check", shared_->file("t.json")});
  EXPECT_EQ(good.status, 0);
  EXPECT_THAT(good.out, HasSubstr(": valid"));
  const ProgramResult bad =
      trace({"--check", folder_.write("bad.json", R"([{"ph":"X","name":"a","ts":1,"pid":1}])")});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.out, HasSubstr(": 1 problem\n"));
  EXPECT_THAT(bad.out, HasSubstr("`dur` is missing"));
  const ProgramResult missing = trace({"--check", "nowhere.json"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.json"));
}

TEST_F(Trace, AsAPageIsOneFileThatNeedsNoOther) {
  ASSERT_EQ(trace({result(), "-o", "t.html"}).status, 0);
  const std::string page = read_text(folder_.file("t.html"));
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
}

TEST_F(Trace, MemoryFlowHasAxesUnitsAndALegend) {
  ASSERT_EQ(trace({result(), "-o", "flow.svg"}).status, 0);
  const std::string flow = read_text(folder_.file("flow.svg"));
  EXPECT_THAT(flow, HasSubstr("<svg"));
  EXPECT_THAT(flow, HasSubstr("time"));
  EXPECT_THAT(flow, HasSubstr("address"));
  for (const char* const role : {"weights", "input", "output", "scratchpad"}) {
    EXPECT_THAT(flow, HasSubstr(role));
  }
  EXPECT_EQ(flow, read_text(shared_->file("r.memory_flow.svg")));
}

TEST_F(Trace, AnExistingFileIsReplacedOnlyWhenForced) {
  folder_.write("t.json", "mine");
  const ProgramResult refused = trace({result(), "-o", "t.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("t.json"));
  EXPECT_EQ(read_text(folder_.file("t.json")), "mine");
  EXPECT_EQ(trace({result(), "-o", "t.json", "--force"}).status, 0);
  EXPECT_TRUE(checked(folder_.file("t.json")).ok());
}

TEST_F(Trace, WhatCannotBeWrittenIsSaidAndLeavesNoFile) {
  const struct {
    Words arguments;
    const char* what;
  } rows[] = {
      {{result()}, "no output file is given"},
      {{result(), "-o", "t.txt"}, "the suffix of `t.txt` is not that of a known format"},
      {{result(), "-o", "t.out", "--format", "htlm"}, "html"},
      {{"nowhere.jsonl", "-o", "t.json"}, "nowhere.jsonl"},
      {{result(), "-o", "no/such/folder/t.json"}, "no/such/folder"},
  };
  for (const auto& row : rows) {
    const ProgramResult refused = trace(row.arguments);
    EXPECT_EQ(refused.status, 2) << row.what;
    EXPECT_THAT(refused.err, StartsWith("bench trace: ")) << row.what;
    EXPECT_THAT(refused.err, HasSubstr(row.what));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Trace, AFormatByNameNeedsNoSuffix) {
  ASSERT_EQ(trace({result(), "-o", "t.out", "--format", "memory_flow"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("t.out")), HasSubstr("<svg"));
}

// Regression test: there used to be an empty page and exit status 0.
TEST_F(Trace, OfAResultWithoutActivitiesIsAnErrorAndNoFile) {
  folder_.write("empty.jsonl", R"({"record":"run","schema":"bench.result/1","run_id":"r"})"
                               "\n");
  const ProgramResult empty = trace({"empty.jsonl", "-o", "t.json"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, StartsWith("bench trace: empty.jsonl: contains no activities; record them "
                                    "with `bench run --profile`"));
  EXPECT_EQ(trace({"empty.jsonl", "-o", "t.html"}).status, 2);
  EXPECT_EQ(trace({"empty.jsonl", "-o", "t.svg"}).status, 2);
  for (const char* name : {"t.json", "t.html", "t.svg"})
    EXPECT_FALSE(std::filesystem::exists(folder_.file(name))) << name;
}

// Two machines recorded the same moment; their monotonic clocks began at different times.
TEST_F(Trace, FilesOfSeveralMachinesAreOnOneClock) {
  const auto profile = [](const char* rank, const char* monotonic, const char* start) {
    return std::string(
               R"({"record":"profile","schema":"bench.profile/1","environment":{"details":)") +
           R"({"rank":")" + rank + R"(","clock.start.realtime_ns":"9000000","clock.boot":")" +
           rank + R"(","clock.start.monotonic_ns":")" + monotonic + "\"}}}\n" +
           R"({"record":"activity","kind":"operator","name":"x","pid":7,"tid":7,"start_ns":)" +
           start + ",\"duration_ns\":500}\n";
  };
  folder_.write("a.jsonl", profile("0", "1000", "4000"));
  folder_.write("b.jsonl", profile("1", "801000", "804000"));
  const ProgramResult result = trace({"a.jsonl", "b.jsonl", "-o", "t.json"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("bench trace: a.jsonl: offset +800.0 us (+800000 ns)"));
  const json document = json::parse(read_text(folder_.file("t.json")));
  std::vector<double> starts;
  std::set<std::int64_t> processes;
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    starts.push_back(event["ts"]);
    processes.insert(event["pid"].get<std::int64_t>());
  }
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0], starts[1]);
  EXPECT_EQ(processes.size(), 2U) << "process 7 of each machine";
  EXPECT_THAT(document["metadata"]["clocks"].get<std::string>(), HasSubstr("offset +800.0 us"));
  EXPECT_EQ(trace({"a.jsonl", "a.jsonl", "-o", "u.json"}).status, 2);
}

TEST_F(Trace, ALogOfOnednnGetsItsWorkAndATrace) {
  const std::string log = BENCH_SOURCE_DIR "/profiler/onednn/testdata/onednn_3.2_timestamps.log";
  ASSERT_EQ(trace({log, "-o", "t.json"}).status, 0);
  EXPECT_TRUE(checked(folder_.file("t.json")).ok());
  EXPECT_THAT(read_text(folder_.file("t.json")), HasSubstr("\"flops\":"));
}

// Text from a file is shown, never interpreted.
TEST_F(Trace, HostileNamesAreOnlyText) {
  const std::string attack =
      "</script></text><script>alert(1)</script><img src=x onerror=alert(1)>";
  json activity = {{"record", "activity"},
                   {"kind", "operator"},
                   {"name", attack},
                   {"start_ns", 1000},
                   {"duration_ns", 500},
                   {"pid", 1},
                   {"tid", 1},
                   {"id", attack},
                   {"scope", attack},
                   {"attributes", {{"op", attack}, {"implementation", "../../etc/passwd"}}}};
  json buffer = activity;
  buffer["kind"] = "allocation";
  buffer["attributes"] = {{"size_bytes", 4096}, {"address", 4096}, {"role", attack}};
  folder_.write("hostile.jsonl", R"({"record":"profile","schema":"bench.profile/1"})"
                                 "\n" +
                                     activity.dump() + "\n" + buffer.dump() + "\n");
  for (const char* const name : {"t.json", "t.html", "t.svg"}) {
    ASSERT_EQ(trace({"hostile.jsonl", "-o", name}).status, 0) << name;
  }
  EXPECT_TRUE(checked(folder_.file("t.json")).ok());
  EXPECT_THAT(read_text(folder_.file("t.json")), HasSubstr("onerror"));
  for (const char* const name : {"t.html", "t.svg"}) {
    const std::string text = read_text(folder_.file(name));
    EXPECT_THAT(text, Not(HasSubstr("<img"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("<script>alert"))) << name;
  }
  EXPECT_THAT(read_text(folder_.file("t.svg")), HasSubstr("&lt;img"));
}

}  // namespace
}  // namespace bench::test::trace_test
