// SPDX-License-Identifier: Apache-2.0
#include "profiler/profile_set.hpp"

#include "base/version.hpp"
#include "profiler/activity_file.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/rank.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The true time, which no machine knows exactly.
struct TrueTime {
  Nanoseconds now{1'700'000'000s};
};

// A clock of a machine: it is off by a constant. Each reading takes a while.
class MachineClock final : public Clock {
 public:
  MachineClock(TrueTime& time, Nanoseconds offset, Nanoseconds cost = 30ns)
      : time_(time), offset_(offset), cost_(cost) {}
  Nanoseconds now() override {
    time_.now += cost_;
    return time_.now + offset_;
  }

 private:
  TrueTime& time_;
  Nanoseconds offset_, cost_;
};

Activity kernel(const std::string& name, Nanoseconds start, std::int64_t pid = 7) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = name;
  activity.start = start;
  activity.duration = 10ns;
  activity.track = {pid, pid, std::nullopt, std::nullopt};
  return activity;
}

class Collected final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    all.push_back(activity);
    return Done{};
  }
  std::vector<Activity> all;
};

class ProfileSets : public testing::Test {
 protected:
  // Writes a profile and returns its path.
  std::string write(const std::string& name, const ProfileClocks& clocks,
                    const std::vector<Activity>& activities,
                    std::optional<std::int64_t> rank = std::nullopt) {
    ProfileHeader header{"1", "2026-01-01T00:00:00Z", {}};
    describe_clocks(clocks, header.details);
    if (rank) describe_rank({*rank, "RANK"}, header.details);
    const std::string path = folder_.file(name);
    auto file = ActivityFile::create(path, Existing::replace, header);
    EXPECT_TRUE(file.ok());
    for (const Activity& activity : activities) EXPECT_TRUE((*file)->consume(activity).ok());
    return path;
  }

  static ProfileClocks at(Nanoseconds realtime, Nanoseconds monotonic, std::string boot) {
    return {ClockPair{realtime, monotonic}, std::nullopt, std::move(boot)};
  }

  // Reads the files, and returns the activities and what is stated about the clocks.
  struct Reading {
    std::vector<Activity> activities;
    std::vector<std::string> statements;
    ReadReport report;
  };
  static Reading read(const std::vector<std::string>& paths,
                      Alignment alignment = Alignment::clock) {
    Reading reading;
    auto set = ProfileSet::open(paths, alignment);
    EXPECT_TRUE(set.ok()) << (set.ok() ? "" : set.error().message());
    if (!set.ok()) return reading;
    Collected collected;
    auto report = set->read(collected);
    EXPECT_TRUE(report.ok());
    if (report.ok()) reading.report = *std::move(report);
    reading.activities = std::move(collected.all);
    reading.statements = set->statements();
    return reading;
  }
  static std::string error_of(const std::vector<std::string>& paths,
                              Alignment alignment = Alignment::clock) {
    const auto set = ProfileSet::open(paths, alignment);
    return set.ok() ? "" : set.error().message();
  }

  test::TemporaryFolder folder_;
};

// Two machines that were started days apart, with realtime clocks which agree, record one moment.
TEST_F(ProfileSets, OneMomentOnTwoMachinesIsTheSameWithinAMillisecond) {
  TrueTime time;
  const Nanoseconds started_a = 1'699'000'000s, started_b = 1'699'999'000s;
  MachineClock monotonic_a(time, -started_a), realtime_a(time, 20us);
  MachineClock monotonic_b(time, -started_b), realtime_b(time, -30us);
  ProfileClocks a{read_clock_pair(realtime_a, monotonic_a), std::nullopt, "a"};
  time.now += 3s;
  ProfileClocks b{read_clock_pair(realtime_b, monotonic_b), std::nullopt, "b"};
  time.now += 2s;
  const Nanoseconds moment = time.now;
  time.now += 5s;
  a.end = read_clock_pair(realtime_a, monotonic_a);
  b.end = read_clock_pair(realtime_b, monotonic_b);
  const Reading reading = read({write("a.jsonl", a, {kernel("x", moment - started_a, 1)}),
                                write("b.jsonl", b, {kernel("x", moment - started_b, 2)})});
  ASSERT_EQ(reading.activities.size(), 2U);
  const Nanoseconds error = reading.activities[1].start - reading.activities[0].start;
  EXPECT_LT(std::abs(error.count()), 1'000'000);
  EXPECT_THAT(
      reading.statements,
      ElementsAre(HasSubstr("a.jsonl."), AllOf(HasSubstr("b.jsonl: offset +"), HasSubstr(" ns)"),
                                               HasSubstr("as exact as the realtime clocks"))));
}

