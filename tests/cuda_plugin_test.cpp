// SPDX-License-Identifier: Apache-2.0
// Cases on a GPU as a user sees them on a machine without a GPU, and with faulty plugins.
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bench::test::cuda_plugin_test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kConfig = R"(version: 1
name: two_devices
defaults:
  warmup: { iterations: 1, time: 1ms }
  measure: { processes: 1, min_iterations: 2, max_time: 4ms }
cases:
  - { op: pointwise, function: relu, shape: [4, 64], device: [cpu, cuda] }
)";

// A probe result of a driver without a device.
constexpr const char* kNoDevice =
    R"({"schema":"bench.cuda_probe/1","runtime":{"status":100,"status_name":"cudaErrorNoDevice",)"
    R"("status_text":"","devices":0,"driver":13000,"runtime":13000},"verdict":{"availability":)"
    R"("no_device","reason":"a driver for CUDA 13.0, but no device","remedy":"see nvidia-smi -L"},)"
    R"("driver_version":"","architectures":"90-real","operators":[],"devices":[],"libraries":[]})";

// A device for which this build has no code.
constexpr const char* kOldDevice =
    R"({"index":0,"name":"Old","major":5,"minor":2,"multiprocessors":8,)"
    R"("memory_bytes":1073741824,"l2_bytes":1048576,"bus_id":"0000:01:00.0","uuid":"GPU-1",)"
    R"("unusable":"no code for compute capability 5.2","nvml_reason":"","cudnn_properties":""})";

ProgramResult bench(std::vector<std::string> arguments, const std::string& folder,
                    std::map<std::string, std::string> environment) {
  arguments.insert(arguments.begin(), BENCH_BINARY);
  return run_program({std::move(arguments), folder, std::move(environment)});
}

std::map<std::string, std::string> with_plugin(const std::string& name) {
  return {{"BENCH_CUDA_PLUGIN", std::string(BENCH_FAKE_CUDA_PLUGINS) + "/" + name + ".so"}};
}

// Returns the reason of the one skipped case; the other case has a time.
std::string skip_reason(const TemporaryFolder& folder,
                        const std::map<std::string, std::string>& environment) {
  folder.write("two.yaml", kConfig);
  const ProgramResult result =
      bench({"run", "two.yaml", "--out", "r.jsonl", "--force"}, folder.path(), environment);
  EXPECT_EQ(result.status, 0) << result.err;
  const auto report = parse_report(read_text(folder.file("r.jsonl")), "r.jsonl");
  if (!report.ok() || report->cases.size() != 2) {
    ADD_FAILURE() << result.err;
    return "";
  }
  std::string reason;
  for (const CaseRecord& record : report->cases) {
    if (record.outcome == Outcome::skipped) {
      reason = record.reason.value_or("");
    } else {
      EXPECT_EQ(record.outcome, Outcome::ok) << record.reason.value_or("");
    }
  }
  return reason;
}

TEST(CudaPlugin, WhatItFindsIsWhyCasesAreSkipped) {
  const TemporaryFolder folder;
  folder.write("probe.json", kNoDevice);
  auto environment = with_plugin("answer");
  environment["BENCH_FAKE_PROBE"] = folder.file("probe.json");
  EXPECT_EQ(skip_reason(folder, environment),
            "no CUDA device: a driver for CUDA 13.0, but no device");
  const ProgramResult required = bench({"run", "two.yaml", "--require", "gpu", "--out", "b.jsonl"},
                                       folder.path(), environment);
  EXPECT_EQ(required.status, 3);
}

// The probe contains what the plugin's runtime would report on such a machine. availability.cpp
// evaluates it.
TEST(CudaPlugin, EachKindOfDriverIsAReasonOfItsOwn) {
  const TemporaryFolder folder;
  auto environment = with_plugin("answer");
  environment["BENCH_FAKE_PROBE"] = folder.file("probe.json");
  const auto reason = [&](const char* availability, const char* text, const json& devices) {
    json probe = json::parse(kNoDevice);
    probe["verdict"] = {{"availability", availability}, {"reason", text}, {"remedy", ""}};
    probe["devices"] = devices;
    folder.write("probe.json", probe.dump());
    return skip_reason(folder, environment);
  };
  for (const char* availability :
       {"no_driver", "driver_too_old", "stub_driver", "driver_mismatch", "failed"}) {
    EXPECT_EQ(reason(availability, "as it said", json::array()), "no CUDA device: as it said");
  }
  EXPECT_THAT(reason("available", "", json::array({json::parse(kOldDevice)})),
              HasSubstr("no code for compute capability 5.2"));
}

