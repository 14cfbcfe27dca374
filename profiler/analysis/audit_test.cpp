// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/audit.hpp"

#include "profiler/reader.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace bench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProfileAudit audit_text(std::string text) {
  const auto source = text_source_for_test("p.jsonl", std::move(text));
  ProfileAuditor auditor;
  const auto report = read_activities(*source, auditor);
  EXPECT_TRUE(report.ok());
  return report.ok() ? auditor.finish(*report) : ProfileAudit{};
}

const AuditRow& row_of(const ProfileAudit& audit, std::string_view check) {
  static const AuditRow kNoRow{"none", "", "", AuditVerdict::ok, ""};
  const auto found = std::ranges::find(audit.rows, check, &AuditRow::check);
  if (found != audit.rows.end()) return *found;
  ADD_FAILURE() << "no row " << check;
  return kNoRow;
}

// One event of a trace of Kineto; times in microseconds.
std::string event(std::string_view category, std::string_view name, double start, double duration,
                  int correlation) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":7,"ts":{},"dur":{},)"
                     R"("args":{{"correlation":{},"device":0,"stream":7}}}})",
                     category, name, category == "kernel" ? 0 : 7, start, duration, correlation);
}

// A trace of Kineto of `launches` launches, of which the first `lost` have no kernel.
std::string kineto_session(int launches, int lost, double shift = 10) {
  std::string events;
  for (int i = 1; i <= launches; ++i) {
    const double start = 1000.0 * i;
    events +=
        (events.empty() ? "" : ",\n") + event("cuda_runtime", "cudaLaunchKernel", start, 5, i);
    if (i > lost) events += ",\n" + event("kernel", "gemm", start + shift, 50, i);
  }
  return "{\"schemaVersion\": 1, \"traceEvents\": [\n" + events + "\n]}\n";
}

// PyTorch issue 192021: kernels whose clock lies before the session are dropped, without a word in
// the trace.
TEST(ProfileAudit, KernelsThatKinetoDropsAtTheStartAreMissing) {
  const ProfileAudit audit = audit_text(kineto_session(50, 12));
  EXPECT_EQ(audit.verdict(), AuditVerdict::broken);
  EXPECT_EQ(row_of(audit, "kernel launches").found, "38");
  EXPECT_EQ(describe_audit(audit),
            "The profile is broken: 12 of 50 kernel launches have no record: the first ones.");
  EXPECT_THAT(describe_audit(audit_text(kineto_session(50, 50))), HasSubstr("that is all of them"));
}

TEST(ProfileAudit, ACompleteTraceSaysHowManyLaunchesHaveARecord) {
  const ProfileAudit audit = audit_text(kineto_session(3412, 0));
  EXPECT_EQ(audit.verdict(), AuditVerdict::ok);
  EXPECT_EQ(describe_audit(audit),
            "The profile is complete: 3,412 of 3,412 launches have a record; what tracing cost is "
            "unknown.");
  EXPECT_EQ(row_of(audit, "cost of tracing").verdict, AuditVerdict::not_checkable);
  EXPECT_EQ(row_of(audit, "dropped records").verdict, AuditVerdict::not_checkable);
  EXPECT_EQ(row_of(audit, "drift of the device's clock").verdict, AuditVerdict::not_checkable);
}

TEST(ProfileAudit, KernelsBeforeTheirLaunchAreWrongAboveAMillisecond) {
  EXPECT_EQ(
      row_of(audit_text(kineto_session(9, 0, -20)), "work that begins after its launch").verdict,
      AuditVerdict::doubtful);
  EXPECT_EQ(
      row_of(audit_text(kineto_session(9, 0, -5000)), "work that begins after its launch").verdict,
      AuditVerdict::broken);
}

TEST(ProfileAudit, ATraceWithoutCallsCannotCountItsKernels) {
  const ProfileAudit audit = audit_text("{\"schemaVersion\": 1, \"traceEvents\": [\n" +
                                        event("kernel", "gemm", 10, 5, 1) + "]}");
  EXPECT_EQ(row_of(audit, "launches").verdict, AuditVerdict::not_checkable);
  EXPECT_THAT(describe_audit(audit), HasSubstr("whether the profile is complete is unknown"));
}

