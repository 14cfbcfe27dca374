// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/benchmark_report.hpp"
#include "profiler/readers/readers.hpp"

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

struct BenchmarkProfile final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Activity& activity : activities) result.push_back(activity.name);
    return result;
  }
  ReadReport report;
  std::vector<Activity> activities;
};

BenchmarkProfile read_benchmarks(std::string text) {
  BenchmarkProfile profile;
  const auto source = text_source_for_test("b.json", std::move(text));
  const auto reader = find_reader(*source);
  EXPECT_TRUE(reader.ok());
  if (!reader.ok()) return profile;
  EXPECT_EQ((*reader)->name, "benchmark");
  auto report = (*reader)->read(*source, profile);
  EXPECT_TRUE(report.ok()) << report.error().message();
  if (report.ok()) profile.report = *std::move(report);
  return profile;
}

std::string read_benchmark_testdata(const std::string& name) {
  std::ifstream file(std::string(BENCH_SOURCE_DIR) + "/profiler/readers/testdata/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BenchmarkProfile, ARepetitionOfGoogleBenchmarkIsAnOperator) {
  const BenchmarkProfile profile =
      read_benchmarks(read_benchmark_testdata("google_benchmark.json"));
  EXPECT_EQ(profile.report.format, "google_benchmark");
  EXPECT_EQ(profile.report.starts, StartTimes::computed);
  // Neither means, deviations and fits nor what was not measured.
  EXPECT_THAT(profile.names(),
              ElementsAre("BM_copy/65536", "BM_copy/65536", "BM_sort/1024/real_time", "BM_tiny"));
  const Activity& copy = profile.activities[1];
  EXPECT_EQ(copy.kind, ActivityKind::operation);
  EXPECT_EQ(copy.start, Nanoseconds(3277));
  EXPECT_EQ(copy.duration, Nanoseconds(3310));
  EXPECT_EQ(copy.attributes.text(Attribute::op), "BM_copy");
  EXPECT_EQ(copy.attributes.text(Attribute::parameters), "65536");
  EXPECT_EQ(copy.attributes.text(Attribute::problem), "memcpy");
  EXPECT_EQ(copy.attributes.integer(Attribute::iteration), 1);
  EXPECT_EQ(copy.attributes.integer(Attribute::iterations), 204'800);
  EXPECT_EQ(copy.attributes.integer(Attribute::cpu_ns), 3250);
  EXPECT_EQ(copy.attributes.integer(Attribute::given_bytes), 131'072);  // per CPU time
  const Activity& sort = profile.activities[2];
  EXPECT_EQ(sort.duration, Nanoseconds(1'250'000));
  EXPECT_EQ(sort.attributes.real(Attribute::value), 819'200);
  EXPECT_EQ(sort.attributes.text(Attribute::value_unit), "items/s");
  EXPECT_EQ(profile.activities[3].duration, Nanoseconds(0));
  EXPECT_EQ(profile.report.malformed, 0);
  EXPECT_THAT(profile.report.notes,
              ElementsAre(HasSubstr("benchmarks[10]: `real_time` is null, not a time above 0"),
                          "b.json: BM_amx was not measured: no AMX",
                          HasSubstr("1 time changed by more than 1 % when rounded")));
  EXPECT_EQ(profile.report.facts.at("num_cpus"), "8");
}

TEST(BenchmarkProfile, AnEntryOfGoogleBenchmarkWithoutATimeIsNotedAndNotMalformed) {
  const auto malformed = [](const std::string& time) {
    const BenchmarkProfile profile = read_benchmarks(
        R"({"benchmarks": [{"name": "BM_a", "real_time": 2}, {"name": "BM_b", "real_time": )" +
        time + "}]}");
    EXPECT_EQ(profile.activities.size(), 1U) << time;
    EXPECT_EQ(profile.report.notes.size(), 1U) << time;
    return profile.report.malformed;
  };
  EXPECT_EQ(malformed("null"), 0);
  EXPECT_EQ(malformed("NaN"), 0);
  EXPECT_EQ(malformed("-1"), 1);
}

TEST(BenchmarkProfile, StatisticsAloneAreNoActivities) {
  const BenchmarkProfile profile = read_benchmarks(
      R"({"benchmarks": [{"name": "BM_a_median", "run_name": "BM_a", "run_type": "aggregate",)"
      R"( "aggregate_name": "median", "real_time": 2}]})");
  EXPECT_THAT(profile.activities, IsEmpty());
  EXPECT_THAT(profile.report.notes, ElementsAre(HasSubstr("has only statistics over repetitions")));
}

// Each of these occurs in reports that were published.
TEST(BenchmarkProfile, NumbersThatJsonDoesNotHaveAreAccepted) {
  for (const char* number : {"NaN", "nan", "-nan", "inf", "-inf", "Infinity", "1.#INF", "null"}) {
    const BenchmarkProfile profile =
        read_benchmarks(std::string(R"({"benchmarks": [{"name": "BM_a", "real_time": 2,)") +
                        R"( "bytes_per_second": )" + number + "}]}");
    ASSERT_EQ(profile.activities.size(), 1u) << number;
    EXPECT_EQ(profile.activities[0].attributes.find(Attribute::given_bytes), nullptr) << number;
    EXPECT_THAT(profile.report.notes, IsEmpty()) << number;
  }
}

TEST(BenchmarkProfile, AStateOfNvbenchIsTheMeanOfItsSamples) {
  const BenchmarkProfile profile = read_benchmarks(read_benchmark_testdata("nvbench.json"));
  EXPECT_EQ(profile.report.format, "nvbench");
  EXPECT_THAT(profile.report.facts,
              ElementsAre(Pair("gpu.name", "NVIDIA H100 PCIe"), Pair("library_version", "0.1.0")));
  EXPECT_THAT(profile.names(), ElementsAre("axpy/Elements=1048576", "parse/Mode=fast"));
  const Activity& axpy = profile.activities[0];
  EXPECT_EQ(axpy.duration, Nanoseconds(8192));  // with a cold cache, not in a batch
  EXPECT_EQ(axpy.track.device, 0);
  EXPECT_EQ(axpy.attributes.text(Attribute::op), "axpy");
  EXPECT_EQ(axpy.attributes.text(Attribute::parameters), "Elements=1048576");
  EXPECT_EQ(axpy.attributes.integer(Attribute::iterations), 4096);
  EXPECT_EQ(axpy.attributes.integer(Attribute::given_bytes), 12'582'912);
  EXPECT_EQ(axpy.attributes.real(Attribute::value), 1.28e11);
  const Activity& parse = profile.activities[1];
  EXPECT_EQ(parse.duration, Nanoseconds(2'500'000));
  EXPECT_EQ(parse.track.device, std::nullopt);
  EXPECT_THAT(profile.report.notes, ElementsAre(HasSubstr("was not measured: out of memory")));
}

TEST(BenchmarkProfile, ARunOfHyperfineIsAnOperator) {
  const BenchmarkProfile profile = read_benchmarks(read_benchmark_testdata("hyperfine.json"));
  EXPECT_EQ(profile.report.format, "hyperfine");
  ASSERT_EQ(profile.activities.size(), 4u);
  const Activity& third = profile.activities[2];
  EXPECT_EQ(third.name, "./solve --threads 1");
  EXPECT_EQ(third.duration, Nanoseconds(2'100'000'000));
  EXPECT_EQ(third.attributes.text(Attribute::op), "./solve");
  EXPECT_EQ(third.attributes.text(Attribute::parameters), "threads=1");
  EXPECT_EQ(third.attributes.integer(Attribute::iteration), 2);
  EXPECT_EQ(profile.activities[3].attributes.text(Attribute::reason), "exit status 1");
  EXPECT_THAT(profile.report.notes, IsEmpty());
}

TEST(BenchmarkProfile, TheSecondSchemaOfHyperfineHasMeasurements) {
  const BenchmarkProfile profile = read_benchmarks(
      R"({"schema_version": 2, "metadata": {"hyperfine_version": "2.0.0"}, "results": [{)"
      R"("command": "sleep 1", "name": "one second", "measurements": [{"time_wall_clock": {)"
      R"("value": 1.0, "unit": "second"}, "time_cpu": {"value": 0.25, "unit": "second"},)"
      R"( "exit_code": 0}]}]})");
  ASSERT_EQ(profile.activities.size(), 1u);
  EXPECT_EQ(profile.activities[0].name, "one second");
  EXPECT_EQ(profile.activities[0].attributes.text(Attribute::problem), "sleep 1");
  EXPECT_EQ(profile.activities[0].duration, Nanoseconds(1'000'000'000));
  EXPECT_EQ(profile.activities[0].attributes.integer(Attribute::cpu_ns), 250'000'000);
}

// A program may have a counter with the name of a member of nvbench.
TEST(BenchmarkReport, ACounterDoesNotMakeItThatOfNvbench) {
  const BenchmarkProfile profile =
      read_benchmarks(R"({"benchmarks": [{"name": "BM_parse", "real_time": 2, "states": 5}]})");
  EXPECT_EQ(profile.report.format, "google_benchmark");
  EXPECT_THAT(profile.names(), ElementsAre("BM_parse"));
}

TEST(BenchmarkReport, OtherTextsAreNone) {
  for (const char* text : {"", "{}", "{\"results\": []}", "\"benchmarks\": [", "{\"benchmarks\"}"})
    EXPECT_EQ(find_benchmark_format(text), nullptr) << text;
}

TEST(BenchmarkProfile, AStateOfNvbenchWithANumberThatNoDeviceHasIsNoted) {
  const auto state = [](const std::string& device) {
    return R"({"device": )" + device +
           R"(, "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": )"
           R"([{"name": "value", "value": "0.001"}]}]})";
  };
  const BenchmarkProfile profile =
      read_benchmarks(R"({"benchmarks": [{"name": "copy", "states": [)" + state("1") + ", " +
                      state("123456789") + "]}]}");
  EXPECT_THAT(profile.names(), ElementsAre("copy/device=1"));
  EXPECT_THAT(profile.report.notes,
              ElementsAre(HasSubstr("states[1]: `device` is not the number of a device")));
}

// All runs of a report of 55 MB took 4 GB.
TEST(BenchmarkProfile, RunsAreForwardedOneByOne) {
  const std::string text = R"({"results": [{"command": "sleep 1", "times": [1, 2, 3]}]})";
  const BenchmarkFormat* const format = find_benchmark_format(text);
  ASSERT_NE(format, nullptr);
  int taken = 0;
  const auto report =
      parse_benchmark_report(*format, text, "b.json", [&](const BenchmarkEntry&) -> Status {
        if (++taken == 2) return Error{"enough", "", ""};
        return Done{};
      });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().what, "enough");
  EXPECT_EQ(taken, 2);
}

}  // namespace
}  // namespace bench
