// SPDX-License-Identifier: Apache-2.0
// Tests the timing pass on a GPU from YAML to result file, with the fake GPU (fakes/fake_gpu).
#include "tests/support/fake_gpu.hpp"

#include "harness/result/report.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace bench::test::fake_gpu_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kSmall = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";
constexpr const char* kLarge = "gemm/forward/m8n8k8/f32/cublaslt/cuda/hot";

constexpr const char* kStart = R"(version: 1
name: gpu
defaults:
  warmup: { iterations: 1, time: 0ms }
  measure: { processes: 2, min_iterations: 5, max_time: 40ms }
cases:
)";
std::string two_gemms() {
  return std::string(kStart) + "  - { op: gemm, m: 4, n: 4, k: 4, device: cuda }\n" +
         "  - { op: gemm, m: 8, n: 8, k: 8, device: cuda }\n";
}

class FakeGpuTest : public testing::Test {
 protected:
  // Runs the configuration on a device that follows the script, and expects the exit status.
  Report run(const std::string& config, const std::string& script, int status = 0,
             const std::vector<std::string>& more = {}) {
    last_ = run_on_fake_gpu(folder_, config, script, more);
    EXPECT_EQ(last_.status, status) << last_.out << last_.err;
    auto report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl");
    if (!report.ok()) {
      ADD_FAILURE() << report.error().message();
      return {};
    }
    EXPECT_THAT(report->warnings, IsEmpty());
    return *std::move(report);
  }
  static CaseRecord find(const Report& report, const std::string& id) {
    const auto found = std::ranges::find(report.cases, id, &CaseRecord::id);
    if (found != report.cases.end()) return *found;
    ADD_FAILURE() << "no case " << id;
    return {};
  }
  static std::vector<ProcessRecord> processes(const Report& report, const std::string& id) {
    std::vector<ProcessRecord> result;
    std::ranges::copy_if(report.processes, std::back_inserter(result),
                         [&](const ProcessRecord& process) { return process.id == id; });
    return result;
  }

  TemporaryFolder folder_;
  ProgramResult last_;
};

TEST_F(FakeGpuTest, DeviceTimesAreSeparateFromLaunchTimes) {
  const Report report = run(two_gemms(), R"({"cases":[
      {"match":"gemm/m4*","ns":10000,"launch_ns":2000,"implementation":"algo_7",
       "details":{"engine":"7","setup.heuristic_ns":"1500"}},
      {"match":"*","ns":2000000,"launch_ns":3000}]})");
  const CaseRecord small = find(report, kSmall);
  EXPECT_EQ(small.outcome, Outcome::ok) << small.reason.value_or("");
  EXPECT_EQ(small.time->median, Nanoseconds(10000));
  EXPECT_EQ(small.host_launch, Nanoseconds(2000));
  EXPECT_EQ(small.clock_hz, 1'500'000'000);
  EXPECT_TRUE(small.sample_method);
  EXPECT_EQ(small.implementation, "algo_7");
  EXPECT_EQ(small.details.at("engine"), "7");
  EXPECT_EQ(small.setup.at("heuristic_ns"), Nanoseconds(1500));
  EXPECT_TRUE(small.check) << "nothing is timed before it was checked";
  EXPECT_THAT(small.details, Contains(testing::Key(HasSubstr("library."))));
  EXPECT_EQ(find(report, kLarge).time->median, Nanoseconds(2000000));
  for (const ProcessRecord& process : processes(report, kSmall)) {
    EXPECT_EQ(process.iterations_per_sample, 110);  // for samples of at least 1 ms
    EXPECT_THAT(process.samples, Each(Nanoseconds(1100000)));
    EXPECT_THAT(process.device.host_launch, SizeIs(process.samples.size()));
    EXPECT_THAT(process.device.clock_hz, SizeIs(process.samples.size()));
    EXPECT_EQ(process.device.voided, SampleRemarks{});
  }
  const auto& details = report.runs.at(0).environment.details;
  EXPECT_EQ(details.at("gpu.name"), "Fake GPU");
  EXPECT_EQ(details.at("gpu.compute_capability"), "9.0");
}

TEST_F(FakeGpuTest, BothDevicesHaveTheirRows) {
  const Report report =
      run(std::string(kStart) +
              "  - { op: pointwise, function: relu, shape: [4, 64], device: [cpu, cuda] }\n",
          "{}");
  std::set<std::string> devices;
  for (const CaseRecord& record : report.cases) {
    EXPECT_EQ(record.outcome, Outcome::ok) << record.id << record.reason.value_or("");
    devices.insert(record.device + "/" + record.backend);
  }
  EXPECT_EQ(devices, (std::set<std::string>{"cpu/onednn", "cuda/cudnn"}));
  for (const CaseRecord& record : report.cases) {
    EXPECT_EQ(record.host_launch.has_value(), record.device == "cuda");
  }
}

