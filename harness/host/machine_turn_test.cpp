// SPDX-License-Identifier: Apache-2.0
#include "harness/host/machine_turn.hpp"

#include "tests/fakes/fake_clock.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MachineTurnTest : public testing::Test {
 protected:
  // A measurement of a process that is alive until ended_ contains its number.
  TurnRequest request(std::int64_t process, const std::string& command) {
    TurnRequest request;
    request.file = file_;
    request.own = {process, 7, "pid:[1]", "2026-11-21T08:00:00Z", command};
    request.limit = 10s;
    request.message = [this](const std::string& text) { messages_.push_back(text); };
    request.pause = [this](Nanoseconds time) {
      clock_.advance(time);
      ++pauses_;
      if (on_pause_) on_pause_();
    };
    request.is_alive = [this](const TurnEntry& entry) { return !ended_.contains(entry.process); };
    return request;
  }
  std::unique_ptr<MachineTurn> take(const TurnRequest& request) {
    auto turn = MachineTurn::take(request, clock_);
    if (!turn.ok()) {
      error_ = turn.error().message();
      return nullptr;
    }
    return std::make_unique<MachineTurn>(*std::move(turn));
  }

  test::TemporaryFolder folder_;
  std::string file_ = folder_.file("bench.lock");
  test::FakeClock clock_;
  std::vector<std::string> messages_;
  std::set<std::int64_t> ended_;
  std::function<void()> on_pause_;
  int pauses_ = 0;
  std::string error_;
};

TEST_F(MachineTurnTest, AMeasurementWaitsForAnotherOneAndSaysForWhich) {
  auto first = take(request(1, "bench run a.yaml"));
  EXPECT_THAT(messages_, IsEmpty());
  on_pause_ = [&] {
    if (pauses_ == 3) first.reset();
    if (pauses_ == 3) ended_ = {1};
  };
  const auto second = take(request(2, "bench gate b.yaml"));
  ASSERT_TRUE(second);
  EXPECT_EQ(pauses_, 3);
  EXPECT_THAT(messages_,
              ElementsAre("waits at most 10.00 s for another measurement on this machine: process "
                          "1, `bench run a.yaml`, since 2026-11-21T08:00:00Z; --beside run "
                          "measures at once",
                          "measures now, after 300.0 ms"));
  EXPECT_THAT(second->beside(), IsEmpty());
  EXPECT_THAT(second->joined(), IsEmpty());
}

TEST_F(MachineTurnTest, AfterTheLimitItRunsBesideAndBothKnow) {
  const auto first = take(request(1, "bench run a.yaml"));
  const auto second = take(request(2, "bench run b.yaml"));
  ASSERT_TRUE(second);
  EXPECT_EQ(clock_.now(), 10s);
  EXPECT_THAT(messages_.back(), HasSubstr("measures beside process 1, `bench run a.yaml`"));
  EXPECT_THAT(second->beside(), ElementsAre(HasSubstr("process 1, `bench run a.yaml`")));
  EXPECT_THAT(second->joined(), IsEmpty());
  EXPECT_THAT(first->beside(), IsEmpty());
  EXPECT_THAT(first->joined(), ElementsAre(HasSubstr("process 2, `bench run b.yaml`")));
}

TEST_F(MachineTurnTest, ItRefusesOrRunsAtOnceIfAsked) {
  const auto first = take(request(1, "bench run a.yaml"));
  TurnRequest refusing = request(2, "bench run b.yaml");
  refusing.beside = Beside::refuse;
  EXPECT_FALSE(take(refusing));
  EXPECT_EQ(error_,
            "--beside: another measurement runs on this machine: process 1, `bench run a.yaml`, "
            "since 2026-11-21T08:00:00Z; start again after its end, or with --beside wait or "
            "--beside run");
  TurnRequest running = request(3, "bench run c.yaml");
  running.beside = Beside::run;
  EXPECT_THAT(take(running)->beside(), ElementsAre(HasSubstr("process 1")));
  EXPECT_EQ(pauses_, 0);
}

// The one that runs beside the first has no lock, so the lock alone would not show it.
TEST_F(MachineTurnTest, AThirdOneWaitsForTheOneThatRunsBesideTheFirst) {
  auto first = take(request(1, "bench run a.yaml"));
  TurnRequest running = request(2, "bench run b.yaml");
  running.beside = Beside::run;
  const auto second = take(running);
  first.reset();
  ended_ = {1};
  on_pause_ = [&] {
    if (pauses_ == 2) ended_ = {1, 2};
  };
  const auto third = take(request(3, "bench run c.yaml"));
  ASSERT_TRUE(third);
  EXPECT_EQ(pauses_, 2);
  EXPECT_THAT(third->beside(), IsEmpty());
}

