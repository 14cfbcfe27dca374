// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/steps.hpp"

#include "base/text.hpp"
#include "profiler/activity_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kProgram = 7;

Activity step_range(const std::string& name, std::int64_t begin, std::int64_t end) {
  Activity activity;
  activity.kind = ActivityKind::range;
  activity.name = name;
  activity.start = Nanoseconds(begin);
  activity.duration = Nanoseconds(end - begin);
  activity.track = {kProgram, kProgram, std::nullopt, std::nullopt};
  return activity;
}

Activity work_of_device(std::int64_t begin, std::int64_t end, std::optional<std::int64_t> device) {
  Activity activity = step_range("gemm", begin, end);
  activity.kind = device ? ActivityKind::kernel : ActivityKind::primitive;
  activity.track.device = device;
  return activity;
}

std::string profile_of(const std::vector<Activity>& activities) {
  std::string text = "{\"record\":\"profile\",\"schema\":\"bench.profile/1\"}\n";
  for (const Activity& activity : activities) text += to_json_line(activity, "") + "\n";
  return text;
}

struct StepAnswer {
  std::string text, error;
  AnalysisOutcome outcome;
};

StepAnswer ask_steps(const std::vector<Activity>& activities, const std::string& name = "",
                     const AnalysisOptions& options = {}) {
  const auto source = text_source_for_test("train.jsonl", profile_of(activities));
  std::ostringstream out;
  const AnalysisTarget target{&out, 80, testing::TempDir()};
  auto outcome = analyze_steps(input_of(*source), name, options, target);
  if (!outcome.ok()) return {out.str(), outcome.error().message(), {}};
  return {out.str(), "", *std::move(outcome)};
}

json step_rows(const std::vector<Activity>& activities, const std::string& name = "") {
  AnalysisOptions options;
  options.format = "json";
  return json::parse(ask_steps(activities, name, options).text).at("rows");
}

// Three steps of 100, 200 and 100 ns. A kernel overlaps another one, and one reaches from the first
// step into the second.
std::vector<Activity> three_steps() {
  return {step_range("step", 0, 100),  step_range("step", 100, 300), step_range("step", 400, 500),
          step_range("epoch", 0, 500), work_of_device(10, 40, 0),    work_of_device(20, 50, 0),
          work_of_device(90, 120, 0),  work_of_device(200, 250, 0),  work_of_device(320, 380, 0),
          work_of_device(400, 500, 0)};
}

TEST(Steps, BusyAndIdleTimesAreExact) {
  const json rows = step_rows(three_steps());
  ASSERT_EQ(rows.size(), 3U);
  std::vector<std::vector<std::int64_t>> values;
  for (const json& row : rows)
    values.push_back({row["step"], row["count"], row["time_ns"], row["busy_ns"], row["idle_ns"]});
  EXPECT_THAT(values, ElementsAre(ElementsAre(0, 3, 100, 50, 50), ElementsAre(1, 1, 200, 70, 130),
                                  ElementsAre(2, 1, 100, 100, 0)));
  EXPECT_EQ(rows[1]["device"], "cuda:0");
  EXPECT_EQ(rows[1]["start_ns"], 100);
}

TEST(Steps, TheAnswerAndTheLastRowsHaveTheExtremes) {
  const StepAnswer answer = ask_steps(three_steps());
  EXPECT_THAT(answer.text,
              AllOf(HasSubstr("3 steps took 100 ns in the median, 100 ns to 200 ns."),
                    HasSubstr("cuda:0 was busy in 55.0 %\nof their time and idle for 180 ns."),
                    HasSubstr("\n   min  cuda:0"), HasSubstr("\nmedian  cuda:0"),
                    HasSubstr("\n   max  cuda:0")));
  for (const char* format : {"csv", "json"}) {
    AnalysisOptions options;
    options.format = format;
    EXPECT_THAT(ask_steps(three_steps(), "", options).text, Not(HasSubstr("median\"")));
  }
}

