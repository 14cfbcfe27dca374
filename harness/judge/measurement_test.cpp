// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/measurement.hpp"

#include "harness/store/from_report.hpp"
#include "profiler/text_source.hpp"
#include "tests/fakes/baseline_records.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::vector<double> medians(const MeasuredCase& measured) {
  return iteration_times(measured.processes, &ProcessSummary::median);
}

constexpr const char* kId = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";

ProcessRecord process(const std::string& run, int number, std::vector<Nanoseconds> samples) {
  ProcessRecord record = test::sample_process(run, kId, number, std::move(samples));
  record.iterations_per_sample = 10;
  return record;
}

Report report() {
  RunRecord first;
  first.run_id = "r1";
  first.started = "2026-11-21T08:00:00Z";
  first.environment.machine_class = "m-2c";
  first.environment.libraries = {{"onednn", "3.2.0"}};
  first.seed = 7;
  RunRecord second = first;
  second.run_id = "r2";
  second.resumes = "r1";
  CaseRecord record;
  record.run_id = "r2";
  record.id = kId;
  record.op = "gemm";
  record.direction = "forward";
  record.case_hash = "abcd";
  record.implementation = "brg:avx2";
  record.details = {
      {"layout.a", "ab"}, {"check", "x"}, {"primitives", "2"}, {"output.digest", "00ff"}};
  record.memory = MemoryUse{Bytes{100}, Bytes{10}, Bytes{5}};
  using namespace std::chrono_literals;
  Report result;
  result.runs = {first, second};
  result.processes = {process("r0", 0, {9us}), process("r1", 0, {1us, 3us, 2us}),
                      process("r2", 1, {4us, 6us}), process("r2", 2, {})};
  result.cases = {record};
  return result;
}

TEST(Measurement, OfAResultIsAMedianAProcess) {
  const Measurement measurement = make_measurement(report(), "r.jsonl");
  ASSERT_EQ(measurement.cases.size(), 1u);
  const MeasuredCase& entry = measurement.cases[0];
  // Medians per iteration of the processes of run r2 and of r1, which r2 resumes.
  EXPECT_THAT(medians(entry), ElementsAre(200, 500));
  EXPECT_EQ(median_iteration(entry), 350);
  EXPECT_EQ(entry.group, "gemm/forward");
  EXPECT_EQ(entry.case_hash, "abcd");
  EXPECT_EQ(entry.exact.implementation, "brg:avx2");
  EXPECT_THAT(facts_as_texts(entry.exact),
              ElementsAre(Pair("layout.a", "ab"), Pair("memory.peak_bytes", "100"),
                          Pair("memory.weights_bytes", "10"), Pair("memory.workspace_bytes", "5"),
                          Pair("output.digest", "00ff"), Pair("primitives", "2")));
  EXPECT_EQ(measurement.facts.at("library.onednn"), "3.2.0");
  EXPECT_EQ(measurement.facts.at("machine_class"), "m-2c");
  EXPECT_EQ(measurement.facts.at("config.seed"), "7");
  EXPECT_FALSE(measurement.facts.contains("tool.commit"));  // unknown
  EXPECT_FALSE(measurement.incomparable_reason.has_value());
}

TEST(Measurement, BelowAToolIsNotComparable) {
  Report below = report();
  below.runs.back().under = "perf record";
  EXPECT_THAT(*make_measurement(below, "r.jsonl").incomparable_reason, HasSubstr("perf record"));
}

// A result file and its baseline are summarised by the same rule. Regression test: a store used to
// round each median to a nanosecond, and a result file did not.
TEST(Measurement, ARunAndItsBaselineAreEqual) {
  using namespace std::chrono_literals;
  Report result = report();
  result.processes = {process("r1", 0, {1000ns, 1003ns}), process("r2", 1, {1001ns, 1008ns})};
  const ReportBaselines baselines = make_baselines(result, {"nightly", {}, "r.jsonl"}, {});
  ASSERT_EQ(baselines.records.size(), 1u);
  const MeasuredCase here = make_measurement(result, "r.jsonl").cases.at(0);
  const MeasuredCase stored =
      make_measurement({{"x.jsonl", baselines.records, {}}}, "baselines").cases.at(0);
  EXPECT_EQ(stored.processes, here.processes);
  EXPECT_EQ(stored.exact, here.exact);
  EXPECT_EQ(stored.machine, here.machine);
  EXPECT_EQ(stored.group, here.group);
}

