// SPDX-License-Identifier: Apache-2.0
// libbench_profile.so in a user's program.
#include "tests/support/program.hpp"
#include "tests/support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace bench::test::profiler_library_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Environment = std::map<std::string, std::string>;

class ProfilerLibrary : public ::testing::Test {
 protected:
  ProgramResult run(const std::string& mode, const Environment& environment = {}) {
    return run_program({{BENCH_PROFILED_PROGRAM, mode}, folder_.path(), environment});
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Returns the activities of a profile, each line of which must be valid, without the times of the
  // process.
  static std::vector<json> activities(const std::string& path) {
    std::vector<json> records = records_of_kind(read_text(path), "activity");
    std::erase_if(records, [](const json& record) { return record.at("kind") == "process"; });
    return records;
  }

  // Returns the times of the process in a profile.
  static std::vector<json> processes(const std::string& path) {
    return of_kind(records_of_kind(read_text(path), "activity"), "process");
  }

  static std::int64_t end_of(const json& record) {
    return record["start_ns"].get<std::int64_t>() + record["duration_ns"].get<std::int64_t>();
  }

  std::vector<json> only_profile() const {
    const std::vector<std::string> names = files();
    EXPECT_EQ(names.size(), 1U);
    if (names.empty()) return {};
    EXPECT_THAT(names[0], HasSubstr("/profile-"));
    return activities(names[0]);
  }

  static std::vector<std::string> activity_names(const std::vector<json>& records) {
    std::vector<std::string> names;
    for (const json& record : records) names.push_back(record.at("name"));
    return names;
  }

  static std::vector<json> of_kind(const std::vector<json>& records, const std::string& kind) {
    std::vector<json> found;
    for (const json& record : records) {
      if (record.at("kind") == kind) found.push_back(record);
    }
    return found;
  }

  TemporaryFolder folder_;
};

TEST_F(ProfilerLibrary, WithoutStartNothingIsWritten) {
  const ProgramResult result = run("plain");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ProfilerLibrary, ARankIsInTheNameAndTheClocksAreInTheFirstAndLastRecord) {
  ASSERT_EQ(run("all", {{"PMI_RANK", "2"}}).status, 0);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_THAT(files()[0], HasSubstr("/profile-rank2-"));
  const std::string text = read_text(files()[0]);
  const json first = records_of_kind(text, "profile").at(0).at("environment").at("details");
  const json last = records_of_kind(text, "profile_end").at(0).at("environment").at("details");
  EXPECT_EQ(first.at("rank"), "2");
  const auto time = [](const json& details, const char* name) {
    return std::stoll(details.at(name).get<std::string>());
  };
  EXPECT_LE(time(first, "clock.start.monotonic_ns"), time(last, "clock.end.monotonic_ns"));
}

TEST_F(ProfilerLibrary, EachObjectIsRecordedWithDomainAndRole) {
  ASSERT_EQ(run("all").status, 0);
  const std::vector<json> records = only_profile();
  const std::vector<json> ranges = of_kind(records, "range");
  ASSERT_THAT(activity_names(ranges),
              ElementsAre("epoch", "step", "load", "attention", "a:b", "encoder"));
  EXPECT_EQ(ranges[0]["attributes"], json({{"domain", "training"}, {"role", "task"}}));
  EXPECT_EQ(ranges[1]["attributes"], json({{"domain", "training"}, {"role", "frame"}}));
  EXPECT_EQ(ranges[2]["attributes"], json({{"role", "event"}}));
  EXPECT_EQ(ranges[3]["scope"], "encoder:a\\:b");
  for (const json& range : ranges) EXPECT_GE(range["duration_ns"].get<std::int64_t>(), 0);
}

TEST_F(ProfilerLibrary, CountersAndMarkersHaveTheirValuesAndScopes) {
  ASSERT_EQ(run("all").status, 0);
  const std::vector<json> records = only_profile();
  std::vector<double> values;
  for (const json& counter : of_kind(records, "counter")) {
    EXPECT_EQ(counter["name"], "samples");
    values.push_back(counter["attributes"]["value"]);
  }
  EXPECT_THAT(values, ElementsAre(8, -2, 7, 8, 6));
  std::vector<std::string> scopes;
  for (const json& marker : of_kind(records, "marker")) {
    EXPECT_EQ(marker["attributes"]["domain"], "training");
    EXPECT_FALSE(marker.contains("duration_ns"));
    scopes.push_back(marker["attributes"]["marker_scope"]);
  }
  EXPECT_THAT(scopes, ElementsAre("process", "global", "thread", "task", "marker"));
}

TEST_F(ProfilerLibrary, PauseAndStopEndRecordingAndResumeAndStartGoOn) {
  ASSERT_EQ(run("pause").status, 0);
  EXPECT_THAT(activity_names(only_profile()), ElementsAre("first", "last", "again"));
}

TEST_F(ProfilerLibrary, TheProcessIsRecordedFromTheStartToTheEnd) {
  ASSERT_EQ(run("plain", {{"BENCH_PROFILE_AUTOSTART", "1"}}).status, 0);
  const std::vector<json> spans = processes(files()[0]);
  ASSERT_EQ(spans.size(), 1U);
  const std::vector<json> records = only_profile();
  EXPECT_LT(spans[0]["start_ns"], records.front()["start_ns"]);
  EXPECT_GE(end_of(spans[0]), records.back()["start_ns"].get<std::int64_t>());
  EXPECT_EQ(spans[0]["name"], fs::path(BENCH_PROFILED_PROGRAM).filename().string());
  EXPECT_EQ(spans[0]["pid"], records.front()["pid"]);
}

// Pauses are as little part of the wall time as what is outside of a window of `bench profile`.
TEST_F(ProfilerLibrary, EachTimeBetweenPausesIsATimeOfTheProcess) {
  ASSERT_EQ(run("pause").status, 0);
  const std::vector<json> spans = processes(files()[0]);
  const std::vector<json> ranges = only_profile();
  ASSERT_EQ(spans.size(), 3U);
  ASSERT_EQ(ranges.size(), 3U);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_LE(spans[i]["start_ns"], ranges[i]["start_ns"]);
    EXPECT_GE(end_of(spans[i]), end_of(ranges[i]));
  }
}