// NTP may set the realtime clock between two recordings; the monotonic clock is not set.
TEST_F(ProfileSets, FilesOfOneMachineNeedNoRealtimeClock) {
  const Reading reading = read({write("a.jsonl", at(100s, 10s, "boot"), {kernel("x", 11s, 1)}),
                                write("b.jsonl", at(500s, 12s, "boot"), {kernel("y", 13s, 2)})});
  ASSERT_EQ(reading.activities.size(), 2U);
  EXPECT_EQ(reading.activities[1].start, 13s);
  EXPECT_THAT(reading.statements,
              ElementsAre(HasSubstr("a.jsonl."),
                          HasSubstr("b.jsonl: offset 0 ns, recorded on the same machine")));
}

// A machine that was started later counts less time. Trace viewers have no times before 0.
TEST_F(ProfileSets, NoTimeIsNegativeOnTheCommonClock) {
  const Reading reading = read({write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 11s, 1)}),
                                write("b.jsonl", at(100s, 50s, "b"), {kernel("y", 51s, 2)}),
                                write("c.jsonl", at(100s, 99s, "c"), {kernel("z", 100s, 3)})});
  ASSERT_EQ(reading.activities.size(), 3U);
  for (const Activity& activity : reading.activities) EXPECT_EQ(activity.start, 100s);
  EXPECT_THAT(reading.statements.front(), HasSubstr("clock of " + folder_.file("c.jsonl")));
}

TEST_F(ProfileSets, AllFilesOfOneBootHaveOneOffset) {
  const Reading reading = read({write("a.jsonl", at(100s, 90s, "a"), {kernel("x", 91s, 1)}),
                                write("b.jsonl", at(100s, 10s, "b"), {kernel("y", 11s, 2)}),
                                write("c.jsonl", at(500s, 12s, "b"), {kernel("z", 13s, 3)})});
  ASSERT_EQ(reading.activities.size(), 3U);
  EXPECT_EQ(reading.activities[1].start, 91s);
  EXPECT_EQ(reading.activities[2].start, 93s);
}

TEST_F(ProfileSets, AFileWithoutClocksKeepsItsTimesAndSaysSo) {
  const Reading reading = read({write("a.jsonl", {}, {kernel("x", 1s, 1)}),
                                write("b.jsonl", at(100s, 10s, "b"), {kernel("y", 2s, 2)})});
  ASSERT_EQ(reading.activities.size(), 2U);
  EXPECT_EQ(reading.activities[0].start, 1s);
  EXPECT_EQ(reading.activities[1].start, 2s);
  EXPECT_THAT(reading.statements,
              ElementsAre(HasSubstr("clock of " + folder_.file("b.jsonl")),
                          AllOf(HasSubstr("a.jsonl: offset 0 ns, since no clocks are stated"),
                                HasSubstr("--align start"))));
  EXPECT_THAT(read({write("c.jsonl", {}, {}), write("d.jsonl", {}, {})}).statements,
              ElementsAre(HasSubstr("No file states its clocks")));
}

TEST_F(ProfileSets, FirstActivitiesAreAlignedIfTheUserAsks) {
  const Reading reading =
      read({write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 20s, 1), kernel("w", 15s, 1)}),
            write("b.jsonl", {}, {kernel("y", 2s, 2)})},
           Alignment::start);
  ASSERT_EQ(reading.activities.size(), 3U);
  EXPECT_EQ(reading.activities[2].start, 15s);
  EXPECT_THAT(reading.statements,
              ElementsAre(HasSubstr("a.jsonl."),
                          HasSubstr("b.jsonl: offset +13.00 s (+13000000000 ns), so that")));
}

TEST_F(ProfileSets, ClocksThatDriftedApartAreStated) {
  ProfileClocks moved = at(100s, 10s, "b");
  moved.end = ClockPair{200s + 6ms, 110s};
  EXPECT_THAT(read({write("a.jsonl", at(100s, 10s, "a"), {}), write("b.jsonl", moved, {})})
                  .statements.back(),
              HasSubstr("drifted 6.000 ms apart"));
}