// A profile of `bench profile` whose process ran from 1 ms to 10 ms.
std::string profile_file(const std::string& facts, const std::string& records,
                         std::string_view end) {
  return R"({"record":"profile","schema":"bench.profile/1","tool":{"version":"1"},)"
         R"("environment":{"details":{)" +
         facts + "}}}\n" + records +
         R"({"record":"activity","kind":"process","name":"p","start_ns":1000000,)"
         R"("duration_ns":9000000,"pid":7,"tid":7})"
         "\n" +
         std::string(end);
}

std::string activity_line(std::string_view kind, std::int64_t start, std::int64_t duration,
                          std::string_view more = "") {
  return fmt::format(
      R"({{"record":"activity","kind":"{}","name":"x","start_ns":{},"duration_ns":{},"pid":7,"tid":7{}}})"
      "\n",
      kind, start, duration, more);
}

std::string end_of_profile(int activities) {
  return fmt::format("{{\"record\":\"profile_end\",\"activities\":{}}}\n", activities);
}

TEST(ProfileAudit, AProfileIsCompleteIfItHasTheRecordsThatItStates) {
  const std::string facts =
      R"("recorded.end":"profile_end","recorded.record_cost_ns":"2000","recorded.records":"36",)"
      R"("recorded.wall_ns":"9000000","recorded.cost_method":"counted")";
  const std::string records =
      activity_line("primitive", 2'000'000, 1000) + activity_line("primitive", 3'000'000, 1000);
  EXPECT_EQ(describe_audit(audit_text(profile_file(facts, records, end_of_profile(3)))),
            "The profile is complete: 3 of 3 records are in the file; tracing cost at least 0.8 % "
            "of the time.");
  EXPECT_EQ(describe_audit(audit_text(profile_file(facts, records, end_of_profile(5)))),
            "The profile is broken: 2 records are missing in the file.");
  EXPECT_EQ(describe_audit(audit_text(profile_file(facts, records, ""))),
            "The profile is broken: the file lacks its last record: it is cut.");
}