// Times of a file are negative if its clock is put onto that of another one.
TEST(Steps, AStepBeforeTimeZeroIsNotBusyByItself) {
  const json rows = step_rows({step_range("step", -1000, -900), work_of_device(-950, -940, 0)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["busy_ns"], 10);
}

TEST(Steps, ALongKernelBeforeThousandsOfShortOnesReachesIntoAStep) {
  std::vector<Activity> activities = {step_range("step", 10'000, 10'100),
                                      work_of_device(0, 10'060, 0)};
  for (std::int64_t i = 0; i < 5000; ++i) activities.push_back(work_of_device(i + 1, i + 2, 0));
  const json rows = step_rows(activities);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["busy_ns"], 60);
}

TEST(Steps, WithoutAGpuTheProcessorIsTheDevice) {
  const json rows = step_rows({step_range("step", 0, 100), work_of_device(10, 60, std::nullopt)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["device"], "cpu");
  EXPECT_EQ(rows[0]["busy_ns"], 50);
}

TEST(Steps, EachDeviceHasARow) {
  const json rows =
      step_rows({step_range("step", 0, 100), work_of_device(0, 50, 0), work_of_device(0, 80, 1)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["busy_ns"], 50);
  EXPECT_EQ(rows[1]["busy_ns"], 80);
}

json step_document(const std::vector<Activity>& activities) {
  AnalysisOptions options;
  options.format = "json";
  return json::parse(ask_steps(activities, "", options).text);
}

// A step counted once per GPU in the total and in the median.
TEST(Steps, AStepOfTwoGpusCountsOnce) {
  const json document = step_document(
      {step_range("step", 0, 100), work_of_device(0, 50, 0), work_of_device(0, 80, 1)});
  EXPECT_EQ(document["total_ns"], 100);
  EXPECT_EQ(document["selected"], 1);
}

// Two ranks have a cuda:0 each; their statistics were those of one device.
TEST(Steps, DevicesOfTwoProcessesAreNotMixed) {
  std::vector<Activity> activities = three_steps();
  for (Activity activity : three_steps()) {
    activity.track.pid = activity.track.tid = kProgram + 1;
    activity.duration = *activity.duration / 2;
    activities.push_back(activity);
  }
  const std::string text = ask_steps(activities).text;
  EXPECT_THAT(text, AllOf(HasSubstr("cuda:0 of\nprocess 7 was busy in 55.0 %"),
                          HasSubstr("cuda:0 of\nprocess 8 was busy in 40.0 %")));
  std::size_t medians = 0;
  for (auto at = text.find("\nmedian"); at != std::string::npos; at = text.find("\nmedian", at + 1))
    ++medians;
  EXPECT_EQ(medians, 2U);
}

// Iterations of different cases are different work. They had one median.
TEST(Steps, CasesAreNotMixed) {
  std::vector<Activity> activities;
  for (const std::int64_t i : {0, 1, 2}) {
    for (const char* id : {"pool/a", "pool/b"}) {
      const std::int64_t length = id[5] == 'a' ? 100 : 300;
      const std::int64_t begin = 1000 * i + length;
      Activity iteration = step_range("network", begin, begin + length);
      iteration.case_id = id;
      iteration.attributes.set(Attribute::iteration, i);
      activities.push_back(iteration);
    }
  }
  AnalysisOptions options;
  options.format = "json";
  std::string answer = json::parse(ask_steps(activities, "", options).text).at("answer");
  EXPECT_EQ(answer,
            "6 steps of 2 cases: pool/a: 3 steps took 100 ns in the median, 100 ns to 100 ns. "
            "pool/b: 3 steps took 300 ns in the median, 300 ns to 300 ns.");
}

TEST(Steps, WithoutRecordedWorkBusyIsUnknown) {
  const StepAnswer answer = ask_steps({step_range("step", 0, 100)});
  EXPECT_THAT(answer.text, AllOf(HasSubstr("1 step took 100 ns."), HasSubstr("recorded no")));
  EXPECT_FALSE(step_rows({step_range("step", 0, 100)})[0].contains("busy_ns"));
}

TEST(Steps, NumberedRangesAndThoseOfOtherProfilersAreSteps) {
  using analysis::names_step;
  for (const char* text : {"step", "Step", "step 3", "step_12", "step#1", "step4"})
    EXPECT_TRUE(names_step(text, "step")) << text;
  for (const char* text : {"steps", "step 3a", "stepper", "ste", "step ", "my step"})
    EXPECT_FALSE(names_step(text, "step")) << text;
  EXPECT_EQ(step_rows({step_range("ProfilerStep#3", 0, 10)}).size(), 1U);
}

TEST(Steps, TheUserNamesOtherRanges) {
  const json rows = step_rows(three_steps(), "epoch");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["time_ns"], 500);
}

TEST(Steps, AStepWithinAStepDoesNotCount) {
  EXPECT_EQ(step_rows({step_range("step", 10, 20), step_range("step", 0, 100)}).size(), 1U);
}

TEST(Steps, WithoutThemTheIterationsOfARunAreSteps) {
  Activity iteration = step_range("network", 0, 100);
  iteration.attributes.set(Attribute::iteration, std::int64_t{5});
  const json rows = step_rows({iteration});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["step"], 5);
}

TEST(Steps, AFileWithoutThemNamesTheRangesThatItHas) {
  const StepAnswer answer = ask_steps({step_range("epoch", 0, 9), step_range("epoch", 9, 10)});
  EXPECT_THAT(answer.error, AllOf(HasSubstr("no range is named `step`"), HasSubstr("--steps=NAME"),
                                  HasSubstr("epoch (2)")));
  EXPECT_THAT(ask_steps({}).error, HasSubstr("mark the steps"));
}

TEST(Steps, AGivenWidthDropsColumnsAsANarrowTerminalDoes) {
  AnalysisOptions options;
  options.width = 60;
  EXPECT_EQ(ask_steps(three_steps(), "", options).error, "");
}

TEST(Steps, TheTableFitsATerminal) {
  std::istringstream lines(ask_steps(three_steps()).text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
}

}  // namespace
}  // namespace bench