// The latest run used seed 1, and the facts are those of that run.
TEST(Measurement, OfAStoreDropsDigestsOfOtherDataThanItsFactsName) {
  std::vector<BaselineHistory> histories;
  for (const std::uint64_t seed : {7, 1}) {
    BaselineRecord record = test::baseline(30 - static_cast<int>(seed), 0, Nanoseconds(5));
    record.seed = seed;
    record.measured.exact.facts = {{"output.digest", "aa"}, {"primitives", "2"}};
    histories.push_back({"x.jsonl", {record}, {}});
  }
  const Measurement measurement = make_measurement(histories, "baselines");
  EXPECT_EQ(measurement.facts.at("config.seed"), "1");
  ASSERT_EQ(measurement.cases.size(), 2u);
  EXPECT_THAT(measurement.cases[0].exact.facts, ElementsAre(Pair("primitives", "2")));
  EXPECT_THAT(measurement.cases[1].exact.facts,
              ElementsAre(Pair("output.digest", "aa"), Pair("primitives", "2")));
}

// The clock of one run was wrong.
TEST(Measurement, OfAStoreHasTheFactsOfTheRunOfMostCases) {
  std::vector<BaselineHistory> histories;
  for (const char* id : {"a/x", "b/x", "c/x"}) {
    BaselineRecord record = test::baseline(id[0] == 'a' ? 9 : 5, 0, Nanoseconds(5));
    record.measured.id = id;
    record.commit = id[0] == 'a' ? "old" : "new";
    histories.push_back({"x.jsonl", {record}, {}});
  }
  EXPECT_EQ(make_measurement(histories, "baselines").facts.at("tool.commit"), "new");
}

TEST(Measurement, RunsThatAreLeftOutAreNamed) {
  const auto history = [](std::vector<BaselineRecord> records) {
    return BaselineHistory{"x.jsonl", std::move(records), {}};
  };
  std::vector<BaselineHistory> histories = {
      history({test::baseline(1, 0, Nanoseconds(5)), test::baseline(2, 0, Nanoseconds(5))}),
      history({test::baseline(2, 0, Nanoseconds(5))})};
  EXPECT_EQ(leave_out_runs({"run-07"}, histories), std::nullopt);
  EXPECT_EQ(leave_out_runs({"run-02"}, histories),
            "run run-02 is in the store itself: 1 case has no other run");
  EXPECT_EQ(histories[0].last()->run_id, "run-01");
  EXPECT_EQ(histories[1].last(), nullptr);
}

TEST(Measurement, TheDifferenceOfTwoMachineClassesIsNamed) {
  EnvironmentRecord from;
  from.machine_class = "a";
  from.cpu = "a processor";
  EnvironmentRecord to = from;
  to.machine_class = "b";
  to.details = {{"build.flags", "-O3"}, {"governor", "performance"}};
  EXPECT_THAT(describe_class_changes(from, to), HasSubstr("an earlier version does not state"));
  from.details = {{"build.flags", "-O2"}, {"governor", "powersave"}};
  EXPECT_EQ(describe_class_changes(from, to),
            "build.flags -O2 -> -O3; `bench baseline adopt a` adopts its runs");
  to.cpu = "another one";  // its times are not comparable, whatever one judges
  EXPECT_EQ(describe_class_changes(from, to),
            "build.flags -O2 -> -O3; cpu a processor -> another one");
}