// In containers, the processes of all machines have the same numbers.
TEST_F(ProfileSets, ProcessesOfOtherMachinesOrRanksHaveNumbersOfTheirOwn) {
  const Reading machines = read({write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 11s)}),
                                 write("b.jsonl", at(100s, 10s, "b"), {kernel("y", 11s)})});
  ASSERT_EQ(machines.activities.size(), 2U);
  EXPECT_NE(machines.activities[1].track.pid, 7);
  EXPECT_EQ(machines.activities[1].track.tid, machines.activities[1].track.pid);
  EXPECT_THAT(machines.statements.back(), HasSubstr("b.jsonl: process 7 is shown as "));
  const Reading ranks = read({write("c.jsonl", at(100s, 10s, "a"), {kernel("x", 11s)}, 0),
                              write("d.jsonl", at(100s, 10s, "a"), {kernel("y", 11s)}, 1)});
  ASSERT_EQ(ranks.activities.size(), 2U);
  EXPECT_NE(ranks.activities[1].track.pid, 7);
}

// The files of `bench profile` and of libbench_profile.so are of one process.
TEST_F(ProfileSets, AProcessOfOneMachineKeepsItsNumberInAllFiles) {
  const Reading reading = read({write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 11s)}),
                                write("b.jsonl", at(100s, 11s, "a"), {kernel("y", 11s)})});
  ASSERT_EQ(reading.activities.size(), 2U);
  EXPECT_EQ(reading.activities[1].track.pid, 7);
}

TEST_F(ProfileSets, TheRankOfAFileIsThatOfItsActivities) {
  Activity own = kernel("z", 12s);
  own.attributes.set(Attribute::rank, std::int64_t{5});
  const Reading reading = read({write("a.jsonl", {}, {kernel("x", 11s), own}, 3)});
  ASSERT_EQ(reading.activities.size(), 2U);
  EXPECT_EQ(reading.activities[0].attributes.integer(Attribute::rank), 3);
  EXPECT_EQ(reading.activities[1].attributes.integer(Attribute::rank), 5);
}

TEST_F(ProfileSets, OneFileNeedsNoStatement) {
  const Reading reading = read({write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 11s)})});
  EXPECT_THAT(reading.statements, IsEmpty());
  EXPECT_EQ(reading.activities.size(), 1U);
}

TEST_F(ProfileSets, TheSameProfileTwiceIsRefused) {
  const std::string a = write("a.jsonl", at(100s, 10s, "a"), {kernel("x", 11s)});
  EXPECT_THAT(error_of({a, folder_.path() + "/./a.jsonl"}), HasSubstr("is the same file as"));
  const std::string copy = folder_.write("copy.jsonl", test::read_text(a));
  EXPECT_THAT(error_of({a, copy}), HasSubstr("is a copy of"));
  // Profiles of earlier versions may have equal headers.
  EXPECT_EQ(error_of({write("b.jsonl", {}, {}), write("c.jsonl", {}, {})}), "");
}

// Regression test: a result and a copy of it used to be called a file without activities.
TEST_F(ProfileSets, ACopyOfAFileWithoutClocksIsRefused) {
  const std::string a = write("a.jsonl", {}, {kernel("x", 11s)});
  const std::string copy = folder_.write("copy.jsonl", test::read_text(a));
  EXPECT_THAT(error_of({a, copy}), HasSubstr("is a copy of"));
  EXPECT_EQ(error_of({a, write("b.jsonl", {}, {kernel("x", 12s)})}), "");
}

// Regression test: the second side of a comparison used to have no activities.
TEST_F(ProfileSets, OfTwoSidesEachHasARunThatBothContain) {
  const std::string text = R"({"record":"run","schema":"bench.result/1","run_id":"r"})"
                           "\n" +
                           to_json_line(kernel("x", 11s), "r") + "\n" +
                           R"({"record":"profile_pass","run_id":"r","id":"","outcome":"ok"})"
                           "\n";
  const std::vector<std::string> paths = {folder_.write("a.jsonl", text),
                                          folder_.write("b.jsonl", text + "\n")};
  auto set = ProfileSet::open(paths, Alignment::clock);
  ASSERT_TRUE(set.ok());
  for (const std::size_t side : {0U, 1U}) {
    Collected collected;
    EXPECT_TRUE(set->input(side).read(collected).ok());
    EXPECT_EQ(collected.all.size(), 1U);
  }
}

TEST_F(ProfileSets, FilesOfDifferentKindsAreRefused) {
  const std::string a = write("a.jsonl", {}, {kernel("x", 11s)});
  const std::string log =
      folder_.write("log",
                    "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:a:f0 "
                    "dst_f32::blocked:a:f0,,,1,0.5\n");
  EXPECT_THAT(error_of({a, log}),
              AllOf(HasSubstr("is a log of oneDNN, but"), HasSubstr("is a profile of a program")));
}