TEST(CudaPlugin, ThatCrashesTakesNothingWithIt) {
  const TemporaryFolder folder;
  EXPECT_THAT(
      skip_reason(folder, with_plugin("crash")),
      testing::AllOf(HasSubstr("no CUDA device: the probe of CUDA failed"), HasSubstr("SIGSEGV")));
}

TEST(CudaPlugin, ThatIsMissingOrOfAnotherBuildIsNamed) {
  const TemporaryFolder folder;
  EXPECT_THAT(skip_reason(folder, with_plugin("no_such_file")), HasSubstr("does not load"));
  EXPECT_THAT(skip_reason(folder, with_plugin("other_build")),
              HasSubstr("other_build.so was built with bench 9.9 (build 0123456789ab), this is"));
}

TEST(CudaPlugin, OfThisBuildAnswersOnThisMachine) {
  const TemporaryFolder folder;
  const ProgramResult result = bench({"worker", "--probe", "devices"}, folder.path(), {});
  ASSERT_EQ(result.status, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("schema"), "bench.worker_probe/1");
  if (BENCH_CUDA_PLUGIN_BUILT) {
    EXPECT_TRUE(document.contains("report")) << result.out;
    EXPECT_EQ(document.at("abi"), 1);
  } else {
    EXPECT_EQ(document.at("reason"), "this build has no CUDA plugin");
  }
}

TEST(CudaPlugin, ProbeWantsToKnowWhat) {
  const TemporaryFolder folder;
  const ProgramResult result = bench({"worker", "--probe", "everything"}, folder.path(), {});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("devices, libraries or onednn, not `everything`"));
}

TEST(DoctorTest, ShowsWhatThePluginFindsInTextAndJson) {
  const TemporaryFolder folder;
  folder.write("probe.json", kNoDevice);
  auto environment = with_plugin("answer");
  environment["BENCH_FAKE_PROBE"] = folder.file("probe.json");
  const ProgramResult text = bench({"doctor", "--watch", "50ms"}, folder.path(), environment);
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, ContainsRegex("ok      CUDA plugin +9.9, interface 1, for 90-real, at "));
  EXPECT_THAT(text.out,
              ContainsRegex("note    NVIDIA driver +a driver for CUDA 13.0, but no device\n"
                            " +so: cases with device: cuda are skipped\n"
                            " +do: see nvidia-smi -L\n"));
  // A library's output in the child goes to standard error.
  EXPECT_THAT(text.out, Not(HasSubstr("a library that prints")));
  const ProgramResult machine =
      bench({"doctor", "--json", "--watch", "0s"}, folder.path(), environment);
  EXPECT_EQ(machine.status, 0);
  bool seen = false;
  const json document = json::parse(machine.out);
  for (const json& row : document.at("rows")) {
    if (row.at("subject") == "NVIDIA driver") seen = row.at("level") == "note";
  }
  EXPECT_TRUE(seen);
}

TEST(DoctorTest, SurvivesAPluginThatCrashes) {
  const TemporaryFolder folder;
  const ProgramResult result =
      bench({"doctor", "--watch", "50ms"}, folder.path(), with_plugin("crash"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("SIGSEGV"));
}

// configs/gpu_operators.yaml: every operator, direction, data type, layout and kind of padding.
TEST(CudaPluginTest, EveryCombinationRunsOrIsUnsupportedWithAReason) {
  const ProgramResult result = run_program(
      {{BENCH_BINARY, "list", "configs/gpu_operators.yaml", "--device", "cuda", "--json"},
       BENCH_SOURCE_DIR,
       {}});
  ASSERT_EQ(result.status, 0) << result.err;
  const json cases = json::parse(result.out).at("cases");
  ASSERT_GT(cases.size(), 300U);
  if (!cases.front().contains("support")) {
    EXPECT_THAT(result.err, HasSubstr("cannot determine what a GPU would run: "));
    GTEST_SKIP() << "this build has no CUDA plugin";
  }
  for (const json& entry : cases) {
    const json& support = entry.at("support");
    const bool runs = support.at("runs") == "yes";
    const std::string& reported = runs ? support.at("by").get_ref<const std::string&>()
                                       : support.at("reason").get_ref<const std::string&>();
    EXPECT_FALSE(reported.empty()) << entry;
  }
}

}  // namespace
}  // namespace bench::test::cuda_plugin_test