TEST(Measurement, OfAStoreKeepsWhyAFileCannotBeRead) {
  const Measurement measurement = make_measurement(
      {{"store/class/a__b.jsonl", {}, {"a__b.jsonl:1: other schema", "more"}}}, "x");
  EXPECT_TRUE(measurement.cases.empty());
  EXPECT_THAT(measurement.unreadable,
              ElementsAre(Pair("a__b.jsonl", "a__b.jsonl:1: other schema")));
}

constexpr const char* kGoogle = R"({
  "context": {"num_cpus": 2, "library_build_type": "release", "caches": []},
  "benchmarks": [
    {"name": "BM_gemm/64", "run_name": "BM_gemm/64", "run_type": "iteration",
     "repetition_index": 0, "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us"},
    {"name": "BM_gemm/64", "run_name": "BM_gemm/64", "run_type": "iteration",
     "repetition_index": 1, "real_time": 1700, "time_unit": "ns"},
    {"name": "BM_gemm/64_mean", "run_name": "BM_gemm/64", "run_type": "aggregate",
     "aggregate_name": "mean", "real_time": 1.6, "time_unit": "us"},
    {"name": "BM_fft_median", "run_name": "BM_fft", "run_type": "aggregate",
     "aggregate_name": "median", "real_time": 2, "time_unit": "ms"},
    {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "error_occurred": true,
     "error_message": "no device", "real_time": 0, "time_unit": "ns"},
    {"name": "BM_odd", "real_time": "fast"},
    7
  ]})";

TEST(Measurement, OfGoogleBenchmark) {
  const auto measurement = read_measurement(kGoogle, "g.json");
  ASSERT_TRUE(measurement.ok()) << measurement.error().message();
  ASSERT_EQ(measurement->cases.size(), 3u);
  const MeasuredCase& gemm = measurement->cases[0];
  EXPECT_EQ(gemm.id, "BM_gemm/64");
  EXPECT_EQ(gemm.group, "BM_gemm");
  EXPECT_THAT(medians(gemm), ElementsAre(1500, 1700));
  EXPECT_EQ(median_iteration(gemm), 1600);
  EXPECT_EQ(measurement->cases[1].median, FractionalNanoseconds(2e6));
  EXPECT_THAT(measurement->cases[1].processes, IsEmpty());
  EXPECT_EQ(measurement->cases[2].outcome, Outcome::failed);
  EXPECT_EQ(measurement->cases[2].reason, "no device");
  EXPECT_EQ(measurement->warnings.size(), 2u);
  EXPECT_EQ(measurement->facts.at("num_cpus"), "2");
}

// Earlier, each of these entries of Google Benchmark became a case. All but the three with a time
// are cases. The benchmark BM_low_median is one, since nothing shows that it is a statistic.
TEST(Measurement, OnlyTimesOfGoogleBenchmarkAreCases) {
  const auto measurement = read_measurement(R"({"benchmarks": [
    {"name": "BM_a", "real_time": 2, "time_unit": "us"},
    {"name": "BM_a_mean", "real_time": 2, "time_unit": "us"},
    {"name": "BM_a_median", "real_time": 2, "time_unit": "us"},
    {"name": "BM_a_stddev", "real_time": 0.1, "time_unit": "us"},
    {"name": "BM_a_cv", "real_time": 0.1, "time_unit": "us"},
    {"name": "BM_b_mean", "real_time": 4, "time_unit": "ns"},
    {"name": "BM_b_median", "real_time": 3, "time_unit": "ns"},
    {"name": "BM_b_stddev", "real_time": 0.2, "time_unit": "ns"},
    {"name": "BM_a_BigO", "cpu_coefficient": 3, "real_coefficient": 3, "big_o": "N"},
    {"name": "BM_a_RMS", "rms": 2},
    {"name": "BM_low_median", "real_time": 7.5, "time_unit": "ns"},
    {"name": "BM_s", "run_type": "iteration", "skipped": true, "skip_message": "no AMX"},
    {"name": "BM_z", "run_type": "iteration", "real_time": 0},
    {"name": "BM_n", "run_type": "iteration", "real_time": -nan, "rate": Infinity, "x": "nan \" inf"}
  ]})",
                                            "g.json");
  ASSERT_TRUE(measurement.ok()) << measurement.error().message();
  std::vector<std::string> ids;
  for (const MeasuredCase& entry : measurement->cases) ids.push_back(entry.id);
  EXPECT_THAT(ids, ElementsAre("BM_a", "BM_b", "BM_low_median", "BM_s"));
  EXPECT_EQ(measurement->cases[0].processes.size(), 1u);
  EXPECT_EQ(measurement->cases[0].median, FractionalNanoseconds(2e3));
  EXPECT_EQ(measurement->cases[1].median, FractionalNanoseconds(3));
  EXPECT_EQ(median_iteration(measurement->cases[2]), 7.5);
  EXPECT_EQ(measurement->cases[3].outcome, Outcome::skipped);
  EXPECT_EQ(measurement->cases[3].reason, "no AMX");
  EXPECT_THAT(measurement->warnings,
              ElementsAre("g.json: benchmarks[12]: `real_time` is 0, not a time above 0; ignored",
                          "g.json: benchmarks[13]: `real_time` is null, not a time above 0; "
                          "ignored"));
}

