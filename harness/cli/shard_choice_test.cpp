// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shard_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace bench {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<Shard> shard_in(const Variables& variables) {
  Env env{};
  env.variable = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return shard_by_scheduler(env);
}

std::string shard_error(const Variables& variables) {
  const auto shard = shard_in(variables);
  EXPECT_FALSE(shard.ok());
  return shard.ok() ? "" : shard.error().message();
}

Variables slurm_task(const std::string& task, const std::string& first, const std::string& last,
                     const std::string& step, const std::string& count) {
  return {{"SLURM_ARRAY_TASK_ID", task},
          {"SLURM_ARRAY_TASK_MIN", first},
          {"SLURM_ARRAY_TASK_MAX", last},
          {"SLURM_ARRAY_TASK_STEP", step},
          {"SLURM_ARRAY_TASK_COUNT", count}};
}

TEST(ShardByScheduler, ATaskOfASlurmArrayIsAShard) {
  EXPECT_EQ(shard_in(slurm_task("3", "1", "8", "1", "8")).value(), (Shard{3, 8}));
  EXPECT_EQ(shard_in(slurm_task("0", "0", "7", "1", "8")).value(), (Shard{1, 8}));
  EXPECT_EQ(shard_in(slurm_task("14", "10", "16", "2", "4")).value(), (Shard{3, 4}));
  // A last index between two steps.
  EXPECT_EQ(shard_in(slurm_task("9", "1", "10", "4", "3")).value(), (Shard{3, 3}));
  EXPECT_EQ(shard_in({{"SLURM_ARRAY_TASK_ID", "2"},
                      {"SLURM_ARRAY_TASK_MIN", "1"},
                      {"SLURM_ARRAY_TASK_COUNT", "5"}})
                .value(),
            (Shard{2, 5}));
}

TEST(ShardByScheduler, APodOfAnIndexedJobIsAShard) {
  EXPECT_EQ(shard_in({{"JOB_COMPLETION_INDEX", "0"}, {"BENCH_SHARDS", "3"}}).value(),
            (Shard{1, 3}));
  EXPECT_EQ(shard_in({{"JOB_COMPLETION_INDEX", "2"}, {"BENCH_SHARDS", "3"}}).value(),
            (Shard{3, 3}));
}

TEST(ShardByScheduler, OneTaskOfAnArrayRepeatsOneShardOfSeveral) {
  Variables task = slurm_task("3", "3", "3", "1", "1");
  EXPECT_EQ(shard_in(task).value(), (Shard{1, 1}));
  task["BENCH_SHARDS"] = "8";
  EXPECT_EQ(shard_in(task).value(), (Shard{3, 8}));
}

TEST(ShardByScheduler, WithoutASchedulerTheErrorNamesBothAndTheNextStep) {
  const std::string message = shard_error({{"BENCH_SHARDS", "3"}});
  EXPECT_THAT(message, HasSubstr("SLURM_ARRAY_TASK_ID"));
  EXPECT_THAT(message, HasSubstr("JOB_COMPLETION_INDEX"));
  EXPECT_THAT(message, HasSubstr("use --shard I/N"));
}

TEST(ShardByScheduler, VariablesThatDoNotFitAreErrors) {
  EXPECT_THAT(shard_error({{"JOB_COMPLETION_INDEX", "0"}}), HasSubstr("set BENCH_SHARDS"));
  EXPECT_THAT(shard_error({{"JOB_COMPLETION_INDEX", "3"}, {"BENCH_SHARDS", "3"}}),
              HasSubstr("JOB_COMPLETION_INDEX is 3"));
  EXPECT_THAT(shard_error({{"JOB_COMPLETION_INDEX", "x"}, {"BENCH_SHARDS", "3"}}),
              HasSubstr("`x` is not the number of a shard"));
  EXPECT_THAT(shard_error({{"JOB_COMPLETION_INDEX", "0"}, {"BENCH_SHARDS", "0"}}),
              HasSubstr("BENCH_SHARDS"));
  EXPECT_THAT(shard_error(slurm_task("7", "1", "7", "1", "3")), HasSubstr("gaps"));
  EXPECT_THAT(shard_error(slurm_task("4", "1", "7", "2", "4")), HasSubstr("is 4"));
}

Plan plan_of_four() {
  Plan plan;
  plan.cases.resize(4);
  return plan;
}

Report report_of(const std::string& shard, const std::string& positions) {
  Report report;
  report.runs.emplace_back();
  report.runs[0].shard = shard;
  report.runs[0].assignment = ShardAssignment{4, positions, AssignmentRule::stored};
  return report;
}

TEST(ResumePart, AShardKeepsItsCases) {
  const auto part = resume_part(report_of("2/2", "1,4"), plan_of_four(),
                                ShardPart{{2, 2}, {4, "2,3", AssignmentRule::stored}, {1, 2}});
  ASSERT_TRUE(part.ok() && *part);
  EXPECT_THAT((*part)->cases, testing::ElementsAre(0, 3));
  EXPECT_EQ(format_part(**part), "shard 2 of 2: 2 of 4 cases, as the resumed run assigned them");
}

TEST(ResumePart, TheFileOfAnotherShardIsRefused) {
  const auto part = resume_part(report_of("2/2", "1,4"), plan_of_four(),
                                ShardPart{{1, 2}, {4, "2,3", AssignmentRule::stored}, {1, 2}});
  ASSERT_FALSE(part.ok());
  EXPECT_THAT(part.error().message(), HasSubstr("shard 2/2, and --shard selects 1/2"));
}

TEST(ResumePart, CasesThatThePlanDoesNotHaveAreRefused) {
  EXPECT_FALSE(resume_part(report_of("2/2", "1,5"), plan_of_four(), std::nullopt).ok());
  EXPECT_FALSE(resume_part(report_of("x", "1,4"), plan_of_four(), std::nullopt).ok());
}

TEST(ResumePart, AFileWithoutAShardChangesNothing) {
  EXPECT_FALSE(resume_part({}, plan_of_four(), std::nullopt).value());
}

TEST(FormatPart, SaysWhatTheAssignmentIsBasedOn) {
  using namespace std::chrono_literals;
  ShardPart part{
      {2, 4}, {48, "1-12", AssignmentRule::stored}, std::vector<std::size_t>(12), 40, 33s, 34s};
  EXPECT_EQ(format_part(part),
            "shard 2 of 4: 12 of 48 cases, about 33 s (the longest shard: 34 s), assigned by "
            "stored times of 40 cases and estimates of the others");
  part.stored = 48;
  EXPECT_THAT(format_part(part), testing::EndsWith("assigned by stored times"));
  part.assignment.rule = AssignmentRule::order;
  EXPECT_THAT(format_part(part), HasSubstr("in the order of the plan"));
}

}  // namespace
}  // namespace bench