TEST(ProfileAudit, TracingThatCostsMoreThanWhatItMeasuresBreaksTheProfile) {
  const auto with_cost = [](int cost) {
    return audit_text(
        profile_file(fmt::format(R"("recorded.record_cost_ns":"{}","recorded.records":"1000",)"
                                 R"("recorded.wall_ns":"9000000","recorded.cost_method":"counted")",
                                 cost),
                     activity_line("primitive", 2'000'000, 1000), end_of_profile(2)));
  };
  EXPECT_EQ(row_of(with_cost(500), "cost of tracing").verdict, AuditVerdict::ok);
  EXPECT_EQ(row_of(with_cost(2000), "cost of tracing").verdict, AuditVerdict::doubtful);
  EXPECT_THAT(describe_audit(with_cost(20'000)), HasSubstr("more than what it measured"));
}

TEST(ProfileAudit, WhatTheTracerDroppedBreaksTheProfile) {
  const ProfileAudit audit = audit_text(profile_file(
      R"("gpu.dropped":"17","gpu.faults":"lost 3 record buffers","incomplete":"disk full",)"
      R"("recorded.lost_samples":"5","recorded.malformed":"2","recorded.gpu_processes_without_end":"1")",
      "", end_of_profile(1)));
  EXPECT_EQ(row_of(audit, "dropped device records").found, "17");
  EXPECT_EQ(row_of(audit, "lost samples").found, "5");
  EXPECT_EQ(row_of(audit, "malformed records").found, "2");
  EXPECT_EQ(row_of(audit, "faults of the tracer").verdict, AuditVerdict::broken);
  EXPECT_EQ(row_of(audit, "written records").verdict, AuditVerdict::broken);
  EXPECT_EQ(row_of(audit, "traced processes with an end").verdict, AuditVerdict::doubtful);
}

TEST(ProfileAudit, ActivitiesOutsideOfTheProcessContradictIt) {
  const ProfileAudit audit = audit_text(profile_file(
      "", activity_line("range", 500'000, 1000) + activity_line("range", 9'000'000, 5'000'000),
      end_of_profile(3)));
  EXPECT_EQ(row_of(audit, "processes without earlier activities").verdict, AuditVerdict::doubtful);
  EXPECT_EQ(row_of(audit, "processes without later activities").verdict, AuditVerdict::doubtful);
  const ProfileAudit windowed = audit_text(profile_file(
      R"("window":"nvtx:step")", activity_line("range", 9'000'000, 5'000'000), end_of_profile(2)));
  EXPECT_EQ(row_of(windowed, "processes without later activities").verdict,
            AuditVerdict::not_checkable);
}

TEST(ProfileAudit, ACallThatEndsAfterTheCallAroundItContradictsIt) {
  const ProfileAudit audit = audit_text(profile_file(
      "", activity_line("api", 2'000'000, 100'000) + activity_line("api", 2'050'000, 100'000),
      end_of_profile(3)));
  const AuditRow& row = row_of(audit, "activities within those around them");
  EXPECT_EQ(row.verdict, AuditVerdict::doubtful);
  EXPECT_THAT(row.reason, HasSubstr("by up to 50"));
}

TEST(ProfileAudit, RangesOfNvtxMayOverlap) {
  const ProfileAudit audit = audit_text(profile_file(
      "", activity_line("range", 2'000'000, 100'000) + activity_line("range", 2'050'000, 100'000),
      end_of_profile(3)));
  EXPECT_EQ(audit.verdict(), AuditVerdict::ok);
}

// A result file with a case of 3 iterations; the last has `last` lines of oneDNN.
std::string result_file(int last, std::string_view pass, std::int64_t measured = 100'000) {
  std::string text = R"({"record":"run","schema":"bench.result/1","run_id":"r"})"
                     "\n" +
                     fmt::format(R"({{"record":"case","run_id":"r","id":"c","outcome":"ok",)"
                                 R"("time":{{"median_ns":{}}}}})"
                                 "\n",
                                 measured);
  for (int i = 0; i < 3; ++i) {
    const int start = 1'000'000 * (i + 1);
    const std::string of_case =
        fmt::format(R"(,"run_id":"r","id":"c","attributes":{{"iteration":{},"phase":"exec"}})", i);
    for (int j = 0; j < (i < 2 ? 2 : last); ++j)
      text += activity_line("primitive", start + 10'000 * j, 5000, of_case);
    text += activity_line("range", start, 100'000, of_case);
  }
  return text + std::string(pass);
}

std::string pass_of(int activities, std::int64_t profiled, std::int64_t wall = 300'000,
                    std::string_view more = R"("outcome":"ok")") {
  return fmt::format(
      R"({{"record":"profile_pass","run_id":"r","id":"c",{},"profiled_ns":{},)"
      R"("unprofiled_ns":100000,"activities":{},"unread":0,"wall_ns":{},"attributed_ns":200000,)"
      R"("unattributed_ns":100000}})"
      "\n",
      more, profiled, activities, wall);
}

TEST(ProfileAudit, APassIsCompleteIfTheFileHasItsRecords) {
  const ProfileAudit audit = audit_text(result_file(2, pass_of(9, 100'800)));
  EXPECT_EQ(audit.verdict(), AuditVerdict::ok);
  EXPECT_EQ(describe_audit(audit),
            "The profile is complete: 9 of 9 records are in the file; tracing cost 0.8 % of the "
            "time.");
  EXPECT_EQ(row_of(audit, "sums of times that fit").found, "1");
}

TEST(ProfileAudit, ALostLineOfOnednnIsSeenInItsIteration) {
  const ProfileAudit audit = audit_text(result_file(1, pass_of(8, 100'800)));
  EXPECT_EQ(row_of(audit, "primitives, equal in each iteration").expected, "6");
  EXPECT_EQ(row_of(audit, "primitives, equal in each iteration").found, "5");
  EXPECT_EQ(audit.verdict(), AuditVerdict::broken);
}

TEST(ProfileAudit, AnIterationThatLostAllOfItsLinesIsSeenByItsRange) {
  const ProfileAudit audit = audit_text(result_file(0, pass_of(7, 100'800)));
  EXPECT_EQ(row_of(audit, "primitives, equal in each iteration").expected, "6");
  EXPECT_EQ(row_of(audit, "primitives, equal in each iteration").found, "4");
  EXPECT_EQ(audit.verdict(), AuditVerdict::broken);
}

TEST(ProfileAudit, APassThatDoesNotFitItsNumbersIsBroken) {
  EXPECT_EQ(
      row_of(audit_text(result_file(2, pass_of(30, 100'800))), "records that the passes state")
          .found,
      "9");
  EXPECT_EQ(row_of(audit_text(result_file(2, "")), "profiling passes with an end").verdict,
            AuditVerdict::broken);
  EXPECT_EQ(
      row_of(audit_text(result_file(2, pass_of(9, 100'800, 299'000))), "sums of times that fit")
          .verdict,
      AuditVerdict::broken);
  EXPECT_EQ(row_of(audit_text(result_file(2, pass_of(9, 100'800, 300'000,
                                                     R"("outcome":"failed","reason":"no trace")"))),
                   "profiling passes without a fault")
                .reason,
            "c: no trace");
}

TEST(ProfileAudit, TheProfiledTimeIsComparedWithTheMeasurement) {
  const ProfileAudit slow = audit_text(result_file(2, pass_of(9, 150'000)));
  EXPECT_EQ(row_of(slow, "cost of tracing").found, "50.0 %");
  EXPECT_EQ(row_of(slow, "profiled time against the measurement").verdict, AuditVerdict::doubtful);
  const ProfileAudit other = audit_text(result_file(2, pass_of(9, 100'800), 40'000));
  EXPECT_EQ(row_of(other, "cost of tracing").verdict, AuditVerdict::ok);
  EXPECT_EQ(row_of(other, "profiled time against the measurement").verdict, AuditVerdict::doubtful);
}

ProfileAudit audit_pass_times(std::map<std::string, StatedPass> passes) {
  ReadReport report;
  report.format = "result";
  report.passes = std::move(passes);
  return ProfileAuditor().finish(report);
}

StatedPass pass_with_times(int profiled, int measured) {
  StatedPass pass;
  pass.has_ended = true;
  pass.profiled = Nanoseconds(profiled);
  pass.unprofiled = Nanoseconds(100'000);
  pass.measured = Nanoseconds(measured);
  return pass;
}

TEST(ProfileAudit, OneNoisyCaseDoesNotMakeTheCostOfTracingDoubtful) {
  const ProfileAudit noisy = audit_pass_times({{"a", pass_with_times(136'700, 120'000)},
                                               {"b", pass_with_times(90'000, 100'000)},
                                               {"c", pass_with_times(85'000, 100'000)}});
  EXPECT_EQ(row_of(noisy, "cost of tracing").verdict, AuditVerdict::ok);
  EXPECT_EQ(row_of(noisy, "cost of tracing, worst case").verdict, AuditVerdict::not_checkable);
  EXPECT_EQ(noisy.verdict(), AuditVerdict::ok);
  const ProfileAudit slow = audit_pass_times(
      {{"a", pass_with_times(136'700, 120'000)}, {"b", pass_with_times(120'000, 120'000)}});
  EXPECT_EQ(row_of(slow, "cost of tracing").verdict, AuditVerdict::doubtful);
}

// One case of 3 us made the profile of a run of 61 cases doubtful.
TEST(ProfileAudit, OneCaseFarFromItsMeasurementDoesNotMakeAProfileOfManyDoubtful) {
  const ProfileAudit many = audit_pass_times({{"a", pass_with_times(3170, 2213)},
                                              {"b", pass_with_times(100'000, 101'000)},
                                              {"c", pass_with_times(100'000, 99'000)}});
  EXPECT_EQ(row_of(many, "profiled time against the measurement").verdict, AuditVerdict::ok);
  const AuditRow& worst = row_of(many, "profiled time against the measurement, worst case");
  EXPECT_EQ(worst.verdict, AuditVerdict::not_checkable);
  EXPECT_EQ(worst.found, "43 %");
  const ProfileAudit far = audit_pass_times(
      {{"a", pass_with_times(100'000, 60'000)}, {"b", pass_with_times(100'000, 70'000)}});
  EXPECT_EQ(row_of(far, "profiled time against the measurement").verdict, AuditVerdict::doubtful);
}

TEST(ProfileAudit, AnUnsteadyMedianIsNotComparedWithThePass) {
  StatedPass unsteady = pass_with_times(100'000, 900'000);
  unsteady.is_unsteady = true;
  EXPECT_EQ(
      row_of(audit_pass_times({{"a", unsteady}}), "profiled time against the measurement").verdict,
      AuditVerdict::not_checkable);
  EXPECT_EQ(row_of(audit_pass_times({{"a", unsteady}, {"b", pass_with_times(100'000, 100'000)}}),
                   "profiled time against the measurement")
                .found,
            "0 %");
}

TEST(ProfileAudit, MalformedRecordsAreAShareOfTheRecordsAndNotOfTheLines) {
  ReadReport report;
  report.lines = 1;
  report.activities = 999;
  report.malformed = 1;
  EXPECT_EQ(row_of(ProfileAuditor().finish(report), "malformed records").verdict,
            AuditVerdict::doubtful);
  report.lines = 100'000;
  report.activities = 9;
  EXPECT_EQ(row_of(ProfileAuditor().finish(report), "malformed records").verdict,
            AuditVerdict::broken);
}

TEST(ProfileAudit, ALogWithoutStartTimesHasNoOrderToCheck) {
  const ProfileAudit audit = audit_text(
      "onednn_verbose,info,oneDNN v3.2.0 (commit 1)\n"
      "onednn_verbose,create:cache_miss,cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0,,,2x2:2x2,"
      "0.1\n"
      "onednn_verbose,exec,cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0,,,2x2:2x2,0.1\n"
      "onednn_verbose,create:cache_miss,cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0,,,4x2:2x2,"
      "0.1\n");
  EXPECT_EQ(row_of(audit, "order of times").verdict, AuditVerdict::not_checkable);
  const AuditRow& created = row_of(audit, "created primitives that ran");
  EXPECT_EQ(created.expected, "2");
  EXPECT_EQ(created.found, "1");
  EXPECT_EQ(created.verdict, AuditVerdict::not_checkable);
}

TEST(ProfileAudit, CreationsWithoutAnyExecutionAreDoubtful) {
  const ProfileAudit audit = audit_text(
      "onednn_verbose,info,oneDNN v3.2.0 (commit 1)\n"
      "onednn_verbose,create:cache_miss,cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0,,,2x2:2x2,"
      "0.1\n");
  EXPECT_EQ(row_of(audit, "created primitives that ran").verdict, AuditVerdict::doubtful);
}

TEST(ProfileAudit, WhatCannotBeCheckedIsNeverOk) {
  ProfileAudit audit;
  EXPECT_EQ(audit.verdict(), AuditVerdict::not_checkable);
  audit.rows.push_back({"x", "", "", AuditVerdict::not_checkable, "no data"});
  EXPECT_EQ(audit.verdict(), AuditVerdict::not_checkable);
  EXPECT_THAT(describe_audit(audit), StartsWith("No check found a fault; whether"));
}

TEST(AuditText, TheVerdictShowsOnlyTheChecksThatFail) {
  EXPECT_EQ(format_verdict(audit_text(kineto_session(50, 12)), 80),
            "The profile is broken: 12 of 50 kernel launches have no record: the first ones.\n"
            "\n"
            "check            expected  found  verdict\n"
            "kernel launches        50     38  broken\n"
            "    12 of 50 kernel launches have no record: the first ones\n");
  const std::string ok = format_verdict(audit_text(kineto_session(5, 0)), 80);
  EXPECT_THAT(ok, Not(HasSubstr("expected")));
}

TEST(AuditText, EachFormatHasAllChecks) {
  const ProfileAudit audit = audit_text(kineto_session(50, 12));
  for (const char* format : {"table", "markdown", "csv", "space", "json"}) {
    const auto text = format_audit(audit, format, 80);
    ASSERT_TRUE(text.ok()) << format;
    EXPECT_THAT(*text, HasSubstr("12")) << format;
    EXPECT_THAT(*text, HasSubstr("malformed")) << format;
  }
  EXPECT_FALSE(format_audit(audit, "xml", 80).ok());
}

}  // namespace
}  // namespace bench