Result<Measurement> measure_log(const std::string& text) {
  const auto source = text_source_for_test("x.log", text);
  return measure_activities(*source);
}

std::string format_execution(std::string_view implementation, std::string_view time,
                             std::string_view shape = "8x4:4x2") {
  return fmt::format(
      "onednn_verbose,exec,cpu,matmul,{},undef,src_u8::blocked:ab:f0 "
      "wei_s8::blocked:ab:f0 dst_f32::blocked:ab:f0,attr-post-ops:eltwise_relu,,{},"
      "{}\n",
      implementation, shape, time);
}

TEST(Measurement, ALogHasACaseForEachPrimitiveAndShape) {
  std::string text = "onednn_verbose,info,oneDNN v3.2.0 (commit x)\n";
  for (int i = 1; i <= 30; ++i) text += format_execution("brg", std::to_string(i));
  text += format_execution("ref", "5", "16x4:4x2");
  text += "onednn_verbose,create,cpu,matmul,brg,undef,src_f32::blocked:ab:f0,,,8x4:4x2,9\n";
  const auto measurement = measure_log(text + "onednn_verbose,exec,cpu,matmul\n");
  ASSERT_TRUE(measurement.ok()) << measurement.error().message();
  EXPECT_EQ(measurement->facts.at("library.onednn.version"), "3.2.0");
  ASSERT_EQ(measurement->cases.size(), 2u);
  const MeasuredCase& first = measurement->cases[0];
  EXPECT_EQ(first.id, "matmul/8x4:4x2/u8:s8:f32/attr-post-ops:eltwise_relu");
  EXPECT_EQ(first.group, "matmul");
  EXPECT_EQ(first.exact.implementation, "brg");
  EXPECT_EQ(first.exact.facts.at("executions"), "30");
  ASSERT_EQ(first.processes.size(), 15u);  // 15 blocks of 2 executions
  EXPECT_EQ(per_iteration(first.processes[0].median, first.processes[0]), 1.5e6);
  EXPECT_EQ(per_iteration(first.processes[14].median, first.processes[14]), 29.5e6);
  EXPECT_EQ(measurement->cases[1].processes.size(), 1u);
  EXPECT_THAT(measurement->warnings,
              ElementsAre("x.log: 1 line could not be read; `bench analyze` names it"));
}

TEST(Measurement, TheRanksOfALogAreItsProcesses) {
  const auto measurement =
      measure_log("0: " + format_execution("a", "1") + "1: " + format_execution("a", "2") +
                  "1: " + format_execution("b", "4") + "2: " + format_execution("a", "3"));
  ASSERT_TRUE(measurement.ok());
  ASSERT_EQ(measurement->cases.size(), 1u);
  EXPECT_THAT(medians(measurement->cases[0]), ElementsAre(1e6, 3e6, 3e6));
  EXPECT_EQ(measurement->cases[0].exact.implementation, "a b");
  EXPECT_FALSE(measure_log("onednn_verbose,info,oneDNN v3.2.0 (commit x)\n").ok());
}

