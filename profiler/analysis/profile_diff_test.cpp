// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/profile_diff.hpp"

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

// An activity of a program that begins at `start`.
Activity activity_at(ActivityKind kind, const std::string& name, std::int64_t start,
                     std::int64_t time) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(time);
  activity.track = {7, 7, std::nullopt, std::nullopt};
  return activity;
}

Activity work(const std::string& name, std::int64_t start, std::int64_t time) {
  return activity_at(ActivityKind::primitive, name, start, time);
}

// Steps of 1,000 ns, each with these activities.
std::vector<Activity> steps_with(
    const std::vector<std::vector<std::pair<std::string, std::int64_t>>>& steps) {
  std::vector<Activity> activities;
  std::int64_t begin = 0;
  for (const auto& step : steps) {
    std::int64_t at = begin;
    for (const auto& [name, time] : step) {
      activities.push_back(work(name, at, time));
      at += time;
    }
    activities.push_back(activity_at(ActivityKind::range, "step", begin, 1000));
    begin += 1000;
  }
  return activities;
}

std::string text_of_profile(const std::vector<Activity>& activities) {
  std::string text = "{\"record\":\"profile\",\"schema\":\"bench.profile/1\"}\n";
  for (const Activity& activity : activities) text += to_json_line(activity, "") + "\n";
  return text;
}

struct DiffAnswer {
  std::string text, error;
  AnalysisOutcome outcome;
};

DiffAnswer diff(const std::vector<Activity>& a, const std::vector<Activity>& b,
                const AnalysisOptions& options = {}) {
  const auto source_a = text_source_for_test("new.jsonl", text_of_profile(a));
  const auto source_b = text_source_for_test("old.jsonl", text_of_profile(b));
  std::ostringstream out;
  const AnalysisTarget target{&out, 80, testing::TempDir()};
  auto outcome = compare_profiles(input_of(*source_a), input_of(*source_b), {}, options, target);
  if (!outcome.ok()) return {out.str(), outcome.error().message(), {}};
  return {out.str(), "", *std::move(outcome)};
}

json diff_rows(const std::vector<Activity>& a, const std::vector<Activity>& b,
               AnalysisOptions options = {}) {
  options.format = "json";
  return json::parse(diff(a, b, options).text).at("rows");
}