// Timestamps of oneDNN are by the realtime clock. In each log, the program has no number.
TEST_F(ProfileSets, TimesOfLogsAreAsRecordedAndTheirProcessesApart) {
  const auto log = [&](const std::string& name, const std::string& time) {
    return folder_.write(name, "onednn_verbose," + time +
                                   ",exec,cpu,reorder,jit:uni,undef,src_f32::blocked:a:f0 "
                                   "dst_f32::blocked:a:f0,,,1,0.5\n");
  };
  const Reading reading = read({log("a.log", "1700000000000.5"), log("b.log", "1700000000001.5")});
  ASSERT_EQ(reading.activities.size(), 2U);
  EXPECT_EQ(reading.activities[1].start - reading.activities[0].start, 1ms);
  EXPECT_NE(reading.activities[1].track.pid, reading.activities[0].track.pid);
  EXPECT_THAT(reading.statements, ElementsAre(HasSubstr("by the realtime clocks")));
  const std::string untimed =
      "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:a:f0 "
      "dst_f32::blocked:a:f0,,,1,0.5\n";
  const std::string slower = untimed.substr(0, untimed.size() - 2) + "6\n";
  EXPECT_THAT(
      read({folder_.write("c.log", untimed), folder_.write("d.log", slower)}).statements,
      ElementsAre(HasSubstr("c.log has durations only"), HasSubstr("d.log has durations only")));
}

// An audit of several files must not forget what the second one lost.
TEST_F(ProfileSets, WhatFilesStateAboutTheirRecordingIsAdded) {
  const auto text = [](int lost, int records) {
    return fmt::format(
        "{{\"record\":\"profile\",\"schema\":\"bench.profile/1\",\"environment\":{{\"details\":"
        "{{\"recorded.lost_samples\":\"{}\",\"incomplete\":\"disk {}\"}}}}}}\n"
        "{{\"record\":\"profile_end\",\"activities\":{}}}\n",
        lost, lost, records);
  };
  const std::string a = folder_.write("a.jsonl", text(2, 10));
  const ReadReport one = read({a}).report;
  EXPECT_EQ(one.stated_activities, 10);
  const ReadReport both = read({a, folder_.write("b.jsonl", text(5, 20))}).report;
  EXPECT_EQ(both.stated_activities, 30);
  EXPECT_EQ(both.facts.at("recorded.lost_samples"), "7");
  EXPECT_EQ(both.facts.at("incomplete"), "disk 2; disk 5");
  EXPECT_EQ(read({a, write("c.jsonl", {}, {})}).report.stated_activities, std::nullopt);
}

TEST_F(ProfileSets, TheSameCaseInTwoResultsHasTwoPassesAndIsNotBroken) {
  const auto text = [](const std::string& run) {
    return fmt::format(
        R"({{"record":"run","schema":"bench.result/1","run_id":"{0}"}})"
        "\n"
        R"({{"record":"activity","kind":"range","name":"i","start_ns":1000,"duration_ns":{1},)"
        R"("pid":7,"tid":7,"run_id":"{0}","id":"c","attributes":{{"iteration":0}}}})"
        "\n"
        R"({{"record":"profile_pass","run_id":"{0}","id":"c","outcome":"ok","activities":1,)"
        R"("wall_ns":{1},"attributed_ns":{1},"unattributed_ns":0}})"
        "\n",
        run, run == "r" ? 500 : 700);
  };
  const std::vector<std::string> paths = {folder_.write("r.jsonl", text("r")),
                                          folder_.write("s.jsonl", text("s"))};
  auto set = ProfileSet::open(paths, Alignment::clock);
  ASSERT_TRUE(set.ok());
  ProfileAuditor auditor;
  const auto report = set->read(auditor);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->passes.size(), 2U);
  EXPECT_EQ(report->repeated_passes, 1);
  const ProfileAudit audit = auditor.finish(*report);
  EXPECT_NE(audit.verdict(), AuditVerdict::broken) << describe_audit(audit);
  EXPECT_EQ(audit.completeness->found, 2);
}

TEST_F(ProfileSets, FactsThatDifferNameTheirFile) {
  const Reading reading = read({write("a.jsonl", {}, {}, 0), write("b.jsonl", {}, {}, 1)});
  EXPECT_EQ(reading.report.facts.at("rank"), "0");
  EXPECT_EQ(reading.report.facts.at("rank (" + folder_.file("b.jsonl") + ")"), "1");
  EXPECT_EQ(reading.report.facts.at("rank.variable"), "RANK");
}

}  // namespace
}  // namespace bench