std::string kineto_event(const std::string& category, const std::string& name,
                         const std::string& args) {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": 7, "tid": 7, "ts": 1, "dur": 2, "args": {{{}}}}})",
      category, name, args);
}

TEST(Measurement, ATraceOfTorchProfilerHasItsKernelsOrElseItsOperatorsAsCases) {
  const std::string begin = "{\"schemaVersion\": 1, \"traceEvents\": [";
  const std::string operation = kineto_event(
      "cpu_op", "aten::addmm",
      R"("External id": 1, "Input Dims": [[4], [8, 16], [16, 4], [], []], "Input type": ["float", )"
      R"("float", "float", "Scalar", "Scalar"], "Concrete Inputs": ["", "", "", "1", "1"])");
  const auto on_cpu = measure_log(begin + operation + "]}");
  ASSERT_TRUE(on_cpu.ok()) << on_cpu.error().message();
  ASSERT_EQ(on_cpu->cases.size(), 1u);
  EXPECT_EQ(on_cpu->cases[0].id, "aten::addmm/4 8x16 16x4/f32/1 1");
  const auto on_gpu =
      measure_log(begin + operation + "," +
                  kineto_event("kernel", "sgemm", R"("External id": 1, "device": 0)") + "]}");
  ASSERT_TRUE(on_gpu.ok()) << on_gpu.error().message();
  ASSERT_EQ(on_gpu->cases.size(), 1u);
  EXPECT_EQ(on_gpu->cases[0].id, "sgemm/4 8x16 16x4/f32/1 1");
}

std::string read_report_of_benchmark(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Measurement, OfNvbenchHasTheMeanOfEachStateAndTheGpu) {
  const auto measurement = read_measurement(read_report_of_benchmark("nvbench.json"), "n.json");
  ASSERT_TRUE(measurement.ok()) << measurement.error().message();
  ASSERT_EQ(measurement->cases.size(), 3u);
  EXPECT_EQ(measurement->cases[0].id, "axpy/Elements=1048576");
  EXPECT_EQ(measurement->cases[0].group, "axpy");
  EXPECT_EQ(median_iteration(measurement->cases[0]), 8192);
  EXPECT_EQ(measurement->cases[0].machine.at("gpu.name"), "NVIDIA H100 PCIe");
  EXPECT_EQ(measurement->cases[1].outcome, Outcome::skipped);
  EXPECT_EQ(measurement->cases[1].reason, "out of memory");
}

TEST(Measurement, OfHyperfineHasARunAsAProcess) {
  const auto measurement = read_measurement(read_report_of_benchmark("hyperfine.json"), "h.json");
  ASSERT_TRUE(measurement.ok()) << measurement.error().message();
  ASSERT_EQ(measurement->cases.size(), 2u);
  EXPECT_EQ(measurement->cases[0].id, "./solve --threads 1");
  EXPECT_EQ(measurement->cases[0].processes.size(), 3u);
  EXPECT_EQ(median_iteration(measurement->cases[0]), 2e9);
  EXPECT_EQ(measurement->cases[1].processes.size(), 1u);
  EXPECT_THAT(measurement->warnings, IsEmpty());
}

// Earlier, the message blamed the options with which the file had been made.
TEST(Measurement, AFileOfGoogleBenchmarkThatIsCutNamesThePlace) {
  const auto cut = read_measurement("{\"benchmarks\": [\n  {\"name\": \"BM_a\", \"real", "g.json");
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message(), HasSubstr("g.json: line 2, column 25: it is not valid JSON"));
}

TEST(Measurement, WhatIsNeitherIsAnError) {
  for (const char* text : {"", "hello", "{}", "{\"benchmarks\": 3}", "{\"benchmarks\": [",
                           "{\"record\":\"run\",\"schema\":\"bench.result/9\"}\n"}) {
    EXPECT_FALSE(read_measurement(text, "x").ok()) << text;
  }
}

}  // namespace
}  // namespace bench