TEST_F(FakeGpuTest, TheFastestOfSeveralCandidatesIsAskedForByTune) {
  const std::string config =
      std::string(kStart) + "  - { op: gemm, m: 4, n: 4, k: 4, device: cuda, tune: 3 }\n";
  EXPECT_EQ(find(run(config, "{}"), kSmall).details.at("tune"), "3");
}

// The plugin states the measured algorithms as details; the result has them as a field, and the run
// and its report begin with what the library's own choice costs.
TEST_F(FakeGpuTest, TuneKeepsTheRunnersUp) {
  const std::string config = std::string(kStart) +
                             "  - { op: gemm, m: 4, n: 4, k: 4, device: cuda, tune: 3 }\n" +
                             "  - { op: gemm, m: 8, n: 8, k: 8, device: cuda, tune: 3 }\n";
  const Report report = run(config, R"({"cases":[
      {"match":"gemm/m4*","details":{"regret.chosen":"algo_1","regret.best":"algo_7",
       "regret.candidates":"algo_1\t5600\nalgo_7\t5000\nalgo_9\tfailed: not supported\n"}},
      {"match":"*","details":{"regret.chosen":"algo_1","regret.best":"algo_1",
       "regret.candidates":"algo_1\t5000\nalgo_7\t4950\n"}}]})");
  const CaseRecord small = find(report, kSmall);
  EXPECT_EQ(small.regret, (ops::Regret{"algo_1",
                                       Nanoseconds(5600),
                                       "algo_7",
                                       Nanoseconds(5000),
                                       {{"algo_1", Nanoseconds(5600), ""},
                                        {"algo_7", Nanoseconds(5000), ""},
                                        {"algo_9", std::nullopt, "not supported"}}}));
  EXPECT_FALSE(small.details.contains("regret.chosen"));
  EXPECT_FALSE(find(report, kLarge).regret->has_cost());
  EXPECT_THAT(result_file_problems(read_text(folder_.file("r.jsonl"))), IsEmpty());
  EXPECT_THAT(last_.out, testing::StartsWith("The library's choice costs time in 1 of 2 tuned "));
  const std::string shown =
      run_program({{BENCH_BINARY, "report", "r.jsonl"}, folder_.path(), {}}).out;
  std::string sentences = shown;
  std::ranges::replace(sentences, '\n', ' ');
  EXPECT_THAT(sentences,
              HasSubstr("algo_1 was chosen; algo_7 is 12 % faster: the choice costs 12 %."));
  EXPECT_THAT(shown, testing::ContainsRegex("tuned case +chosen +takes +best +takes +costs\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("algo_1 +5.600 us +algo_7 +5.000 us +12 %\n"));
  EXPECT_THAT(shown, testing::ContainsRegex("algo_1 +5.000 us +as chosen +none\n"));
}

TEST_F(FakeGpuTest, CandidatesAreMeasuredWithTheCachesOfTheCase) {
  const Report report = run(std::string(kStart) +
                                "  - { op: gemm, m: 64, n: 64, k: 64, device: cuda, tune: 3, "
                                "cache: [hot, cold, cold_weights] }\n",
                            R"({"device":{"cache_bytes":262144}})");
  const auto caches = [&](const std::string& mode) {
    const auto details = find(report, "gemm/forward/m64n64k64/f32/cublaslt/cuda/" + mode).details;
    return details.contains("tuned_caches") ? details.at("tuned_caches") : "";
  };
  EXPECT_EQ(caches("hot"), "");
  EXPECT_EQ(caches("cold"), "1 over 524288");
  EXPECT_EQ(caches("cold_weights"), "2 over 524288");
}

// Each process of a case executes the same kernel, although each could measure again.
// On an H100 a process that had measured candidates ran the same engine up to 5 % slower, because
// its buffers were at other places.
TEST_F(FakeGpuTest, AWorkerOfItsOwnChoosesForAllProcessesOfACase) {
  const std::string config = std::string(kStart) +
                             "  - { op: gemm, m: 4, n: 4, k: 4, device: cuda, tune: 3, "
                             "measure: { processes: 3 } }\n";
  const Report report = run(config, "{}");
  std::vector<std::string> implementations;
  for (const ProcessRecord& process : report.processes)
    implementations.push_back(process.implementation);
  ASSERT_THAT(implementations, SizeIs(3));
  EXPECT_THAT(implementations, Each(HasSubstr(" as best of 3")));
  // The record has the facts of the worker that chose, and what only samples show.
  EXPECT_TRUE(find(report, kSmall).sample_method.has_value());
  EXPECT_THAT(*find(report, kSmall).implementation, Not(HasSubstr(" as ")));
}

TEST_F(FakeGpuTest, VoidSamplesAreNotCountedAndTheirReasonIsKept) {
  const Report report = run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","ns":2000000,"samples":[
      {"from":6,"to":7,"verdict":"void","reason":"hardware thermal slowdown","factor":1.5}]},
      {"match":"*","ns":2000000}]})");
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::voided_samples));
  EXPECT_EQ(record.voided, (SampleRemarks{4, {{"hardware thermal slowdown", 4}}}));
  EXPECT_EQ(record.time->max, Nanoseconds(2000000));
  EXPECT_THAT(find(report, kLarge).flags, IsEmpty());
  EXPECT_THAT(last_.out, HasSubstr("voided_samples"));
}

