// SPDX-License-Identifier: Apache-2.0
// `bench run --profile` on the fake GPU: how its kernels, copies and buffers appear in a result
// file, and what happens if the trace is incomplete or impossible.
#include "harness/result/report.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::fake_gpu_profile_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kHead = R"(version: 1
name: gpu
defaults:
  device: cuda
  warmup: { iterations: 1, time: 100us }
  measure: { processes: 1, min_iterations: 3, max_time: 1ms }
)";
constexpr const char* kGemmCase = "cases:\n  - { op: gemm, m: 4, n: 4, k: 4 }\n";
constexpr const char* kNetwork = R"(version: 1
network: small
input: { c: 4, h: 6 }
layers:
  - { name: conv, op: conv, k: 4, r: 3, pad: 1 }
  - { name: relu, op: pointwise, function: relu }
  - { name: pool, op: pool, function: max, window: 2 }
)";

class FakeGpuProfileTest : public testing::Test {
 protected:
  // Runs the configuration `cases` with the script.
  ProgramResult run(const std::string& script, const std::string& cases,
                    const std::vector<std::string>& options = {"--profile", "--profile-iterations",
                                                               "2-3"}) {
    return run_on_fake_gpu(folder_, kHead + cases, script, options);
  }
  Report report() const {
    auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    EXPECT_TRUE(report.ok());
    return report.ok() ? *report : Report{};
  }
  ProfilePassRecord pass() const {
    const Report all = report();
    EXPECT_EQ(all.profile_passes.size(), 1U);
    return all.profile_passes.empty() ? ProfilePassRecord{} : all.profile_passes.front();
  }
  std::vector<json> activities() const {
    return records_of_kind(read_text(folder_.file("r.jsonl")), "activity");
  }
  std::vector<json> activities(const std::string& kind) const {
    std::vector<json> found = activities();
    std::erase_if(found, [&](const json& activity) { return activity.at("kind") != kind; });
    return found;
  }
  std::set<std::string> kinds() const {
    std::set<std::string> kinds;
    for (const json& activity : activities()) kinds.insert(activity.at("kind").get<std::string>());
    return kinds;
  }

  TemporaryFolder folder_;
};

std::string script_of_seven_kernels() {
  std::string rows;
  for (int i = 1; i <= 7; ++i) {
    rows += (i == 1 ? "" : ",") + std::string(R"({"name":"step)") + std::to_string(i) +
            R"(","ns":2000,"grid":[)" + std::to_string(i) + R"(,2,1],"block":[)" +
            std::to_string(32 * i) + ",1,1]}";
  }
  return R"({"cases":[{"kernels":[)" + rows + "]}]}";
}

