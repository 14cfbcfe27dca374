// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_progress.hpp"

#include "harness/result/measured.hpp"
#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr const char* kId = "gemm/forward/m4n4k4/f32/onednn/cpu/hot";

PreparedReply prepared(const std::string& digest) {
  PreparedReply reply;
  reply.implementation = "jit of " + digest;
  reply.details = {{kPrimitivesDetail, "2"}};
  if (!digest.empty()) reply.details[kOutputDigestDetail] = digest;
  return reply;
}

CaseRecord record_of(const std::vector<std::string>& digests) {
  const Case spec = test::make_case(kId);
  CaseProgress progress(spec);
  for (const std::string& digest : digests) progress.learn(prepared(digest));
  progress.end(Outcome::skipped, "enough");
  return progress.record("run1");
}

TEST(CaseProgress, KeepsTheFactsOfTheFirstProcess) {
  const CaseRecord record = record_of({"aa", "aa", "aa"});
  EXPECT_EQ(record.implementation, "jit of aa");
  EXPECT_EQ(record.details.at(kPrimitivesDetail), "2");
  EXPECT_EQ(record.details.at(kOutputDigestDetail), "aa");
}

TEST(CaseProgress, SeesThatOutputsVary) {
  EXPECT_EQ(record_of({"aa", "bb"}).details.at(kOutputDigestDetail), kDigestVaries);
  EXPECT_EQ(record_of({"aa", "aa", "bb", "aa"}).details.at(kOutputDigestDetail), kDigestVaries);
  EXPECT_EQ(record_of({"aa", "bb"}).implementation, "jit of aa");
}

TEST(CaseProgress, AWorkerWithoutADigestSaysNothing) {
  EXPECT_EQ(record_of({"aa", ""}).details.at(kOutputDigestDetail), "aa");
  EXPECT_FALSE(record_of({"", "aa"}).details.contains(kOutputDigestDetail));
}

ProcessRecord measured(int process, Nanoseconds canary) {
  ProcessRecord record;
  record.id = kId;
  record.process = process;
  record.samples.assign(10, Nanoseconds(100));
  record.canaries = {std::vector<Nanoseconds>(10, canary), 1, Nanoseconds(1000)};
  return record;
}

class DisturbedCase : public testing::Test {
 protected:
  DisturbedCase() {
    spec_.measure.processes = 2;
    progress_.learn(prepared("aa"));
  }
  static constexpr Nanoseconds kQuiet{1000}, kBusy{1700};
  Case spec_ = test::make_case(kId);
  CaseProgress progress_{spec_};
};

TEST_F(DisturbedCase, IsCompleteWithTheProcessesAskedForIfTheyWereQuiet) {
  progress_.add(measured(0, kQuiet));
  EXPECT_FALSE(progress_.is_complete());
  progress_.add(measured(1, kQuiet));
  EXPECT_TRUE(progress_.is_complete());
  EXPECT_FALSE(progress_.needs_process(2));
}

TEST_F(DisturbedCase, AnotherProcessTakesThePlaceOfADisturbedOne) {
  progress_.add(measured(0, kBusy));
  EXPECT_FALSE(progress_.needs_process(2)) << "first those that were asked for";
  progress_.add(measured(1, kQuiet));
  EXPECT_FALSE(progress_.is_complete());
  EXPECT_TRUE(progress_.needs_process(2));
  EXPECT_TRUE(progress_.has_requested_processes());
  progress_.add(measured(2, kQuiet));
  EXPECT_TRUE(progress_.is_complete());
  EXPECT_EQ(progress_.record("run1").quiet->processes, 2);
}

TEST_F(DisturbedCase, WhatIsLeftCountsADisturbedProcessOnceMore) {
  EXPECT_EQ(progress_.remaining_processes(), 2);
  progress_.add(measured(0, kBusy));
  EXPECT_EQ(progress_.remaining_processes(), 2);
  progress_.add(measured(1, kQuiet));
  EXPECT_EQ(progress_.remaining_processes(), 1);
  progress_.add(measured(2, kQuiet));
  EXPECT_EQ(progress_.remaining_processes(), 0);
}

TEST_F(DisturbedCase, AMachineThatIsNeverQuietCostsTwiceTheProcessesAtMost) {
  for (int process = 0; process < 4; ++process) {
    EXPECT_FALSE(progress_.is_complete());
    EXPECT_TRUE(progress_.needs_process(process));
    progress_.add(measured(process, kBusy));
  }
  EXPECT_TRUE(progress_.is_complete());
  EXPECT_FALSE(progress_.needs_process(4));
  EXPECT_TRUE(has_flag(progress_.record("run1"), Flag::disturbed));
}

// The budget may end before the machine is quiet; no requested process is missing then.
TEST_F(DisturbedCase, WithAllProcessesAskedForItIsNotInterrupted) {
  progress_.add(measured(0, kBusy));
  progress_.add(measured(1, kQuiet));
  EXPECT_FALSE(has_flag(progress_.record("run1"), Flag::interrupted));
}

}  // namespace
}  // namespace bench
