// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stage_one.hpp"

#include "harness/store/from_report.hpp"
#include "tests/fakes/reports.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Builds a run of the cases with five processes each; every sample takes `nanoseconds`.
Report report_of(const std::string& run_id, const std::vector<std::string>& ids,
                 std::int64_t nanoseconds) {
  Report report;
  RunRecord run = test::sample_run(run_id);
  run.started = "2026-11-21T08:00:0" + run_id.substr(run_id.size() - 1) + "Z";
  run.config_name = "suite";
  run.tool_commit = "abc";
  report.runs.push_back(run);
  for (const std::string& id : ids) {
    for (int i = 0; i < 5; ++i) {
      const std::vector<Nanoseconds> samples(4, Nanoseconds(2 * nanoseconds));
      report.processes.push_back(test::sample_process(run_id, id, i, samples));
      report.processes.back().iterations_per_sample = 2;
    }
    CaseRecord record = test::sample_case(run_id, id);
    record.source = "suite.yaml:7";
    record.case_hash = "hash of " + id;
    record.implementation = "jit";
    record.time = TimeSummary{Nanoseconds(nanoseconds), {}, {}, {}, {}, {}, {}, {}};
    report.cases.push_back(record);
  }
  return report;
}

class StageOneTest : public testing::Test {
 protected:
  void save(const Report& report, EpochPolicy policy = EpochPolicy::current) {
    for (const BaselineRecord& record :
         make_baselines(report, {"test", {}, "r.jsonl"}, {}).records) {
      const auto appended = store_.append(record, policy);
      ASSERT_TRUE(appended.ok()) << appended.error().message();
    }
  }

  test::TemporaryFolder folder_;
  BaselineStore store_{folder_.path()};
};

TEST_F(StageOneTest, TakesMediansOfOneIteration) {
  const auto cases = collect_stage_one(report_of("r1", {"a"}, 500));
  ASSERT_THAT(cases, SizeIs(1));
  const MeasuredCase& candidate = cases[0].candidate;
  EXPECT_EQ(iteration_times(candidate.processes, &ProcessSummary::median),
            std::vector<double>(5, 500));
  EXPECT_EQ(candidate.median, Nanoseconds(500));
  EXPECT_EQ(candidate.exact.implementation, "jit");
  EXPECT_EQ(candidate.source, "suite.yaml:7");
}

TEST_F(StageOneTest, RunsOfAnotherMachineAreNamedAndNeverANumber) {
  Report other = report_of("r1", {"a"}, 1000);
  other.runs[0].environment.machine_class = "other-4c-11111111";
  other.runs[0].environment.details["cpu.cores"] = "4";
  save(other);
  Report report = report_of("r9", {"a", "b"}, 1000);
  report.runs[0].environment.details["cpu.cores"] = "2";
  auto cases = collect_stage_one(report);
  const auto suite = add_stored(report, store_, cases);
  ASSERT_TRUE(suite.ok());
  ASSERT_TRUE(cases[0].stored);
  EXPECT_EQ(cases[0].stored->incomparable,
            "machine_class differs: other-4c-11111111 in the store, test-2c-00000000 here "
            "(cpu.cores 4 -> 2)");
  EXPECT_EQ(cases[0].stored->runs, 0);
  EXPECT_FALSE(cases[1].stored);
}

TEST_F(StageOneTest, AStoreThatIsNotThereIsAnError) {
  const Report report = report_of("r9", {"a"}, 500);
  auto cases = collect_stage_one(report);
  EXPECT_FALSE(add_stored(report, BaselineStore(folder_.file("none")), cases).ok());
}