std::string unwrapped(std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

TEST(ProfileDiff, RowsAreInTheOrderOfTheirDifferences) {
  const json rows = diff_rows({work("conv", 0, 300), work("pool", 300, 50), work("relu", 400, 10)},
                              {work("conv", 0, 200), work("pool", 200, 40), work("add", 300, 5)});
  std::vector<std::string> types;
  for (const json& row : rows) types.push_back(row["type"]);
  EXPECT_THAT(types, ElementsAre("conv", "pool", "relu", "add"));
  EXPECT_EQ(rows[0]["time_a_ns"], 300);
  EXPECT_EQ(rows[0]["time_b_ns"], 200);
  EXPECT_EQ(rows[0]["difference_ns"], 100);
  EXPECT_DOUBLE_EQ(rows[0]["ratio"], 1.5);
  EXPECT_DOUBLE_EQ(rows[0]["difference_share"], 100.0 / 115);
  EXPECT_EQ(rows[0]["count_a"], 1);
  EXPECT_FALSE(rows[0].contains("state"));
}

TEST(ProfileDiff, NewAndVanishedRowsAreMarked) {
  const json rows = diff_rows({work("relu", 0, 10)}, {work("add", 0, 5)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["state"], "new");
  EXPECT_FALSE(rows[0].contains("time_b_ns"));
  EXPECT_FALSE(rows[0].contains("ratio"));
  EXPECT_EQ(rows[1]["state"], "vanished");
  EXPECT_EQ(rows[1]["difference_ns"], -5);
}

TEST(ProfileDiff, TheFirstSentenceSaysWhichIsSlowerAndWhy) {
  const std::string slower = unwrapped(diff({work("conv", 0, 300), work("pool", 300, 50)},
                                            {work("conv", 0, 200), work("pool", 200, 60)})
                                           .text);
  EXPECT_THAT(slower, AllOf(HasSubstr("new.jsonl is slower than old.jsonl: 350 ns against 260 ns, "
                                      "+90 ns, +34.6 %. conv contributes most: +100 ns, 111.1 % of "
                                      "the difference. Times are sums over each file"),
                            HasSubstr("the files have no iterations")));
  EXPECT_THAT(unwrapped(diff({work("conv", 0, 100)}, {work("conv", 0, 200)}).text),
              HasSubstr("new.jsonl is faster than old.jsonl: 100 ns against 200 ns, -100 ns, "
                        "-50.0 %."));
  EXPECT_THAT(unwrapped(diff({work("conv", 0, 100)}, {work("conv", 5, 100)}).text),
              HasSubstr("new.jsonl takes as long as old.jsonl, 100 ns."));
}

// A sum would call the file slower that has more steps, or one disturbed step.
TEST(ProfileDiff, IterationsAreComparedByTheirMedian) {
  const auto a = steps_with(
      {{{"conv", 100}}, {{"conv", 110}}, {{"conv", 900}}, {{"conv", 105}}, {{"conv", 104}}});
  const auto b = steps_with({{{"conv", 100}}, {{"conv", 99}}, {{"conv", 101}}});
  const json rows = diff_rows(a, b);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["time_a_ns"], 105);
  EXPECT_EQ(rows[0]["time_b_ns"], 100);
  EXPECT_EQ(rows[0]["count_a"], 1);
  EXPECT_THAT(unwrapped(diff(a, b).text),
              HasSubstr("Times and counts are per iteration: medians over 5 iterations of "
                        "new.jsonl and 3 of old.jsonl."));
}

TEST(ProfileDiff, ARareGroupIsComparedByItsMean) {
  const auto rare = steps_with(
      {{{"conv", 100}, {"save", 400}}, {{"conv", 100}}, {{"conv", 100}}, {{"conv", 100}}});
  const json rows = diff_rows(rare, steps_with({{{"conv", 100}}}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["type"], "save");
  EXPECT_EQ(rows[0]["time_a_ns"], 100);
  EXPECT_DOUBLE_EQ(rows[0]["count_a"], 0.25);
}

TEST(ProfileDiff, WhatIsOutsideOfIterationsIsStatedAndNotCompared) {
  auto a = steps_with({{{"conv", 100}}});
  a.push_back(work("load", 5000, 20));
  const auto b = steps_with({{{"conv", 100}}});
  EXPECT_EQ(diff_rows(a, b).size(), 1U);
  EXPECT_THAT(unwrapped(diff(a, b).text),
              HasSubstr("Outside of iterations, 20 ns and 0 ns are not compared."));
}

TEST(ProfileDiff, IfOneFileHasNoIterationsSumsAreCompared) {
  const auto a = steps_with({{{"conv", 100}}, {{"conv", 100}}});
  EXPECT_EQ(diff_rows(a, {work("conv", 0, 100)})[0]["time_a_ns"], 200);
  EXPECT_THAT(unwrapped(diff(a, {work("conv", 0, 100)}).text),
              HasSubstr("Times are sums over each file, since old.jsonl has no iterations"));
}

// The short step of another thread began last and has ended; the outer one still runs.
TEST(ProfileDiff, AStepThatStillRunsOnAnotherThreadIsFound) {
  const auto profile = [](std::int64_t time) {
    Activity other = activity_at(ActivityKind::range, "step", 100, 50);
    other.track.tid = 8;
    return std::vector<Activity>{activity_at(ActivityKind::range, "step", 0, 1000), other,
                                 work("conv", 500, time)};
  };
  const auto a = profile(300), b = profile(200);
  EXPECT_EQ(diff_rows(a, b).size(), 1U);
  EXPECT_THAT(unwrapped(diff(a, b).text), AllOf(HasSubstr("Times and counts are per iteration"),
                                                Not(HasSubstr("Outside of iterations"))));
}

TEST(ProfileDiff, AKernelCountsForTheIterationThatLaunchedIt) {
  std::vector<Activity> activities;
  for (std::int64_t i = 0; i < 3; ++i) {
    Activity range = activity_at(ActivityKind::range, "iteration", i * 1000, 100);
    Activity kernel = activity_at(ActivityKind::kernel, "gemm", i * 1000 + 200, 40 + i);
    range.attributes.set(Attribute::iteration, i);
    kernel.attributes.set(Attribute::iteration, i);
    activities.push_back(range);
    activities.push_back(kernel);
  }
  EXPECT_EQ(diff_rows(activities, activities)[0]["time_a_ns"], 41);
}

// Iterations of 1,000 ns by their ranges. Each launches a kernel of this length, which runs in the
// next one.
std::vector<Activity> late_kernels(const std::vector<std::int64_t>& times) {
  std::vector<Activity> activities;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(i) * 1000;
    Activity call = activity_at(ActivityKind::api, "cudaLaunchKernel", begin + 900, 50);
    Activity kernel = activity_at(ActivityKind::kernel, "gemm", begin + 1100, times[i]);
    kernel.track = {7, 7, 0, 1};
    call.correlation = kernel.correlation = i + 1;
    activities.push_back(activity_at(ActivityKind::range, "step", begin, 1000));
    activities.push_back(call);
    activities.push_back(kernel);
  }
  return activities;
}

// The last kernel ran after all iterations, and the first iteration seemed to have none.
TEST(ProfileDiff, AKernelThatRunsLaterCountsForTheIterationWithItsLaunch) {
  const auto a = late_kernels({10, 20, 400}), b = late_kernels({10, 20, 300});
  const json rows = diff_rows(a, b);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["time_a_ns"], 20);
  EXPECT_EQ(rows[0]["count_a"], 1);
  EXPECT_THAT(unwrapped(diff(a, b).text), Not(HasSubstr("Outside of iterations")));
}

