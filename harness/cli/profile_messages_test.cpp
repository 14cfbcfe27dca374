// SPDX-License-Identifier: Apache-2.0
// The last line of `bench profile`: what was recorded, and why there is no more.
#include "harness/cli/profile_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class CaptureSummary : public ::testing::Test {
 protected:
  CaptureSummary() {
    outcome_.spool.processes = 1;
    settings_.kinds = {RecordGroup::operators, RecordGroup::device};
    settings_.cuda.library = "/lib/injection.so";
  }
  std::string text() const { return capture_summary(outcome_, settings_, "p.jsonl"); }
  // Adds a traced process with a kernel on device `device`.
  void add_device(std::int64_t pid, std::int64_t device) {
    ++outcome_.gpu.processes;
    outcome_.gpu.activities += 2;
    outcome_.activities += 2;
    outcome_.recorded += 2;
    GpuDeviceSummary summary;
    summary.pid = pid;
    summary.device = device;
    summary.kernels = 2;
    summary.kernel_union = Nanoseconds(2'000'000);
    summary.busy_share = 2.0 / 3;
    outcome_.gpu.devices.push_back(summary);
  }

  CaptureOutcome outcome_;
  CaptureSettings settings_;
};

TEST_F(CaptureSummary, NothingHasItsReason) {
  EXPECT_EQ(text(),
            "bench profile: nothing captured: 1 process ran, and none of them used oneDNN, NVTX or "
            "CUDA; p.jsonl contains only when the process ran\n");
  outcome_.spool.processes = 0;
  EXPECT_THAT(text(), HasSubstr("did not load the capture library"));
  outcome_.spool.processes = 1;
  outcome_.gpu.untraced_reasons = {"CUPTI: no", "CUPTI: never"};
  EXPECT_THAT(text(), EndsWith("; no device rows: CUPTI: no; CUPTI: never\n"));
}

TEST_F(CaptureSummary, WhatCouldNotBeWrittenIsTold) {
  EXPECT_THAT(text(), Not(HasSubstr("incomplete")));
  outcome_.is_incomplete = true;
  EXPECT_THAT(text(), HasSubstr("bench profile: the profile is incomplete: records could not be "
                                "written while the program ran"));
  EXPECT_EQ(merge_failure(Error{"no space", "p.jsonl", "free some"}, settings_, "p.jsonl.spool"),
            "bench profile: p.jsonl: no space; free some\n"
            "bench profile: the records are kept in p.jsonl.spool: `bench analyze "
            "p.jsonl.spool` and `bench trace p.jsonl.spool` read it; remove it afterwards\n");
}

TEST_F(CaptureSummary, RowsOfDevicesAreMissedOnlyWhereCudaWasUsedAndTheyWereAskedFor) {
  outcome_.activities = outcome_.recorded = outcome_.spool.ranges = 3;
  EXPECT_EQ(text(),
            "bench profile: 3 NVTX ranges, 3 activities in p.jsonl; next: bench analyze p.jsonl "
            "--kind range\n");
  outcome_.spool.cuda = {"/lib/libcuda.so.1"};
  EXPECT_THAT(text(), EndsWith("/lib/libcuda.so.1 was loaded but never initialised\n"));
  settings_.cuda.other_tool = "/opt/tool.so";
  EXPECT_THAT(text(), EndsWith("CUDA_INJECTION64_PATH names /opt/tool.so\n"));
  settings_.cuda = {};
  EXPECT_THAT(text(), HasSubstr("this build has no libbench_cuda_injection.so"));
  settings_.kinds = {RecordGroup::operators};
  EXPECT_THAT(text(), Not(HasSubstr("device rows")));
}

TEST_F(CaptureSummary, DevicesHaveALineEachAndNameTheirProcessWhereThereAreSeveral) {
  add_device(12, 0);
  outcome_.gpu.notes = {"GPU of process 12: 3 records were dropped"};
  EXPECT_EQ(
      text(),
      "bench profile: GPU of process 12: 3 records were dropped\n"
      "bench profile: GPU 0: 2 kernels in 2.000 ms, busy 66.7 % of the time from the first to the "
      "last kernel\n"
      "bench profile: 2 kernels, 2 activities in p.jsonl; next: bench analyze p.jsonl --kind "
      "kernel\n");
  add_device(13, 1);
  EXPECT_THAT(text(), HasSubstr("GPU 1 of process 13: 2 kernels in 2.000 ms, busy 66.7 % of the "
                                "time from the first to the "
                                "last kernel\n"));
}

TEST_F(CaptureSummary, AnEmptyWindowIsToldFromAProgramThatAskedNothing) {
  outcome_.gpu.processes = 1;
  EXPECT_THAT(text(), EndsWith("the program initialised CUDA, but no GPU activity was recorded\n"));
  settings_.window.kind = CaptureWindow::Kind::profiler_api;
  EXPECT_THAT(text(), HasSubstr("cudaProfilerStart was not observed"));
  EXPECT_THAT(text(), EndsWith("no GPU activity is in the window\n"));
}

TEST_F(CaptureSummary, RowsThatWereNotAskedForAreNotCounted) {
  outcome_.activities = outcome_.recorded = 4;
  outcome_.spool.executed = 2;
  settings_.kinds = {RecordGroup::device};
  EXPECT_THAT(text(), HasSubstr("bench profile: 4 activities in p.jsonl"));
}

}  // namespace
}  // namespace bench