TEST_F(StageOneTest, AFileOfAnotherSchemaIsNamedAndNeverANumber) {
  const Report run = report_of("run1", {"a/b"}, 1000);
  const std::string path =
      store_.file_path(BaselineStore::case_file(run.runs.at(0).environment.machine_class, "a/b"));
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << "{\"schema\":\"bench.baseline/2\"}\n";
  auto cases = collect_stage_one(run);
  ASSERT_TRUE(add_stored(run, store_, cases).ok());
  ASSERT_TRUE(cases.at(0).stored && cases.at(0).stored->incomparable);
  EXPECT_THAT(*cases.at(0).stored->incomparable, HasSubstr(path + ":1: "));
  EXPECT_THAT(*cases.at(0).stored->incomparable, HasSubstr("bench.baseline/2"));
}

TEST_F(StageOneTest, TheStoresLevelAndSpreadAreThoseOfItsRuns) {
  for (int i = 1; i <= 6; ++i) save(report_of("r" + std::to_string(i), {"a"}, 1000 + 10 * (i % 2)));
  const Report report = report_of("r9", {"a"}, 1100);
  auto cases = collect_stage_one(report);
  const auto suite = add_stored(report, store_, cases);
  ASSERT_TRUE(suite.ok()) << suite.error().message();
  ASSERT_TRUE(cases[0].stored);
  const StoredEvidence& stored = *cases[0].stored;
  EXPECT_FALSE(stored.incomparable);
  EXPECT_EQ(stored.runs, 6);
  EXPECT_EQ(stored.commit, "abc");
  // The last five: 1000, 1010, 1000, 1010, 1000.
  EXPECT_NEAR(stored.log_level, (3 * std::log(1000) + 2 * std::log(1010)) / 5, 1e-12);
  EXPECT_NEAR(*stored.q95, std::log(1.01), 1e-12);
  EXPECT_EQ(median_iteration(stored.measured), 1000);
  EXPECT_EQ(stored.measured.exact.implementation, "jit");
  EXPECT_THAT(suite->changes, IsEmpty());
}

TEST_F(StageOneTest, TheSpreadIsOfRunsOfThePresentConfigurationOnly) {
  for (int i = 1; i <= 6; ++i) {
    Report former = report_of("r" + std::to_string(i), {"a"}, 1000 + 500 * (i % 2));
    former.cases[0].case_hash = "of the former configuration";
    save(former);
  }
  for (int i = 1; i <= 6; ++i) {
    Report present = report_of("s" + std::to_string(i), {"a"}, 1000 + 10 * (i % 2));
    present.runs[0].started = "2026-11-21T09:00:0" + std::to_string(i) + "Z";
    save(present, i == 1 ? EpochPolicy::new_epoch : EpochPolicy::current);
  }
  const Report report = report_of("r9", {"a"}, 1000);
  auto cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  ASSERT_TRUE(cases[0].stored);
  EXPECT_EQ(cases[0].stored->runs, 6);
  // Five differences of -/+ log 1.01, three of them down: their median is one of these.
  EXPECT_NEAR(cases[0].stored->sigma, 0, 1e-12);
  EXPECT_NEAR(*cases[0].stored->q99, std::log(1.01), 1e-12);
}

TEST_F(StageOneTest, AnotherConfigurationOfTheCaseIsNamed) {
  save(report_of("r1", {"a"}, 1000));
  Report report = report_of("r9", {"a"}, 1000);
  report.cases[0].case_hash = "another";
  auto cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  ASSERT_TRUE(cases[0].stored && cases[0].stored->incomparable);
  EXPECT_THAT(*cases[0].stored->incomparable, HasSubstr("case_hash differs: hash of a"));
}

TEST_F(StageOneTest, WhatVanishedAndWhatChangedIsSaid) {
  save(report_of("r1", {"a", "gone"}, 1000));
  Report report = report_of("r9", {"a"}, 1000);
  report.runs[0].environment.libraries["onednn"] = "3.3.0";
  auto cases = collect_stage_one(report);
  const auto suite = add_stored(report, store_, cases);
  ASSERT_TRUE(suite.ok());
  EXPECT_THAT(suite->removed, ElementsAre("gone"));
  ASSERT_THAT(suite->changes, SizeIs(1));
  EXPECT_EQ(suite->changes[0].to, "3.3.0");
}

