// SPDX-License-Identifier: Apache-2.0
// `bench run --profile` on the fake GPU: what its kernels, copies and buffers become in a result
// file, and what happens where the trace is damaged or impossible.
#include "harness/report/report.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {
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
constexpr const char* kGemm = "cases:\n  - { op: gemm, m: 4, n: 4, k: 4 }\n";
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
  // Of the configuration `cases` with the script.
  ProgramResult run(const std::string& script, const std::string& cases,
                    std::vector<std::string> more = {"--profile", "--profile-iterations", "2-3"}) {
    folder_.write("gpu.yaml", kHead + cases);
    std::vector<std::string> command = {BENCH_BINARY, "run",     "gpu.yaml",
                                        "--out",      "r.jsonl", "--force"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program({std::move(command),
                        folder_.path(),
                        {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU},
                         {"FAKE_GPU_SCRIPT", folder_.write("script.json", script)}}});
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
    std::vector<json> found;
    std::istringstream lines(read_text(folder_.file("r.jsonl")));
    for (std::string line; std::getline(lines, line);) {
      json record = json::parse(line);
      if (record.at("record") == "activity") found.push_back(std::move(record));
    }
    return found;
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

std::string seven_kernels() {
  std::string rows;
  for (int i = 1; i <= 7; ++i) {
    rows += (i == 1 ? "" : ",") + std::string(R"({"name":"step)") + std::to_string(i) +
            R"(","ns":2000,"grid":[)" + std::to_string(i) + R"(,2,1],"block":[)" +
            std::to_string(32 * i) + ",1,1]}";
  }
  return R"({"cases":[{"kernels":[)" + rows + "]}]}";
}

TEST_F(FakeGpuProfileTest, seven_launches_are_seven_rows_with_their_grid_and_block) {
  const ProgramResult result =
      run(seven_kernels(), kGemm, {"--profile", "--profile-iterations", "3-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const std::vector<json> kernels = activities("kernel");
  ASSERT_EQ(kernels.size(), 7U);
  for (int i = 1; i <= 7; ++i) {
    const json& row = kernels[static_cast<std::size_t>(i) - 1];
    EXPECT_EQ(row.at("name"), "step" + std::to_string(i));
    EXPECT_EQ(row.at("attributes").at("grid"), std::to_string(i) + ",2,1");
    EXPECT_EQ(row.at("attributes").at("block"), std::to_string(32 * i) + ",1,1");
    EXPECT_EQ(row.at("attributes").at("op"), "gemm");
    EXPECT_EQ(row.at("attributes").at("iteration"), 3);
    EXPECT_EQ(row.at("duration_ns"), 2000);
    EXPECT_EQ(row.at("id"), "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot");
    EXPECT_GE(row.at("attributes").at("wait_ns").get<std::int64_t>(), 0);
    EXPECT_FALSE(row.at("attributes").contains("flops"));  // several compute: nobody knows
  }
  EXPECT_EQ(pass().details.at("gpu.kernels"), "7");
  EXPECT_EQ(pass().details.at("gpu.kernel_sum_ns"), "14000");
  EXPECT_THAT(result.out, HasSubstr("GPU: 7 kernels in 14.00 us, busy"));
}

TEST_F(FakeGpuProfileTest, kernels_lie_under_the_layers_of_a_network) {
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

TEST_F(FakeGpuProfileTest, calls_waits_and_memory_have_rows_of_the_device) {
  const ProgramResult result = run(R"({"cases":[{"workspace":4096}]})", kGemm);
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
    if (attributes.at("role") == "staging") continue;  // of the host
    EXPECT_EQ(row.at("device"), 0) << row;
    roles.insert(row.at("name").get<std::string>());
    workspaces += attributes.at("size_bytes") == 4096 ? 1 : 0;
  }
  EXPECT_THAT(roles, AllOf(Contains("source"), Contains("weights"), Contains("destination"),
                           Contains("library")));
  EXPECT_GE(workspaces, 1);
  for (const json& row : activities("counter")) {
    if (row.contains("device")) counters.insert(row.at("name").get<std::string>());
  }
  EXPECT_THAT(counters, ElementsAre("device_live_bytes", "gpu_busy", "unfinished_kernels"));
}

TEST_F(FakeGpuProfileTest, rows_stand_in_the_order_in_which_they_ended) {
  ASSERT_EQ(run("{}", kGemm).status, 0);
  std::vector<std::int64_t> ends;
  for (const json& row : activities()) {
    ends.push_back(row.at("start_ns").get<std::int64_t>() +
                   row.value("duration_ns", std::int64_t{0}));
  }
  // Buffers that the run gives back at its end come last.
  const auto sorted = std::is_sorted_until(ends.begin(), ends.end());
  EXPECT_EQ(sorted, ends.end()) << activities()[static_cast<std::size_t>(sorted - ends.begin())];
}

TEST_F(FakeGpuProfileTest, without_the_device_there_are_no_rows_of_it) {
  const ProgramResult result =
      run("{}", kGemm, {"--profile=operators,api,memory", "--profile-iterations", "2-3"});
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  for (const char* kind : {"kernel", "memcpy", "memset", "synchronisation", "overhead"}) {
    EXPECT_THAT(kinds(), Not(Contains(kind)));
  }
  EXPECT_THAT(kinds(), AllOf(Contains("operator"), Contains("api"), Contains("allocation")));
  ASSERT_EQ(run("{}", kGemm, {"--profile=operators"}).status, 0);
  EXPECT_THAT(kinds(), Not(Contains("api")));
  EXPECT_FALSE(pass().details.contains("gpu.tracer"));
}

TEST_F(FakeGpuProfileTest, dropped_records_void_the_pass_with_the_reason) {
  const ProgramResult result =
      run(R"({"tracer":{"dropped":3,"faults":["a buffer was cut"]}})", kGemm);
  EXPECT_EQ(result.status, 3);
  const ProfilePassRecord record = pass();
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(
      record.reason.value_or(""),
      AllOf(HasSubstr("void"), HasSubstr("3 records were dropped"), HasSubstr("a buffer was cut")));
  EXPECT_THAT(result.out, HasSubstr("3 records were dropped"));
  EXPECT_THAT(activities("kernel"), Not(IsEmpty()));  // shown all the same
  ASSERT_EQ(report().cases.size(), 1U);
  EXPECT_EQ(report().cases.front().outcome, Outcome::ok);
  EXPECT_TRUE(report().cases.front().time.has_value());
}

TEST_F(FakeGpuProfileTest, another_profiler_is_named_and_the_rest_is_recorded) {
  const ProgramResult result = run(R"({"tracer":{"conflict":"Nsight Systems"}})", kGemm);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(pass().outcome, Outcome::ok);
  EXPECT_THAT(pass().details.at("gpu.note"), HasSubstr("Nsight Systems"));
  EXPECT_THAT(result.out, HasSubstr("Nsight Systems"));
  EXPECT_THAT(kinds(),
              AllOf(Contains("operator"), Contains("allocation"), Not(Contains("kernel"))));
  EXPECT_EQ(report().cases.front().outcome, Outcome::ok);
  EXPECT_TRUE(report().cases.front().time.has_value());
}

TEST_F(FakeGpuProfileTest, without_cupti_cases_are_timed_and_the_reason_is_said) {
  const ProgramResult result = run(R"({"absent":{"CUPTI":"libcupti.so.13 was not found"}})", kGemm);
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(pass().details.at("gpu.note"), HasSubstr("libcupti.so.13 was not found"));
}

TEST_F(FakeGpuProfileTest, a_failure_on_the_device_fails_the_pass_alone) {
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

TEST_F(FakeGpuProfileTest, the_trace_has_a_track_of_kernels) {
  const ProgramResult result =
      run(R"({"cases":[{"kernels":[{"name":"my_kernel","grid":[3,1,1]}]}]})", kGemm,
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
}

TEST_F(FakeGpuProfileTest, says_what_profiling_costs) {
  ASSERT_EQ(run("{}", kGemm).status, 0);
  const ProfilePassRecord record = pass();
  EXPECT_GE(record.profiled.value_or(Nanoseconds(0)), Nanoseconds(10000));
  EXPECT_GE(record.unprofiled.value_or(Nanoseconds(0)), Nanoseconds(10000));
  EXPECT_EQ(record.wall.value_or(Nanoseconds(0)), record.attributed.value_or(Nanoseconds(0)) +
                                                      record.unattributed.value_or(Nanoseconds(0)));
}

}  // namespace
}  // namespace bench::test
