// SPDX-License-Identifier: Apache-2.0
#include "harness/store/from_report.hpp"

#include "tests/fakes/reports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// A run that a second one resumed.
Report report() {
  RunRecord first;
  first.run_id = "r1";
  first.started = "2026-11-21T08:00:00Z";
  first.tool_version = "0.1.0";
  first.tool_commit = "abc";
  first.seed = 3;
  first.environment.machine_class = "test-2c";
  RunRecord second = first;
  second.run_id = "r2";
  second.resumes = "r1";
  second.started = "2026-11-21T09:00:00Z";
  CaseRecord record;
  record.run_id = "r2";
  record.id = "a/b";
  record.case_hash = "77";
  record.implementation = "brg:avx2";
  record.flags = {Flag::noisy};
  record.memory = MemoryUse{Bytes{1}, Bytes{2}, Bytes{3}};
  record.details = {{"layout.source", "ab"}, {"cold.sets", "12"}, {"primitives", "1"}};
  Report report;
  report.runs = {first, second};
  report.cases = {record};
  report.processes = {test::sample_process("r1", "a/b", 0, {Nanoseconds(100), Nanoseconds(100)}),
                      test::sample_process("r2", "a/b", 1, {Nanoseconds(200), Nanoseconds(200)})};
  return report;
}

ReportBaselines baselines(const Report& report,
                          const std::map<std::string, StoredProfile>& profiles = {}) {
  return make_baselines(report, {"nightly", "release-1.4", "r.jsonl"}, profiles);
}

std::string error(const Report& report) {
  const ReportBaselines result = baselines(report);
  EXPECT_THAT(result.records, IsEmpty());
  return result.refused.size() == 1 ? result.refused[0].reason : "";
}

TEST(FromReportTest, ACaseBecomesARecord) {
  const StoredProfile profile{Nanoseconds(5), {}, 1};
  const ReportBaselines result = baselines(report(), {{"a/b", profile}, {"c", {}}});
  EXPECT_THAT(result.refused, IsEmpty());
  ASSERT_EQ(result.records.size(), 1u);
  const BaselineRecord& record = result.records[0];
  EXPECT_EQ(record.measured.id, "a/b");
  EXPECT_EQ(record.measured.case_hash, "77");
  EXPECT_EQ(record.run_id, "r1");
  EXPECT_EQ(record.time, "2026-11-21T08:00:00Z");
  EXPECT_EQ(record.commit, "abc");
  EXPECT_EQ(record.seed, 3u);
  EXPECT_EQ(record.reason, "nightly");
  EXPECT_EQ(record.anchor, "release-1.4");
  EXPECT_EQ(record.accepted_from, "r.jsonl");
  EXPECT_EQ(record.environment.machine_class, "test-2c");
  EXPECT_EQ(record.measured.exact.implementation, "brg:avx2");
  EXPECT_THAT(record.measured.flags, ElementsAre(Flag::noisy));
  ASSERT_EQ(record.measured.processes.size(), 2u);
  EXPECT_EQ(record.measured.processes[1].median, Nanoseconds(200));
  EXPECT_THAT(
      facts_as_texts(record.measured.exact),
      UnorderedElementsAre(Pair("layout.source", "ab"), Pair("primitives", "1"),
                           Pair("memory.peak_bytes", "1"), Pair("memory.weights_bytes", "2"),
                           Pair("memory.workspace_bytes", "3")));
  EXPECT_EQ(record.profile, profile);
}

TEST(FromReportTest, AReportWithoutAValidTimeIsRefused) {
  Report under = report();
  under.runs[1].under = "perf record";
  EXPECT_THAT(error(under), HasSubstr("under `perf record`"));
  Report slow = report();
  slow.runs[1].environment.details["env.BENCH_SLOWDOWN"] = "3%";
  EXPECT_THAT(error(slow), HasSubstr("BENCH_SLOWDOWN=3%"));
  Report interrupted = report();
  interrupted.cases[0].flags = {Flag::noisy, Flag::interrupted};
  EXPECT_THAT(error(interrupted), HasSubstr("interrupted"));
  Report failed = report();
  failed.cases[0].outcome = Outcome::wrong_result;
  failed.cases[0].reason = "element 7";
  EXPECT_EQ(error(failed), "wrong_result: element 7");
  Report unknown = report();
  unknown.runs.clear();
  EXPECT_THAT(error(unknown), HasSubstr("run record is missing"));
  Report nowhere = report();
  nowhere.runs[1].environment.machine_class.clear();
  EXPECT_THAT(error(nowhere), HasSubstr("no machine class"));
  Report timeless = report();
  timeless.runs[0].started = "yesterday";
  EXPECT_THAT(error(timeless), HasSubstr("no valid start: `yesterday`"));
  Report empty = report();
  empty.processes.clear();
  EXPECT_THAT(error(empty), HasSubstr("no process records"));
}

// A run that continues another one in another environment is a run of its own.
TEST(FromReportTest, ACaseBelongsToTheRunsInItsEnvironment) {
  Report mixed = report();
  mixed.runs[1].environment.details["env.ONEDNN_MAX_CPU_ISA"] = "SSE41";
  const ReportBaselines result = baselines(mixed);
  ASSERT_EQ(result.records.size(), 1u);
  EXPECT_EQ(result.records[0].run_id, "r2");
  EXPECT_EQ(result.records[0].measured.processes.size(), 1u);
}

}  // namespace
}  // namespace bench