TEST_F(StageOneTest, WhatDiffersBetweenAnyTwoRunsIsNoChange) {
  Report before = report_of("r1", {"a"}, 1000);
  before.runs[0].environment.details = {{"load_1min", "0.05"}, {"governor", "powersave"}};
  save(before);
  Report report = report_of("r9", {"a"}, 1000);
  report.runs[0].environment.details = {{"load_1min", "1.50"}, {"governor", "performance"}};
  auto cases = collect_stage_one(report);
  const auto suite = add_stored(report, store_, cases);
  ASSERT_TRUE(suite.ok());
  EXPECT_THAT(suite->changes, ElementsAre(Change{"governor", "powersave", "performance"}));
}

TEST_F(StageOneTest, TheDigestOfOtherDataIsNotCompared) {
  Report before = report_of("r1", {"a"}, 1000);
  before.runs[0].seed = 7;
  before.cases[0].details = {{"output.digest", "aa"}, {"primitives", "2"}};
  save(before);
  const auto stored_facts = [&](std::uint64_t seed) {
    Report report = report_of("r9", {"a"}, 1000);
    report.runs[0].seed = seed;
    auto cases = collect_stage_one(report);
    EXPECT_TRUE(add_stored(report, store_, cases).ok());
    return cases.at(0).stored.value_or(StoredEvidence{}).measured.exact.facts;
  };
  using Facts = std::map<std::string, std::string>;
  EXPECT_EQ(stored_facts(7), (Facts{{"output.digest", "aa"}, {"primitives", "2"}}));
  EXPECT_EQ(stored_facts(8), (Facts{{"primitives", "2"}}));
}

constexpr const char* kOnDevice = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";

Report device_report(const std::string& run_id, const std::string& driver, std::int64_t clock_hz,
                     std::int64_t nanoseconds = 1000) {
  Report report = report_of(run_id, {kOnDevice}, nanoseconds);
  report.runs[0].environment.details["gpu.name"] = "NVIDIA H200";
  report.runs[0].environment.details["gpu.driver"] = driver;
  report.cases[0].clock_hz = clock_hz;
  report.cases[0].sample_method = "stream";
  return report;
}

TEST_F(StageOneTest, RunsOfADeviceCompareUnderEqualConditionsAlone) {
  save(device_report("r1", "580.1", 1'700'000'000));
  save(device_report("r2", "580.2", 1'710'000'000));
  Report report = device_report("r9", "580.3", 1'720'000'000);
  auto cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  ASSERT_TRUE(cases.at(0).stored);
  EXPECT_FALSE(cases[0].stored->incomparable) << *cases[0].stored->incomparable;
  EXPECT_NEAR(cases[0].stored->log_level, std::log(1000), 1e-9);
  EXPECT_EQ(cases[0].stored->measured.clock_hz, 1'710'000'000);
  EXPECT_EQ(cases[0].candidate.clock_hz, 1'720'000'000);

  report = device_report("r9", "590.1", 1'720'000'000);
  cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  EXPECT_EQ(cases.at(0).stored->incomparable, "gpu.driver differs: 580.2 in the store, 590.1 here");
  report = device_report("r9", "580.1", 1'500'000'000);
  cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  EXPECT_THAT(cases.at(0).stored->incomparable.value_or(""), HasSubstr("clock_hz differs"));
}

TEST_F(StageOneTest, RunsUnderOtherConditionsAreNotOfTheStoredLevel) {
  save(device_report("r1", "580.1", 1'400'000'000, 2000));
  save(device_report("r2", "580.1", 1'700'000'000));
  const Report report = device_report("r9", "580.1", 1'700'000'000);
  auto cases = collect_stage_one(report);
  ASSERT_TRUE(add_stored(report, store_, cases).ok());
  EXPECT_FALSE(cases.at(0).stored->incomparable);
  EXPECT_NEAR(cases[0].stored->log_level, std::log(1000), 1e-9);
}

}  // namespace
}  // namespace bench
