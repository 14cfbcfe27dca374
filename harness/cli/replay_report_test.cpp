// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/replay_report.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using std::chrono::milliseconds;

ImportedCase executed_case(const std::string& id, const std::vector<Nanoseconds>& times) {
  ImportedCase item;
  item.id = id;
  item.use.emplace();
  item.use->count = static_cast<std::int64_t>(times.size());
  for (const Nanoseconds time : times) item.use->time += time;
  for (const Nanoseconds time : times) item.use->times.add(time);
  item.use->implementations = "brg:avx2";
  return item;
}

CaseRecord measured_case(const std::string& id, std::optional<Nanoseconds> median) {
  CaseRecord record;
  record.id = id;
  record.implementation = "jit";
  if (median) {
    record.time.emplace();
    record.time->median = *median;
  } else {
    record.outcome = Outcome::unsupported;
    record.reason = "no implementation";
  }
  return record;
}

TEST(MatchedReplays, FindACaseWhateverItsCachesAndThreads) {
  Imported program;
  program.cases = {executed_case("gemm/forward/m8n4k16/f32/onednn/cpu/hot",
                                 {milliseconds(9), milliseconds(3), milliseconds(3)})};
  Report result;
  result.cases = {measured_case("gemm/forward/m8n4k16/f32/onednn/cpu/cold/t1", milliseconds(2))};
  const Replay replay = match_replay(result, program);
  ASSERT_EQ(replay.cases.size(), 1U);
  EXPECT_EQ(replay.cases[0].id, "gemm/forward/m8n4k16/f32/onednn/cpu/cold/t1");
  EXPECT_EQ(replay.cases[0].original, milliseconds(15));
  EXPECT_EQ(replay.cases[0].original_median, milliseconds(3));
  EXPECT_EQ(replay.cases[0].replayed, milliseconds(2));
  EXPECT_EQ(replay.cases[0].implementation, "jit");
}

TEST(MatchedReplays, SayWhyACaseHasNoTime) {
  Imported program;
  program.cases = {executed_case("gemm/forward/m8n4k16/f32/onednn/cpu/hot", {milliseconds(9)}),
                   executed_case("gemm/forward/m8n4k32/f32/onednn/cpu/hot", {milliseconds(9)})};
  Report result;
  result.cases = {measured_case("gemm/forward/m8n4k16/f32/onednn/cpu/hot", std::nullopt)};
  const Replay replay = match_replay(result, program);
  ASSERT_EQ(replay.cases.size(), 2U);
  EXPECT_EQ(replay.cases[0].reason, "unsupported: no implementation");
  EXPECT_EQ(replay.cases[1].reason, "The result does not have this case.");
  EXPECT_FALSE(replay.cases[1].replayed);
}

TEST(MatchedReplays, ALayoutIsPartOfTheCase) {
  Imported program;
  program.cases = {
      executed_case("conv/forward/c16h14k32r3p1/f32/onednn/cpu/hot/nhwc", {milliseconds(9)})};
  Report result;
  result.cases = {measured_case("conv/forward/c16h14k32r3p1/f32/onednn/cpu/hot", milliseconds(2))};
  EXPECT_FALSE(match_replay(result, program).cases[0].replayed);
}

}  // namespace
}  // namespace bench
