// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/program_comparison.hpp"

#include "harness/judge/comparison.hpp"
#include "profiler/text_source.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace bench {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

ProgramTime sampled(std::int64_t samples) {
  ProgramTime time;
  time.objects = {{"libmkl.so", samples, samples * Nanoseconds(milliseconds(5)), 1}};
  return time;
}

TEST(ComparedPrograms, DifferencesOfFewSamplesAreLeftToChance) {
  const auto chance = compare_programs(sampled(100), sampled(125)).objects;
  ASSERT_EQ(chance.size(), 1U);
  EXPECT_EQ(chance[0].ratio, std::nullopt);
  EXPECT_EQ(chance[0].reason, "within chance");
  EXPECT_EQ(compare_programs(sampled(100), sampled(140)).objects[0].ratio, 1.4);
  EXPECT_EQ(compare_programs(sampled(10000), sampled(12500)).objects[0].ratio, 1.25);
}

TEST(ComparedPrograms, AnObjectOfOneSideHasNoRatio) {
  ProgramTime other = sampled(100);
  other.objects[0].name = "libblas.so";
  const auto objects = compare_programs(sampled(300), other).objects;
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0].name, "libmkl.so");
  EXPECT_EQ(objects[0].candidate, Nanoseconds(0));
  EXPECT_EQ(objects[0].ratio, std::nullopt);
  EXPECT_TRUE(compare_programs(sampled(300), ProgramTime()).objects.empty());
}

TEST(ComparedPrograms, WallTimesOfDifferentMeaningHaveNoRatio) {
  ProgramTime profile, log;
  profile.coverage.source = WallSource::processes;
  log.coverage.source = WallSource::activities;
  profile.coverage.wall = log.coverage.wall = milliseconds(100);
  profile.coverage.primitives = profile.coverage.recorded = milliseconds(10);
  log.coverage.primitives = log.coverage.recorded = milliseconds(20);
  const ProgramComparison programs = compare_programs(profile, log);
  EXPECT_EQ(programs.find(kWallPart)->ratio, std::nullopt);
  EXPECT_THAT(programs.find(kWallPart)->reason, HasSubstr("only one side states"));
  EXPECT_EQ(programs.find(kOutsidePart)->base, milliseconds(90));
  EXPECT_EQ(programs.find(kOutsidePart)->ratio, std::nullopt);
  EXPECT_EQ(programs.find("oneDNN")->ratio, 2.0);
}

std::string execution(std::int64_t start_ms, std::int64_t ms) {
  const std::string start = start_ms < 0 ? "" : fmt::format("{},", start_ms);
  return fmt::format(
      "onednn_verbose,{}exec,cpu,eltwise,jit:avx2,forward_inference,data_f32::blocked:abcd:f0 "
      "diff_undef::undef::,,alg:eltwise_relu alpha:0 beta:0,2x8x4x4,{}\n",
      start, ms);
}

Result<Measurement> measure(const std::string& text) {
  const auto source = text_source_for_test("x.log", text);
  return measure_activities(*source);
}

TEST(ComparedPrograms, OfLogsWithTimestampsRunFromTheFirstToTheLastActivity) {
  const auto base = measure(execution(1000, 10) + execution(1090, 10));
  const auto candidate = measure(execution(1000, 10) + execution(1190, 10));
  ASSERT_TRUE(base.ok() && candidate.ok());
  const auto programs = compare(*base, *candidate, {}).programs;
  ASSERT_TRUE(programs.has_value());
  EXPECT_EQ(programs->find(kWallPart)->base, milliseconds(100));
  EXPECT_EQ(programs->find(kWallPart)->ratio, 2.0);
  EXPECT_EQ(programs->find(kOutsidePart)->candidate, milliseconds(180));
  EXPECT_DOUBLE_EQ(*programs->base_shown, 0.2);
}

TEST(ComparedPrograms, OfLogsWithoutTimestampsHaveNoWallTime) {
  const auto side = measure(execution(-1, 10) + execution(-1, 10));
  ASSERT_TRUE(side.ok());
  const auto programs = compare(*side, *side, {}).programs;
  EXPECT_EQ(programs->find(kWallPart)->base, std::nullopt);
  EXPECT_EQ(programs->find(kOutsidePart)->base, std::nullopt);
  EXPECT_EQ(programs->find("oneDNN")->base, milliseconds(20));
  EXPECT_THAT(programs->base, HasSubstr("no start times"));
}

// What computed outside of oneDNN alone can be compared as well.
TEST(ComparedPrograms, AProfileWithSamplesNeedsNoPrimitive) {
  const std::string text =
      R"({"record":"process","pid":1,"tid":1,"ns":1})"
      "\n"
      R"({"record":"sampling","pid":1,"tid":1,"ns":2,"period":5000000})"
      "\n"
      R"({"record":"samples","pid":1,"tid":1,"ns":9,"objects":["/a"],"samples":[[3,0,4,1]]})"
      "\n";
  const auto side = measure(text);
  ASSERT_TRUE(side.ok()) << side.error().message();
  EXPECT_TRUE(side->cases.empty());
  ASSERT_EQ(side->program->objects.size(), 1U);
  EXPECT_EQ(side->program->objects[0].name, "a");
}

}  // namespace
}  // namespace bench
