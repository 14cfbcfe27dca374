// SPDX-License-Identifier: Apache-2.0
#include "harness/result/shard_coverage.hpp"

#include "harness/result/shard_positions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Positions = std::vector<std::size_t>;

TEST(ShardPositions, TextAndIndicesAreEqual) {
  EXPECT_EQ(format_positions(Positions{0, 4, 8, 9, 10, 11}), "1,5,9-12");
  EXPECT_EQ(format_positions(Positions{}), "");
  EXPECT_EQ(parse_positions("1,5,9-12", 12), (Positions{0, 4, 8, 9, 10, 11}));
  EXPECT_EQ(parse_positions("", 12), Positions{});
}

TEST(ShardPositions, OtherTextsAreRefused) {
  for (const char* text : {"0", "13", "1,", ",1", "2-1", "1-3,3", "4,2", "x", "1-", "-1", "1--2",
                           "1-99999999999999999999"})
    EXPECT_FALSE(parse_positions(text, 12)) << text;
}

TEST(ShardPositions, AShardIsAtMostTheNumberOfShards) {
  EXPECT_EQ(parse_shard("2/4"), (Shard{2, 4}));
  for (const char* text : {"0/4", "5/4", "4", "/4", "1/", "a/b", "auto"})
    EXPECT_FALSE(parse_shard(text)) << text;
}

// A report in which shard INDEX of 3 has the positions and finished all of them.
void add_shard(Report& report, int index, const std::string& positions,
               const std::string& suffix = "") {
  RunRecord run;
  run.run_id = "run" + std::to_string(index) + suffix;
  run.config_name = "suite";
  run.config_hash = "h";
  run.shard = format_shard({index, 3});
  run.assignment = ShardAssignment{6, positions, AssignmentRule::estimated};
  const auto part = parse_positions(positions, 6);
  for (const std::size_t position : part.value_or(Positions{})) {
    CaseRecord record;
    record.run_id = run.run_id;
    record.id = "case" + std::to_string(position);
    report.cases.push_back(record);
  }
  report.runs.push_back(std::move(run));
}

TEST(ShardCoverage, AWholePlanHasNoProblem) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 2, "2,5");
  add_shard(report, 3, "3,6");
  EXPECT_THAT(check_shards(report).problems, IsEmpty());
  EXPECT_EQ(check_shards(report).shards, 3U);
  EXPECT_EQ(check_shards({}).shards, 0U);
}

TEST(ShardCoverage, AMissingShardIsNamedWithItsCases) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 3, "3,6");
  EXPECT_THAT(check_shards(report).problems,
              ElementsAre("Shard 2 of 3 of `suite` is missing, with 2 of the plan's 6 cases; "
                          "`bench run CONFIG --shard 2/3` measures it."));
  report.runs.pop_back();
  EXPECT_THAT(check_shards(report).problems,
              ElementsAre(HasSubstr("Shards 2-3 of 3 of `suite` are missing, with 4 of")));
}

TEST(ShardCoverage, AShardThatEndedEarlySaysHowMuchIsOpen) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 2, "2,5");
  add_shard(report, 3, "3,6");
  report.cases.back().flags = {Flag::interrupted};
  EXPECT_THAT(check_shards(report).problems,
              ElementsAre(HasSubstr("Shard 3 of 3 of `suite` ended early: 1 of its 2 cases is")));
}

TEST(ShardCoverage, PartsByDifferentInputsDoNotFit) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 2, "2,4");
  add_shard(report, 3, "3,6");
  EXPECT_THAT(check_shards(report).problems,
              ElementsAre(HasSubstr("1 case is in several shards, 1 in none")));
}

TEST(ShardCoverage, ARepeatedShardIsNamedButNotAResumedOne) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 2, "2,5");
  add_shard(report, 3, "3,6");
  RunRecord again = report.runs.back();
  again.run_id = "later";
  again.resumes = "run3";
  report.runs.push_back(again);
  EXPECT_THAT(check_shards(report).problems, IsEmpty());
  report.runs.back().resumes = std::nullopt;
  EXPECT_THAT(check_shards(report).problems, ElementsAre(HasSubstr("was measured 2 times")));
  EXPECT_EQ(check_shards(report).gaps, 0U);
}

TEST(ShardCoverage, ShardsOfOlderFilesAreOnlyCounted) {
  Report report;
  add_shard(report, 1, "1,4");
  add_shard(report, 3, "3,6");
  for (RunRecord& run : report.runs) run.assignment = std::nullopt;
  EXPECT_THAT(check_shards(report).problems,
              ElementsAre("Shard 2 of 3 of `suite` is missing; `bench run CONFIG --shard 2/3` "
                          "measures it."));
}

}  // namespace
}  // namespace bench