TEST_F(MachineTurnTest, TheLockOfAProcessThatWasKilledIsFree) {
  const pid_t child = fork();
  if (child == 0) {
    const auto turn = MachineTurn::take(request(1, "bench run killed.yaml"), clock_);
    _exit(turn.ok() ? 0 : 1);  // without the destructor
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(test::read_text(file_), HasSubstr("killed.yaml"));
  ended_ = {1};
  EXPECT_TRUE(take(request(2, "bench run b.yaml")));
  EXPECT_EQ(pauses_, 0);
  EXPECT_THAT(test::read_text(file_), testing::Not(HasSubstr("killed.yaml")));
}

TEST_F(MachineTurnTest, AProgramThatAMeasurementStartedDoesNotWaitForIt) {
  TurnRequest profile = request(1, "bench profile -- make bench");
  profile.own.is_profile = true;
  const auto outer = take(profile);
  TurnRequest inner = request(2, "bench run a.yaml");
  inner.holder = 1;
  const auto turn = take(inner);
  ASSERT_TRUE(turn);
  EXPECT_EQ(pauses_, 0);
  EXPECT_THAT(turn->beside(), IsEmpty());
  EXPECT_THAT(outer->joined(), IsEmpty());
}

// The processes of one job wait for each other in their own barriers.
TEST_F(MachineTurnTest, ProfilesDoNotWaitForProfilesButRunsDo) {
  TurnRequest first = request(1, "bench profile -- rank0"), second = request(2, "bench profile");
  first.own.is_profile = second.own.is_profile = true;
  const auto one = take(first), two = take(second);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(pauses_, 0);
  EXPECT_THAT(one->joined(), IsEmpty());
  const auto run = take(request(3, "bench run a.yaml"));
  EXPECT_EQ(clock_.now(), 10s);
  EXPECT_EQ(run->beside().size(), 2u);
}

TEST_F(MachineTurnTest, AWaitCanBeInterrupted) {
  const auto first = take(request(1, "bench run a.yaml"));
  TurnRequest second = request(2, "bench run b.yaml");
  second.interrupted = [this] { return pauses_ == 1; };
  EXPECT_FALSE(take(second));
  EXPECT_EQ(pauses_, 1);
  EXPECT_EQ(error_, "interrupted while it waited for another measurement");
}

// A process of another container cannot be seen, but its lock can.
TEST_F(MachineTurnTest, AMeasurementOfAnotherContainerIsWaitedForWhileItHasTheLock) {
  TurnRequest foreign = request(1, "bench run a.yaml");
  foreign.own.name_space = "pid:[2]";
  auto first = take(foreign);
  on_pause_ = [&] { first.reset(); };
  EXPECT_TRUE(take(request(2, "bench run b.yaml")));
  EXPECT_EQ(pauses_, 1);
  EXPECT_THAT(messages_.front(), HasSubstr("process 1, `bench run a.yaml`"));
}

TEST_F(MachineTurnTest, WhatOthersWriteIntoTheFileIsNotTrusted) {
  folder_.write("bench.lock", "{\"process\":\"x\"}\nno json\n[]\n{\"process\":-4}\n");
  const auto turn = take(request(1, "bench run a.yaml"));
  ASSERT_TRUE(turn);
  EXPECT_EQ(pauses_, 0);
  EXPECT_THAT(turn->joined(), IsEmpty());
}

TEST_F(MachineTurnTest, ALinkOrAPipeInPlaceOfTheFileIsNotOpened) {
  const std::string victim = folder_.write("victim", "content");
  std::filesystem::create_symlink(victim, file_);
  EXPECT_TRUE(take(request(1, "bench run a.yaml")));
  EXPECT_EQ(test::read_text(victim), "content");
  std::filesystem::remove(file_);
  ASSERT_EQ(mkfifo(file_.c_str(), 0666), 0);
  EXPECT_TRUE(take(request(1, "bench run a.yaml")));
  TurnRequest none = request(1, "bench run a.yaml");
  none.file = std::nullopt;
  EXPECT_TRUE(take(none));
}

TEST_F(MachineTurnTest, EveryUserCanLockTheFileWhateverTheUmask) {
  const mode_t before = umask(0077);
  const auto turn = take(request(1, "bench run a.yaml"));
  umask(before);
  struct stat state {};
  ASSERT_EQ(stat(file_.c_str(), &state), 0);
  EXPECT_EQ(state.st_mode & 0777, 0666u);
}

TEST_F(MachineTurnTest, TheFileIsInTheFirstFolderThatAllUsersShare) {
  const std::string own = folder_.path() + "/own", shared = folder_.path() + "/shared";
  std::filesystem::create_directory(own);
  std::filesystem::create_directory(shared);
  ASSERT_EQ(chmod(own.c_str(), 0755), 0);
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  std::optional<std::string> value;
  Env env = real_env(clock_);
  env.variable = [&](const std::string& name) {
    return name == kTurnFileVariable ? value : std::nullopt;
  };
  const std::vector<std::string> folders{folder_.path() + "/missing", own, shared};
  EXPECT_EQ(find_turn_file(env, folders), shared + "/bench.lock");
  EXPECT_EQ(find_turn_file(env, std::span(folders).first(2)), std::nullopt);
  value = "/somewhere/lock";
  EXPECT_EQ(find_turn_file(env, folders), "/somewhere/lock");
  value = "";
  EXPECT_EQ(find_turn_file(env, folders), std::nullopt);
}

TEST(TurnEntryTest, NamesThisProcessWhichRuns) {
  TurnEntry entry = make_turn_entry("bench run a.yaml", "2026-11-21T08:00:00Z");
  EXPECT_EQ(entry.process, getpid());
  EXPECT_GT(entry.started_ticks, 0);
  EXPECT_TRUE(is_running(entry));
  ++entry.started_ticks;  // the number belongs to another process now
  EXPECT_FALSE(is_running(entry));
}

}  // namespace
}  // namespace bench
