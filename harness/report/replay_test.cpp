// SPDX-License-Identifier: Apache-2.0
#include "harness/report/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Replay sample_replay() {
  Replay replay;
  replay.primitives = milliseconds(100);
  replay.refused = 2;
  replay.cases = {{.id = "conv/forward/c64h56k64r3p1/f32/onednn/cpu/hot",
                   .executions = 10,
                   .original = milliseconds(60),
                   .original_median = milliseconds(5),
                   .replayed = milliseconds(4),
                   .reason = "",
                   .original_implementation = "brg:avx2",
                   .implementation = "brg:avx2"},
                  {.id = "gemm/forward/m8n4k16/f32/onednn/cpu/hot",
                   .executions = 2,
                   .original = milliseconds(20),
                   .original_median = milliseconds(10),
                   .replayed = milliseconds(20),
                   .reason = "",
                   .original_implementation = "brg:avx2",
                   .implementation = "gemm:jit"},
                  {.id = "pool/forward/x/f32/onednn/cpu/hot",
                   .executions = 1,
                   .original = milliseconds(5),
                   .original_median = milliseconds(5),
                   .replayed = std::nullopt,
                   .reason = "unsupported",
                   .original_implementation = "jit",
                   .implementation = ""}};
  return replay;
}

TEST(Replays, CompareOnlyCasesWithATime) {
  const ReplaySums sums = sum_replay(sample_replay());
  EXPECT_EQ(sums.executions, 12);
  EXPECT_EQ(sums.original, milliseconds(80));
  EXPECT_EQ(sums.original_medians, milliseconds(70));
  EXPECT_EQ(sums.replayed, milliseconds(80));
}

TEST(Replays, SayWhatTheSuiteStandsForFirst) {
  const std::string text = format_replay(sample_replay(), 400, Colour::off);
  EXPECT_THAT(text, testing::StartsWith(
                        "Replayed, 12 executions take 80.00 ms where the program took 80.00 ms: "
                        "1.00 times as long, or 1.14 times as long as by the median of each "
                        "primitive. They are 80.0 % of the 100.0 ms that it spent in primitives."));
  EXPECT_THAT(text, HasSubstr("brg:avx2 -> gemm:jit"));
  EXPECT_THAT(text, HasSubstr("No case repeats 2 distinct primitives, 15.0 % of the time."));
  EXPECT_THAT(text, HasSubstr("The result has no time of 5.0 % of the time."));
}

TEST(Replays, ThatRepeatNothingSayIt) {
  Replay replay = sample_replay();
  for (ReplayedCase& row : replay.cases) row.replayed.reset();
  EXPECT_THAT(format_replay(replay, 80, Colour::off), testing::StartsWith("Nothing is replayed"));
}

// A suite of a GPU replays what a log of oneDNN took on a CPU: the ratio was "0.00 times".
TEST(Replays, AMuchFasterReplayIsNotZeroTimesAsLong) {
  Replay replay = sample_replay();
  replay.cases.resize(1);
  replay.cases[0].replayed = std::chrono::microseconds(12);
  const std::string text = format_replay(replay, 400, Colour::off);
  EXPECT_THAT(text, HasSubstr(": 0.002 times as long, or 0.0024 times as long as by the median"));
  EXPECT_THAT(text, testing::Not(HasSubstr(" 0.00 t")));
}

TEST(Replays, LinesFitAnEightyColumnTerminal) {
  std::size_t longest = 0, start = 0;
  const std::string text = format_replay(sample_replay(), 80, Colour::off);
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  EXPECT_LE(longest, 80U);
}

TEST(Replays, JsonHasNoTimeThatWasNotMeasured) {
  const std::string json = replay_json(sample_replay());
  EXPECT_THAT(json, HasSubstr(R"("replayed_ns":80000000)"));
  EXPECT_THAT(
      json,
      HasSubstr(R"({"case":"pool/forward/x/f32/onednn/cpu/hot","executions":1,)"
                R"("program_ns":5000000,"program_median_ns":5000000,)"
                R"("reason":"unsupported","program_implementation":"jit","implementation":""})"));
}

}  // namespace
}  // namespace bench