// Without it, a device at its power cap would keep only its fast samples.
TEST_F(FakeGpuTest, ASampleAtALowClockIsMarkedAndCounts) {
  const Report report = run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","ns":2000000,"samples":[
      {"from":8,"to":8,"clock_hz":1200000000,"factor":1.25}]}]})");
  const CaseRecord record = find(report, kSmall);
  EXPECT_FALSE(record.voided);
  EXPECT_THAT(record.flags, ElementsAre(Flag::unsteady));
  ASSERT_TRUE(record.unsteady_clock);
  EXPECT_THAT(
      record.unsteady_clock->reasons,
      ElementsAre(testing::Pair("SM clock 1.20 GHz, 80 % of the recent median 1.50 GHz", 2)));
  EXPECT_EQ(record.time->max, Nanoseconds(2500000));
  EXPECT_EQ(record.details.at("clock.burst_hz"), "1500000000");
}

TEST_F(FakeGpuTest, ThrottlingIsAFlagAndTheSamplesCount) {
  const Report report = run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","ns":2000000,"samples":[
      {"from":0,"verdict":"throttled","reason":"power cap"}]}]})");
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::throttled));
  std::size_t samples = 0;
  for (const ProcessRecord& process : processes(report, kSmall)) samples += process.samples.size();
  EXPECT_EQ(record.throttled->count, static_cast<std::int64_t>(samples));
}

// Imitates a large product whose clock the power cap lowers: only the first samples have the boost
// clock, and they must not make the others void.
TEST_F(FakeGpuTest, APowerCappedKernelHasItsSettledTimeAndNoVoidSample) {
  const Report report = run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","ns":3000000,"samples":[
      {"from":3,"verdict":"throttled","reason":"power cap","factor":1.25,
       "clock_hz":1200000000}]}]})");
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::throttled));
  EXPECT_FALSE(record.voided);
  EXPECT_EQ(record.time->median, Nanoseconds(3750000));
  EXPECT_EQ(record.clock_hz, 1'200'000'000);
}

TEST_F(FakeGpuTest, WhereEverySampleIsVoidTheCaseFailsAndOthersGoOn) {
  const Report report = run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","samples":[
      {"from":0,"verdict":"void","reason":"another compute process: 4711"}]}]})",
                            3, {"--set", "measure.processes=1"});
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_THAT(record.reason.value_or(""), AllOf(HasSubstr("samples were discarded"),
                                                HasSubstr("another compute process: 4711")));
  const auto rows = processes(report, kSmall);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_THAT(rows[0].samples, IsEmpty());
  EXPECT_EQ(rows[0].stop, StopReason::voided);
  EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok);
}

TEST_F(FakeGpuTest, ALostDeviceFailsItsCaseAndOthersGoOnInAFreshWorker) {
  for (const char* kind : {"lost", "sticky"}) {
    for (const char* moment : {"sample", "create"}) {
      const Report report = run(two_gemms(),
                                std::string(R"({"faults":[{"at":")") + moment +
                                    R"(","match":"gemm/m4*","kind":")" + kind + R"("}]})",
                                3);
      const CaseRecord record = find(report, kSmall);
      EXPECT_EQ(record.outcome, Outcome::failed) << kind << " at " << moment;
      EXPECT_THAT(record.reason.value_or(""), HasSubstr("cudaError"));
      EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok) << kind << " at " << moment;
    }
  }
}

TEST_F(FakeGpuTest, ACrashOfThePluginFailsOnlyItsCase) {
  const Report report =
      run(two_gemms(), R"({"faults":[{"at":"sample","match":"gemm/m4*","kind":"abort"}]})", 3);
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::crashed);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("SIGABRT"));
  EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok);
}