TEST_F(ProfilerLibrary, EveryDumpIsComplete) {
  // Each dump also adds the time of the process since the last one.
  EXPECT_EQ(run("dump").out, "3\n5\n6\n");
  EXPECT_EQ(only_profile().size(), 2U);
}

TEST_F(ProfilerLibrary, AKilledProgramLeavesAValidFile) {
  EXPECT_EQ(run("killed").status, 128 + 9);
  EXPECT_GE(only_profile().size(), 2U);
}

TEST_F(ProfilerLibrary, CountersStayAtTheirLimits) { EXPECT_EQ(run("limits").out, "1\n1\n"); }

TEST_F(ProfilerLibrary, AChildWritesAFileOfItsOwn) {
  ASSERT_EQ(run("fork").status, 0);
  const std::vector<std::string> names = files();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_THAT(names[0], HasSubstr("/mine-"));
  EXPECT_THAT(activity_names(activities(names[0])), ElementsAre("in child"));
  EXPECT_THAT(names[1], HasSubstr("/mine.jsonl"));
  EXPECT_THAT(activity_names(activities(names[1])), ElementsAre("before", "after", "parent"));
  EXPECT_NE(activities(names[0])[0]["pid"], activities(names[1])[0]["pid"]);
}

TEST_F(ProfilerLibrary, ThreadsRecordAtOnce) {
  EXPECT_EQ(run("threads").out, "1000\n");
  const std::vector<json> records = only_profile();
  EXPECT_EQ(of_kind(records, "range").size(), 2000U);
  const std::vector<json> counters = of_kind(records, "counter");
  ASSERT_EQ(counters.size(), 1000U);
  EXPECT_EQ(counters.back()["attributes"]["value"], 1000);
}

TEST_F(ProfilerLibrary, AutostartRecordsWithoutAChangeOfTheProgram) {
  ASSERT_EQ(run("plain", {{"BENCH_PROFILE_AUTOSTART", "1"}}).status, 0);
  EXPECT_EQ(only_profile().size(), 6U + 5U + 5U);
}

TEST_F(ProfilerLibrary, ASwitchedOffGroupRemovesItsRows) {
  ASSERT_EQ(run("plain", {{"BENCH_PROFILE_AUTOSTART", "1"}, {"BENCH_PROFILE_KINDS", "api,memory"}})
                .status,
            0);
  EXPECT_THAT(only_profile(), IsEmpty());
}

TEST_F(ProfilerLibrary, ABadVariableIsNamedAndTheProfilerStaysOff) {
  const ProgramResult result =
      run("all", {{"BENCH_PROFILE_DUMP_PERIOD", "often"}, {"BENCH_PROFILE_AUTOSTART", "1"}});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("BENCH_PROFILE_DUMP_PERIOD"));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(ProfilerLibrary, BadCallsReturnFalseAndSayWhy) {
  const ProgramResult result = run("bad");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.substr(0, 2), "0 ");
  EXPECT_THAT(result.out, HasSubstr("unknown switch `knds`"));
  EXPECT_THAT(result.out, HasSubstr("kinds"));
  EXPECT_EQ(result.out.substr(result.out.size() - 3), " 0\n");
  EXPECT_THAT(result.err, HasSubstr("/nowhere/at/all.jsonl"));
}

TEST_F(ProfilerLibrary, SumsAreTextAndJson) {
  const json sums = json::parse(run("sums").out);
  EXPECT_THAT(sums.dump(), HasSubstr("\"load\""));
  EXPECT_THAT(sums.dump(), HasSubstr("\"count\":2"));
  const std::string table = run("table").out;
  for (const char* name : {"epoch", "step", "training", "samples"}) {
    EXPECT_THAT(table, HasSubstr(name));
  }
  EXPECT_THAT(table, Not(HasSubstr("unfinished"))) << "markers are instants";
}

}  // namespace
}  // namespace bench::test::profiler_library_test
