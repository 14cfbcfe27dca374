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
  return progress.record("run1", std::nullopt);
}

TEST(CaseProgress, KeepsTheFactsOfTheFirstProcess) {
  const CaseRecord record = record_of({"aa", "aa", "aa"});
  EXPECT_EQ(record.implementation, "jit of aa");
  EXPECT_EQ(record.details.at(kPrimitivesDetail), "2");
  EXPECT_EQ(record.details.at(kOutputDigestDetail), "aa");
}

// An H100's wrong results named no engine.
TEST(CaseProgress, AWrongResultNamesItsKernel) {
  const Case spec = test::make_case(kId);
  CaseProgress progress(spec);
  progress.end(ErrorReply{Outcome::wrong_result,
                          "x[0]",
                          "cudnn:engine_3",
                          {{"engine", "engine 3"}, {"setup.plan_ns", "5"}}});
  const CaseRecord record = progress.record("run1", std::nullopt);
  EXPECT_EQ(record.outcome, Outcome::wrong_result);
  EXPECT_EQ(record.implementation, "cudnn:engine_3");
  EXPECT_EQ(record.details.at("engine"), "engine 3");
  EXPECT_FALSE(record.details.contains("setup.plan_ns"));
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
  record.canaries = {std::vector<Nanoseconds>(10, canary), 1};
  return record;
}

// A busy machine once cost twice the processes.
TEST(CaseProgress, ACaseIsCompleteWithTheRequestedProcessesWhateverTheMachineDid) {
  Case spec = test::make_case(kId);
  spec.measure.processes = 2;
  CaseProgress progress(spec);
  progress.learn(prepared("aa"));
  EXPECT_EQ(progress.remaining_processes(), 2);
  progress.add(measured(0, Nanoseconds(1700)));
  EXPECT_FALSE(progress.is_complete());
  EXPECT_EQ(progress.remaining_processes(), 1);
  progress.add(measured(1, Nanoseconds(1000)));
  EXPECT_TRUE(progress.is_complete());
  EXPECT_FALSE(progress.needs_process(2));
  EXPECT_EQ(progress.remaining_processes(), 0);
  const CaseRecord record =
      progress.record("run1", SpeedLevel{Nanoseconds(1000), LevelSource::stored});
  EXPECT_EQ(record.time->at->canary, Nanoseconds(1000));
  EXPECT_TRUE(record.flags.empty());
}

}  // namespace
}  // namespace bench