TEST_F(FakeGpuTest, AWrongElementOnTheDeviceIsAWrongResultWithoutATime) {
  const Report report =
      run(two_gemms(), R"({"cases":[{"match":"gemm/m4*","wrong_element":3},{"match":"*"}]})", 3);
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::wrong_result);
  EXPECT_THAT(record.reason.value_or(""), AllOf(HasSubstr("destination[0,3]: got "),
                                                HasSubstr("1 of 16 compared elements are wrong")));
  EXPECT_FALSE(record.time);
  EXPECT_FALSE(record.flops_per_s);
  EXPECT_THAT(processes(report, kSmall), IsEmpty()) << "it was sampled all the same";
  EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok);
  EXPECT_THAT(last_.out, HasSubstr("wrong_result"));
}

TEST_F(FakeGpuTest, SampleMethodDecidesHowACaseIsLaunched) {
  const Report graph = run(two_gemms(), "{}", 0, {"--set", "sample_method=graph"});
  EXPECT_EQ(find(graph, kSmall).sample_method, "graph");
  const Report any = run(two_gemms(), "{}", 0);
  EXPECT_EQ(find(any, kSmall).sample_method, "stream");
  EXPECT_NE(find(graph, kSmall).case_hash, find(any, kSmall).case_hash);
}

// A kernel knows its sampling method only after it has samples; the method used to be lost.
TEST_F(FakeGpuTest, HowSamplesWereTakenIsADetailOfTheCase) {
  const Report report = run(two_gemms(), "{}");
  EXPECT_EQ(find(report, kSmall).details.at("sample_method"), "as the fake is asked to");
}

// The device's memory contains no result of an earlier execution that could hide it.
TEST_F(FakeGpuTest, AnElementThatTheDeviceLeavesUnwrittenIsFound) {
  const Report report = run(
      two_gemms(), R"({"cases":[{"match":"gemm/m4*","unwritten_element":15},{"match":"*"}]})", 3);
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::wrong_result);
  EXPECT_THAT(record.reason.value_or(""),
              HasSubstr("destination[3,3]: got NaN, want a number: never written"));
  EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok);
}

// Like configs/resnet.yaml, but small.
TEST_F(FakeGpuTest, WithoutAGpuItsHalfOfASuiteIsSkippedAndTheCpusIsMeasured) {
  folder_.write("networks/pair.yaml",
                "version: 1\nnetwork: pair\ninput: { c: 4, h: 8 }\nlayers:\n"
                "  - { name: first, op: conv, k: 4, r: 3, pad: 1 }\n"
                "  - { name: second, op: pool, function: max, window: 2 }\n");
  const std::string config =
      std::string(kStart) + "  - { op: gemm, m: 4, n: 4, k: 4, device: [cpu, cuda] }\n" +
      "  - { network: pair, device: [cpu, cuda], measure: [layers, network] }\n";
  const std::string script = R"({"device":null,"verdict":{"availability":"no_driver",
      "reason":"libcuda.so.1 was not found","remedy":"install a driver"}})";
  for (const bool required : {false, true}) {
    const Report report =
        required ? run(config, script, 3, {"--require", "gpu"}) : run(config, script, 0);
    std::map<std::string, std::multiset<std::string>> operators;  // key: device
    for (const CaseRecord& record : report.cases) {
      operators[record.device].insert(record.op);
      const bool cpu = record.device == "cpu";
      EXPECT_EQ(record.outcome, cpu ? Outcome::ok : Outcome::skipped) << record.id;
      EXPECT_EQ(record.time.has_value(), cpu) << record.id;
      EXPECT_EQ(record.reason.value_or(""), cpu ? "" : "no CUDA device: libcuda.so.1 was not found")
          << record.id;
    }
    const std::multiset<std::string> all = {"conv", "gemm", "network", "pool"};
    EXPECT_THAT(operators, ElementsAre(testing::Pair("cpu", all), testing::Pair("cuda", all)));
  }
}

TEST_F(FakeGpuTest, WhatTheDeviceCannotHoldIsSkipped) {
  const Report report = run(std::string(kStart) +
                                "  - { op: gemm, m: 256, n: 256, k: 256, device: cuda }\n"
                                "  - { op: gemm, m: 8, n: 8, k: 8, device: cuda }\n",
                            R"({"device":{"memory_bytes":500000}})");
  const CaseRecord record = find(report, "gemm/forward/m256n256k256/f32/cublaslt/cuda/hot");
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("on the device"));
  EXPECT_EQ(find(report, kLarge).outcome, Outcome::ok);
}