TEST_F(FakeGpuProfileTest, SevenLaunchesAreSevenRowsWithTheirGridAndBlock) {
  const ProgramResult result =
      run(script_of_seven_kernels(), kGemmCase, {"--profile", "--profile-iterations", "3-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const std::vector<json> kernels = activities("kernel");
  ASSERT_EQ(kernels.size(), 7U);
  for (int i = 1; i <= 7; ++i) {
    const json& row = kernels[static_cast<std::size_t>(i) - 1];
    EXPECT_EQ(row.at("name"), "step" + std::to_string(i));
    EXPECT_EQ(row.at("attributes").at("grid"), std::to_string(i) + ",2,1");
    EXPECT_EQ(row.at("attributes").at("block"), std::to_string(32 * i) + ",1,1");
    EXPECT_EQ(row.at("attributes").at("op"), "gemm");
    EXPECT_EQ(row.at("attributes").at("parameters"), "m4n4k4");
    EXPECT_EQ(row.at("attributes").at("dtype"), "f32");
    EXPECT_EQ(row.at("attributes").at("in_shapes"), "4x4 4x4");
    EXPECT_EQ(row.at("attributes").at("out_shapes"), "4x4");
    EXPECT_EQ(row.at("attributes").at("iteration"), 3);
    EXPECT_EQ(row.at("duration_ns"), 2000);
    EXPECT_EQ(row.at("id"), "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot");
    EXPECT_GE(row.at("attributes").at("wait_ns").get<std::int64_t>(), 0);
    // several steps compute, so the attribution is unknown
    EXPECT_FALSE(row.at("attributes").contains("flops"));
  }
  EXPECT_EQ(pass().details.at("gpu.kernels"), "7");
  EXPECT_EQ(pass().details.at("gpu.kernel_sum_ns"), "14000");
  EXPECT_THAT(result.out, HasSubstr("GPU: 7 kernels in 14.00 us, busy"));
}

TEST_F(FakeGpuProfileTest, KernelsLieUnderTheLayersOfANetwork) {
  std::filesystem::create_directory(folder_.file("networks"));
  folder_.write("networks/small.yaml", kNetwork);
  const ProgramResult result =
      run(R"({"cases":[{"match":"conv/*","kernels":[{"name":"implicit_gemm"},
                                                     {"name":"nchwToNhwcKernel"}]}]})",
          "cases:\n  - { network: small, batch: 2, measure: [network] }\n");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::map<std::string, std::vector<std::string>> layers;
  std::int64_t flops = 0;
  for (const json& row : activities("kernel")) {
    layers[row.at("scope").get<std::string>()].push_back(row.at("name").get<std::string>());
    EXPECT_EQ(row.at("direction"), "forward");
    flops += row.at("attributes").value("flops", std::int64_t{0});
  }
  // Two iterations of the fused network.
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_THAT(layers.at("small:conv"), ElementsAre("implicit_gemm", "nchwToNhwcKernel",
                                                   "implicit_gemm", "nchwToNhwcKernel"));
  EXPECT_THAT(layers.at("small:pool"), ElementsAre("fake_pool_kernel", "fake_pool_kernel"));
  std::int64_t operators = 0;
  for (const json& row : activities("operator")) {
    operators += row.at("attributes").at("flops").get<std::int64_t>();
  }
  EXPECT_EQ(flops, operators);
  EXPECT_FALSE(pass().details.contains("gpu.note")) << pass().details.at("gpu.note");
}

// The trace has the times of the device, so the host waits once per iteration, and the device need
// not be idle between layers. Each kernel still belongs to its layer.
TEST_F(FakeGpuProfileTest, ATracedNetworkRunsWithoutAWaitPerLayer) {
  std::filesystem::create_directory(folder_.file("networks"));
  folder_.write("networks/small.yaml", kNetwork);
  const std::string kCase = "cases:\n  - { network: small, batch: 2, measure: [network] }\n";
  const ProgramResult result =
      run(R"({"cases":[{"match":"conv/*","ns":300000},{"match":"pool/*","ns":200000}]})", kCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const std::vector<json> waits = activities("synchronisation");
  ASSERT_EQ(waits.size(), 2U);  // two iterations of two layers
  for (const json& wait : waits) {
    EXPECT_EQ(wait.at("scope"), "small");
    EXPECT_TRUE(wait.at("attributes").contains("iteration"));
  }
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> times;
  for (const json& kernel : activities("kernel")) {
    times[{kernel.at("scope").get<std::string>(),
           kernel.at("attributes").at("iteration").get<std::int64_t>()}] +=
        kernel.at("duration_ns").get<std::int64_t>();
  }
  for (const std::int64_t iteration : {2, 3}) {
    EXPECT_EQ((times[{"small:conv", iteration}]), 300'000);
    EXPECT_EQ((times[{"small:pool", iteration}]), 200'000);
  }
  // An operator's row on the host is its launch, which ends before the last kernel begins.
  const json last_operator = activities("operator").back();
  EXPECT_EQ(last_operator.at("scope"), "small:pool");
  EXPECT_LT(last_operator.at("start_ns").get<std::int64_t>() +
                last_operator.at("duration_ns").get<std::int64_t>(),
            waits.back().at("start_ns").get<std::int64_t>() +
                waits.back().at("duration_ns").get<std::int64_t>());
  const ProfilePassRecord record = pass();
  EXPECT_TRUE(record.details.contains("gpu.steps"));
  EXPECT_EQ(*record.attributed + *record.unattributed, *record.wall);
  EXPECT_GE(*record.attributed, Nanoseconds(2 * 500'000));  // launches and waits
  EXPECT_THAT(result.out, Not(HasSubstr("waited for each step")));
  // Without a trace, only the waits show how long each layer takes.
  const ProgramResult untraced =
      run(R"({"tracer":{"conflict":"Nsight Systems"},"cases":[{"match":"conv/*","ns":300000}]})",
          kCase);
  ASSERT_EQ(untraced.status, 0) << untraced.out << untraced.err;
  EXPECT_FALSE(pass().details.contains("gpu.steps"));
  for (const json& row : activities("operator")) {
    if (row.at("scope") != "small:conv") continue;
    EXPECT_GE(row.at("duration_ns").get<std::int64_t>(), 300'000);
  }
}

TEST_F(FakeGpuProfileTest, CallsWaitsAndMemoryHaveRowsOfTheDevice) {
  const ProgramResult result = run(R"({"cases":[{"workspace":100}]})", kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::set<std::string> calls, roles, counters;
  for (const json& row : activities("api")) calls.insert(row.at("name").get<std::string>());
  EXPECT_THAT(calls, ElementsAre("cudaLaunchKernel", "cudaStreamSynchronize"));
  const auto waits = activities("synchronisation");
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits.front().at("attributes").at("wait_ns"), waits.front().at("duration_ns"));
  std::int64_t workspaces = 0;
  for (const json& row : activities("allocation")) {
    const json& attributes = row.at("attributes");
    if (attributes.at("role") == "staging") continue;  // memory of the host
    EXPECT_EQ(row.at("device"), 0) << row;
    roles.insert(row.at("name").get<std::string>());
    if (attributes.at("role") != "workspace") continue;
    EXPECT_EQ(attributes.at("size_bytes"), 100);
    EXPECT_TRUE(attributes.contains("address"));
    ++workspaces;
  }
  EXPECT_THAT(roles, AllOf(Contains("source"), Contains("weights"), Contains("destination"),
                           Contains("workspace")));
  EXPECT_EQ(workspaces, 2);  // the kernel is created twice, to time a cache hit
  const std::map<std::string, std::string> details = pass().details;
  EXPECT_EQ(details.at("gpu.memory.peak.workspace_bytes"), "100");
  EXPECT_EQ(details.at("gpu.memory.peak.weights_bytes"), "64");
  EXPECT_EQ(details.at("gpu.memory.peak_bytes"), std::to_string(100 + 3 * 64));
  EXPECT_FALSE(details.contains("gpu.memory.other_bytes"));  // no source reports it
  for (const json& row : activities("counter")) {
    if (row.contains("device")) counters.insert(row.at("name").get<std::string>());
  }
  EXPECT_THAT(counters, ElementsAre("device_live_bytes", "gpu_busy", "unfinished_kernels"));
}

// CUPTI keeps the times of a context on the clock that it used when the context was created. The
// records of a context that is older than the tracer are 56 years off.
TEST_F(FakeGpuProfileTest, TheTracerBeginsBeforeAnythingMakesAContext) {
  const ProgramResult result = run("{}", kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(pass().outcome, Outcome::ok) << pass().reason.value_or("");
  const json iteration = activities("range").back();
  const json kernel = activities("kernel").back();
  EXPECT_LT(std::abs(kernel.at("start_ns").get<double>() - iteration.at("start_ns").get<double>()),
            60e9);
}

TEST_F(FakeGpuProfileTest, RecordsOnTheRealtimeClockVoidThePass) {
  const ProgramResult result = run(R"({"tracer":{"realtime":true}})", kGemmCase);
  ASSERT_EQ(result.status, 3) << result.out << result.err;
  EXPECT_EQ(pass().outcome, Outcome::failed);
  EXPECT_THAT(pass().reason.value_or(""),
              HasSubstr("on CLOCK_REALTIME, those of calls on CLOCK_MONOTONIC"));
  for (const json& row : activities("kernel")) {
    EXPECT_FALSE(row.contains("duration_ns")) << row;  // located at its call, without a duration
  }
}

// Without a trace the harness knows the workspace's size, but not its address.
TEST_F(FakeGpuProfileTest, AWorkspaceHasARowWithoutATraceAsWell) {
  const ProgramResult result =
      run(R"({"cases":[{"workspace":4096}],"tracer":{"conflict":"Nsight Systems"}})", kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::vector<json> workspaces = activities("allocation");
  std::erase_if(workspaces,
                [](const json& row) { return row.at("attributes").at("role") != "workspace"; });
  ASSERT_EQ(workspaces.size(), 1U);
  EXPECT_EQ(workspaces.front().at("attributes").at("size_bytes"), 4096);
  EXPECT_FALSE(workspaces.front().at("attributes").contains("address"));
  EXPECT_EQ(report().cases.front().memory->workspace, Bytes{4096});
}

constexpr const char* kReadings = R"({"tracer":{"readings":[
  {"after_ns":0,"sm_clock_hz":1755000000,"power_milliwatt":120500,"memory_bytes":1000000},
  {"after_ns":1000,"sm_clock_hz":1980000000,"power_milliwatt":700000,"memory_bytes":1000500},
  {"after_ns":2000,"power_milliwatt":650000}]}})";

TEST_F(FakeGpuProfileTest, ClockPowerAndOtherMemoryAreCountersOfTheDevice) {
  const ProgramResult result = run(kReadings, kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::map<std::string, std::vector<double>> values;
  std::map<std::string, std::string> units;
  for (const json& row : activities("counter")) {
    if (!row.contains("device")) continue;
    const std::string name = row.at("name").get<std::string>();
    EXPECT_EQ(row.at("device"), 0);
    values[name].push_back(row.at("attributes").at("value").get<double>());
    units[name] = row.at("attributes").at("value_unit").get<std::string>();
  }
  EXPECT_THAT(values.at("sm_clock"), ElementsAre(1.755e9, 1.98e9));
  EXPECT_THAT(values.at("power"), ElementsAre(120.5, 700, 650));
  // Three buffers of 64 bytes are live in the window.
  EXPECT_THAT(values.at("device_other_bytes"), ElementsAre(1'000'000 - 192, 1'000'500 - 192));
  EXPECT_EQ(units.at("sm_clock"), "Hz");
  EXPECT_EQ(units.at("power"), "W");
  EXPECT_EQ(units.at("device_other_bytes"), "bytes");
  const std::map<std::string, std::string> details = pass().details;
  EXPECT_EQ(details.at("gpu.memory.other_bytes"), "1000308");
  EXPECT_EQ(details.at("gpu.memory.other_source"), "the driver's count of this process");
  EXPECT_FALSE(details.contains("gpu.note")) << details.at("gpu.note");
}

TEST_F(FakeGpuProfileTest, WhatTheDriverDoesNotTellHasNoCounterAndANote) {
  const ProgramResult result = run(R"({"tracer":{"readings":[{"sm_clock_hz":1755000000}],
                        "notes":["no records of OVERHEAD: not supported"]}})",
                                   kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::set<std::string> counters;
  for (const json& row : activities("counter")) {
    if (row.contains("device")) counters.insert(row.at("name").get<std::string>());
  }
  EXPECT_THAT(counters,
              ElementsAre("device_live_bytes", "gpu_busy", "sm_clock", "unfinished_kernels"));
  EXPECT_THAT(
      pass().details.at("gpu.note"),
      AllOf(HasSubstr("the driver of device 0 does not report the power, the memory of this "
                      "process"),
            HasSubstr("no records of OVERHEAD")));
}

TEST_F(FakeGpuProfileTest, TheTraceHasTracksOfClockPowerAndMemory) {
  const ProgramResult result =
      run(kReadings, kGemmCase, {"--trace", "t.json", "--profile-iterations", "2-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  std::map<std::string, std::vector<double>> tracks;
  std::set<json> processes;
  const json trace = json::parse(read_text(folder_.file("t.json")));
  for (const json& event : trace.at("traceEvents")) {
    if (event.value("ph", "") == "X" && event.value("cat", "") == "kernel") {
      processes.insert(event.at("pid"));
    }
    if (event.value("ph", "") != "C") continue;
    tracks[event.at("name").get<std::string>()].push_back(
        event.at("args").at("value").get<double>());
    if (event.at("name") == "power (W)") processes.insert(event.at("pid"));
  }
  for (const char* name : {"gpu_busy (%)", "unfinished_kernels", "device_live_bytes (bytes)"}) {
    EXPECT_THAT(tracks[name], Not(IsEmpty())) << name;
  }
  EXPECT_THAT(tracks["sm_clock (Hz)"], ElementsAre(1.755e9, 1.98e9));
  EXPECT_THAT(tracks["power (W)"], ElementsAre(120.5, 700, 650));
  EXPECT_EQ(tracks["device_other_bytes (bytes)"].size(), 2U);
  EXPECT_EQ(processes.size(), 1U);  // in addition to the device's kernels
  const ProgramResult checked =
      run_program({{BENCH_BINARY, "trace", "--check", "t.json"}, folder_.path(), {}});
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

TEST_F(FakeGpuProfileTest, MemoryFlowHasAChartOfTheDevice) {
  const ProgramResult result =
      run(R"({"cases":[{"workspace":100}]})", kGemmCase,
          {"--profile=memory", "--profile-iterations", "2-3", "--profile-format", "memory_flow"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const std::string flow = read_text(folder_.file("r.memory_flow.svg"));
  EXPECT_THAT(flow, AllOf(HasSubstr(">Memory of device 0 of process "),
                          HasSubstr("data-role=\"workspace\""), HasSubstr("data-role=\"weights\""),
                          HasSubstr("data-peak-bytes=\"292\"")));
}

TEST_F(FakeGpuProfileTest, RowsStandInTheOrderInWhichTheyEnded) {
  ASSERT_EQ(run("{}", kGemmCase).status, 0);
  std::vector<std::int64_t> ends;
  for (const json& row : activities()) {
    ends.push_back(row.at("start_ns").get<std::int64_t>() +
                   row.value("duration_ns", std::int64_t{0}));
  }
  // Buffers that the run releases at its end come last.
  const auto unsorted = std::is_sorted_until(ends.begin(), ends.end());
  EXPECT_EQ(unsorted, ends.end())
      << activities()[static_cast<std::size_t>(unsorted - ends.begin())];
}

TEST_F(FakeGpuProfileTest, WithoutTheDeviceThereAreNoRowsOfIt) {
  const ProgramResult result =
      run("{}", kGemmCase, {"--profile=operators,api,memory", "--profile-iterations", "2-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  for (const char* kind : {"kernel", "memcpy", "memset", "synchronisation", "overhead"}) {
    EXPECT_THAT(kinds(), Not(Contains(kind)));
  }
  EXPECT_THAT(kinds(), AllOf(Contains("operator"), Contains("api"), Contains("allocation")));
  ASSERT_EQ(run("{}", kGemmCase, {"--profile=operators"}).status, 0);
  EXPECT_THAT(kinds(), Not(Contains("api")));
  EXPECT_FALSE(pass().details.contains("gpu.tracer"));
}

TEST_F(FakeGpuProfileTest, DroppedRecordsVoidThePassWithTheReason) {
  const ProgramResult result =
      run(R"({"tracer":{"dropped":3,"faults":["a buffer was cut"]}})", kGemmCase);
  EXPECT_EQ(result.status, 3);
  const ProfilePassRecord record = pass();
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(record.reason.value_or(""),
              AllOf(HasSubstr("invalid"), HasSubstr("3 records were dropped"),
                    HasSubstr("a buffer was cut")));
  EXPECT_THAT(result.out, HasSubstr("3 records were dropped"));
  EXPECT_THAT(activities("kernel"), Not(IsEmpty()));  // the file still contains them
  ASSERT_EQ(report().cases.size(), 1U);
  EXPECT_EQ(report().cases.front().outcome, Outcome::ok);
  EXPECT_TRUE(report().cases.front().time.has_value());
}

TEST_F(FakeGpuProfileTest, AnotherProfilerIsNamedAndTheRestIsRecorded) {
  const ProgramResult result = run(R"({"tracer":{"conflict":"Nsight Systems"}})", kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(pass().outcome, Outcome::ok);
  EXPECT_THAT(pass().details.at("gpu.note"), HasSubstr("Nsight Systems"));
  EXPECT_THAT(result.out, HasSubstr("Nsight Systems"));
  EXPECT_THAT(kinds(),
              AllOf(Contains("operator"), Contains("allocation"), Not(Contains("kernel"))));
  EXPECT_EQ(report().cases.front().outcome, Outcome::ok);
  EXPECT_TRUE(report().cases.front().time.has_value());
}

TEST_F(FakeGpuProfileTest, WithoutCuptiCasesAreTimedAndTheReasonIsSaid) {
  const ProgramResult result =
      run(R"({"absent":{"CUPTI":"libcupti.so.13 was not found"}})", kGemmCase);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(pass().details.at("gpu.note"), HasSubstr("libcupti.so.13 was not found"));
}

TEST_F(FakeGpuProfileTest, AFailureOnTheDeviceFailsThePassAlone) {
  const ProgramResult result =
      run(R"({"faults":[{"at":"traced","match":"pool/*","after":20,"kind":"sticky"}]})",
          "cases:\n"
          "  - { op: pool, function: max, c: 2, h: 4, window: 2 }\n"
          "  - { op: gemm, m: 4, n: 4, k: 4 }\n");
  EXPECT_EQ(result.status, 3) << result.out;
  const Report all = report();
  ASSERT_EQ(all.profile_passes.size(), 2U);
  EXPECT_EQ(all.profile_passes[0].outcome, Outcome::failed);
  EXPECT_THAT(all.profile_passes[0].reason.value_or(""), HasSubstr("cudaErrorIllegalAddress"));
  EXPECT_EQ(all.profile_passes[1].outcome, Outcome::ok);
}

TEST_F(FakeGpuProfileTest, TheTraceHasATrackOfKernels) {
  const ProgramResult result =
      run(R"({"cases":[{"kernels":[{"name":"my_kernel","grid":[3,1,1]}]}]})", kGemmCase,
          {"--trace", "t.json", "--profile-iterations", "2-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const json trace = json::parse(read_text(folder_.file("t.json")));
  std::set<std::pair<json, json>> kernel_tracks, host_tracks;
  int kernels = 0;
  for (const json& event : trace.at("traceEvents")) {
    if (event.value("ph", "") != "X") continue;
    const auto track = std::pair(event.at("pid"), event.at("tid"));
    if (event.at("name") == "my_kernel") {
      ++kernels;
      kernel_tracks.insert(track);
    }
    if (event.at("name") == "gemm") host_tracks.insert(track);
  }
  EXPECT_EQ(kernels, 2);
  EXPECT_EQ(kernel_tracks.size(), 1U);
  EXPECT_FALSE(host_tracks.empty());
  EXPECT_NE(kernel_tracks, host_tracks);
  // The wait for the device is a slice on the track of the waiting host thread.
  const bool waits = std::ranges::any_of(trace.at("traceEvents"), [&](const json& event) {
    return event.value("ph", "") == "X" && event.value("cat", "") == "synchronisation" &&
           host_tracks.contains({event.at("pid"), event.at("tid")});
  });
  EXPECT_TRUE(waits);
}

TEST_F(FakeGpuProfileTest, SaysWhatProfilingCosts) {
  ASSERT_EQ(run("{}", kGemmCase).status, 0);
  const ProfilePassRecord record = pass();
  EXPECT_GE(record.profiled.value_or(Nanoseconds(0)), Nanoseconds(10000));
  EXPECT_GE(record.unprofiled.value_or(Nanoseconds(0)), Nanoseconds(10000));
  EXPECT_EQ(record.wall.value_or(Nanoseconds(0)), record.attributed.value_or(Nanoseconds(0)) +
                                                      record.unattributed.value_or(Nanoseconds(0)));
}

}  // namespace
}  // namespace bench::test::fake_gpu_profile_test