TEST(ProfileDiff, WithoutTheCallTheWaitOfAKernelSaysWhichIterationLaunchedIt) {
  auto activities = late_kernels({10, 20, 400});
  std::erase_if(activities, [](const Activity& row) { return row.kind == ActivityKind::api; });
  for (Activity& row : activities)
    if (row.kind == ActivityKind::kernel) row.attributes.set(Attribute::wait_ns, std::int64_t{200});
  EXPECT_EQ(diff_rows(activities, activities)[0]["time_a_ns"], 20);
  EXPECT_EQ(diff_rows(activities, activities)[0]["count_a"], 1);
}

// The calls of two threads at once: the step of the launching thread counts.
TEST(ProfileDiff, AKernelCountsForTheStepOfTheThreadThatLaunchedIt) {
  std::vector<Activity> activities = late_kernels({10, 20, 30});
  for (std::int64_t i = 0; i < 3; ++i) {
    Activity other = activity_at(ActivityKind::range, "step", i * 1000 + 500, 1000);
    other.track.tid = 8;
    activities.push_back(other);
  }
  // Three of the six steps launch a kernel, so the mean of all counts.
  EXPECT_EQ(diff_rows(activities, activities)[0]["time_a_ns"], 10);
  EXPECT_EQ(diff_rows(activities, activities)[0]["count_a"], 0.5);
}

// Shares of a difference of nearly nothing would be thousands of percent.
TEST(ProfileDiff, DifferencesThatCancelHaveNoShares) {
  const std::vector<Activity> a = {work("conv", 0, 300), work("pool", 300, 101)};
  const std::vector<Activity> b = {work("conv", 0, 200), work("pool", 200, 200)};
  EXPECT_FALSE(diff_rows(a, b)[0].contains("difference_share"));
  EXPECT_THAT(unwrapped(diff(a, b).text), HasSubstr("Shares are left out"));
}