TEST_F(FakeGpuTest, ALibraryThatIsAbsentSkipsItsCasesAlone) {
  const Report report =
      run(std::string(kStart) +
              "  - { op: gemm, m: 4, n: 4, k: 4, device: cuda, backend: [cublaslt, cublas] }\n",
          R"({"absent":{"cuBLASLt":"libcublasLt.so.13 was not found"}})");
  const CaseRecord record = find(report, kSmall);
  EXPECT_EQ(record.outcome, Outcome::skipped);
  EXPECT_THAT(record.reason.value_or(""), HasSubstr("libcublasLt.so.13 was not found"));
  EXPECT_EQ(find(report, "gemm/forward/m4n4k4/f32/cublas/cuda/hot").outcome, Outcome::ok);
}

TEST_F(FakeGpuTest, ColdCachesRotateOverMemoryOfTheDevice) {
  const Report report =
      run(std::string(kStart) +
              "  - { op: gemm, m: 64, n: 64, k: 64, device: cuda, cache: [hot, cold] }\n",
          R"({"device":{"cache_bytes":262144}})");
  const CaseRecord cold = find(report, "gemm/forward/m64n64k64/f32/cublaslt/cuda/cold");
  EXPECT_EQ(cold.outcome, Outcome::ok) << cold.reason.value_or("");
  EXPECT_EQ(cold.details.at("arena.bytes"), "524288");
  EXPECT_EQ(cold.details.at("arena.memory"), "of the device");
  EXPECT_GE(std::stoll(cold.details.at("cold.sets")), 2);
  const CaseRecord hot = find(report, "gemm/forward/m64n64k64/f32/cublaslt/cuda/hot");
  EXPECT_FALSE(hot.details.contains("cold.sets"));
}

TEST_F(FakeGpuTest, BelowFiveTimesTheLaunchFloorACaseIsLaunchBound) {
  const Report report = run(two_gemms(), R"({"cases":[
      {"match":"gemm/m4*","ns":9000,"details":{"launch_floor_ns":"2000"}},
      {"match":"*","ns":11000,"details":{"launch_floor_ns":"2000"}}]})");
  EXPECT_THAT(find(report, kSmall).flags, ElementsAre(Flag::launch_bound));
  EXPECT_THAT(find(report, kLarge).flags, IsEmpty());
}

TEST_F(FakeGpuTest, AnInjectedSlowdownLengthensDeviceTimes) {
  folder_.write("a.yaml", two_gemms());
  const ProgramResult result = run_program({{BENCH_BINARY, "run", "a.yaml", "--out", "s.jsonl"},
                                            folder_.path(),
                                            {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU},
                                             {"FAKE_GPU_SCRIPT", folder_.write("s.json", "{}")},
                                             {"BENCH_SLOWDOWN", "10%"}}});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = parse_report(read_text(folder_.file("s.jsonl")), "s.jsonl");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(find(*report, kSmall).time->median, Nanoseconds(11000));
}

TEST_F(FakeGpuTest, RunsAtAnotherClockAreIncomparable) {
  run(two_gemms(), "{}");
  const std::string first = read_text(folder_.file("r.jsonl"));
  folder_.write("first.jsonl", first);
  run(two_gemms(), R"({"device":{"clock_hz":1400000000}})");
  const ProgramResult compared =
      run_program({{BENCH_BINARY, "compare", "first.jsonl", "r.jsonl"}, folder_.path(), {}});
  EXPECT_THAT(compared.out, HasSubstr("clock_hz differs: 1.50 GHz in the base, 1.40 GHz in the"));
}

// The sides of a gate stated only oneDNN, so two versions of cuDNN looked equal.
TEST_F(FakeGpuTest, ADuetStatesTheLibrariesOfTheGpu) {
  const ProgramResult duet =
      run_program({{BENCH_BINARY, "duet", kSmall, "--duets", "1", "--base-env", "BENCH_NOTHING=1",
                    "--set", "measure.max_time=1ms", "--out", "d.jsonl"},
                   folder_.path(),
                   {{"BENCH_CUDA_PLUGIN", BENCH_FAKE_GPU},
                    {"FAKE_GPU_SCRIPT", folder_.write("script.json", "{}")}}});
  EXPECT_THAT(duet.out, HasSubstr(", cublaslt 13.0.1 from /opt/fake/libcublasLt.so.13, cudnn "
                                  "13.0.1 from /opt/fake/libcudnn.so.9, onednn "))
      << duet.err;
}

}  // namespace
}  // namespace bench::test::fake_gpu_test