TEST(ProfileDiff, GroupsByAnyColumn) {
  AnalysisOptions options;
  options.aggregate_by = {"layer", "name"};
  Activity one = work("conv", 0, 300);
  one.scope = "net:first";
  const json rows = diff_rows({one}, {one}, options);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["layer"], "net:first");
  EXPECT_EQ(rows[0]["name"], "conv");
}

// The answer was "n/a contributes most".
TEST(ProfileDiff, ActivitiesWithoutALayerAreNotTheAnswer) {
  AnalysisOptions options;
  options.aggregate_by = {"layer"};
  Activity layer = work("conv", 100, 20), faster_layer = work("conv", 100, 10);
  layer.scope = faster_layer.scope = "net:first";
  const DiffAnswer answer =
      diff({work("copy", 0, 90), layer}, {work("copy", 0, 50), faster_layer}, options);
  EXPECT_THAT(answer.error, "");
  EXPECT_THAT(answer.text, AllOf(HasSubstr("net:first contributes most"),
                                 HasSubstr("without\nlayer contribute +40 ns, 80.0 %"),
                                 HasSubstr("(none)"), Not(HasSubstr("n/a contributes"))));
}

TEST(ProfileDiff, NonsenseIsRefused) {
  const std::vector<Activity> some = {work("conv", 0, 300)};
  EXPECT_THAT(diff({}, some).error, AllOf(HasSubstr("new.jsonl"), HasSubstr("no activities")));
  EXPECT_THAT(diff(some, {}).error, HasSubstr("old.jsonl"));
  AnalysisOptions filtered;
  filtered.name = "xyz";
  EXPECT_THAT(diff(some, some, filtered).error, HasSubstr("nothing selected"));
  EXPECT_THAT(diff(some, {activity_at(ActivityKind::operation, "conv", 0, 300)}).error,
              HasSubstr("contains primitives, kernels or copies, but `old.jsonl` operators only"));
  AnalysisOptions ordered;
  ordered.order_by = "time_ns";
  EXPECT_THAT(diff(some, some, ordered).error, HasSubstr("--order-by"));
}

TEST(ProfileDiff, EachFormatHasTheRows) {
  const std::vector<Activity> a = {work("conv", 0, 300)}, b = {work("conv", 0, 200)};
  AnalysisOptions options;
  options.format = "csv";
  const DiffAnswer csv = diff(a, b, options);
  EXPECT_EQ(csv.text,
            "type,time_a_ns,time_b_ns,difference_ns,ratio,difference_share,count_a,count_b,state\n"
            "\"conv\",300,200,100,1.5,1,1,1,\n");
  EXPECT_THAT(csv.outcome.answer, HasSubstr("new.jsonl is slower"));
  options.format = "markdown";
  EXPECT_THAT(diff(a, b, options).text, HasSubstr("| conv | 300 ns | 200 ns | 100 ns |"));
  options.format = "space";
  EXPECT_THAT(diff(a, b, options).text, HasSubstr("conv 300 200 100 "));
}

TEST(ProfileDiff, AGivenWidthDropsColumnsAsANarrowTerminalDoes) {
  AnalysisOptions options;
  options.width = 60;
  const DiffAnswer answer = diff({work("conv", 0, 300)}, {work("conv", 0, 200)}, options);
  EXPECT_EQ(answer.error, "");
  EXPECT_THAT(answer.text, HasSubstr("A - B"));
}

TEST(ProfileDiff, TheTableFitsATerminal) {
  std::istringstream lines(diff({work(std::string(60, 'x'), 0, 300)}, {work("conv", 0, 200)}).text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80U) << line;
}

}  // namespace
}  // namespace bench
