// SPDX-License-Identifier: Apache-2.0
// Commands that measure while another measurement of `bench` runs on the machine.
#include "base/file.hpp"
#include "harness/host/machine_turn.hpp"
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <climits>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/inotify.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench::test::beside_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kCase = "gemm/forward/m8n8k8/f32/onednn/cpu/hot/t1";
// The rest of a command line of a short run.
const std::vector<std::string> kShort = {"--quick", "--set", "measure.max_time=5ms"};

class BesideTest : public testing::Test {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), {{"BENCH_LOCK", lock_}}});
  }
  ProgramResult run_case(std::vector<std::string> options) {
    std::vector<std::string> arguments{"run", kCase, "--out", "r.jsonl"};
    arguments.insert(arguments.end(), kShort.begin(), kShort.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    return bench(std::move(arguments));
  }
  // The turn of another measurement, which is this process.
  MachineTurn hold() {
    TurnRequest request;
    request.file = lock_;
    request.own = make_turn_entry("bench run other.yaml", "2026-11-21T08:00:00Z");
    request.is_alive = is_running;
    return MachineTurn::take(request, clock_).value();
  }

  TemporaryFolder folder_;
  std::string lock_ = folder_.file("bench.lock");
  MonotonicClock clock_;
};

TEST_F(BesideTest, EachCommandThatMeasuresCanRefuse) {
  const MachineTurn turn = hold();
  const std::vector<std::vector<std::string>> commands = {
      {"run", kCase},
      {"gate", kCase, "--cand-env", "A=1"},
      {"duet", kCase, "--cand-env", "A=1"},
      {"selftest", kCase},
      {"peak", "--quick"},
      {"profile", "--", "/bin/true"},
  };
  for (std::vector<std::string> command : commands) {
    const std::string name = command.front();
    command.insert(command.begin() + 1, {"--beside", "refuse"});
    const ProgramResult result = bench(std::move(command));
    EXPECT_EQ(result.status, 3) << name << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("another measurement runs on this machine: process " +
                                      std::to_string(getpid()) +
                                      ", `bench run other.yaml`, since 2026-11-21T08:00:00Z"))
        << name;
  }
}

TEST_F(BesideTest, ARunBesideAnotherOneSaysSoInItsResultAndBothKnow) {
  const MachineTurn turn = hold();
  const ProgramResult run = run_case({"--beside", "run"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("bench run: measures beside process "));
  EXPECT_THAT(run.out, HasSubstr("another measurement of bench ran on this machine at the same"));
  const std::string text = read_text(folder_.file("r.jsonl"));
  EXPECT_THAT(result_file_problems(text), IsEmpty());
  const Report report = parse_report(text, "r.jsonl").value();
  EXPECT_THAT(report.runs.at(0).beside, testing::ElementsAre(HasSubstr("`bench run other.yaml`")));
  // The command is cut if it is long.
  EXPECT_THAT(turn.joined(), testing::ElementsAre(HasSubstr("gemm/forward/m8n8k8/f32")));
}

TEST_F(BesideTest, ARunWaitsForTheOtherOne) {
  std::optional<MachineTurn> turn(hold());
  const Descriptor events(::inotify_init1(IN_CLOEXEC));
  ASSERT_GE(::inotify_add_watch(events.get(), lock_.c_str(), IN_ACCESS), 0);
  std::thread other([&] {
    // The run reads the name of the other measurement after it has found the file locked.
    std::array<char, sizeof(inotify_event) + NAME_MAX + 1> event;
    EXPECT_GT(::read(events.get(), event.data(), event.size()), 0);
    turn.reset();
    std::filesystem::resize_file(lock_, 0);  // this process, whose entry it has, goes on
  });
  const ProgramResult run = run_case({});
  other.join();
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("bench run: waits at most 10 min for another measurement"));
  EXPECT_THAT(run.err, HasSubstr("bench run: measures now, after "));
  const Report report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl").value();
  EXPECT_THAT(report.runs.at(0).beside, IsEmpty());
  EXPECT_THAT(run.out, Not(HasSubstr("at the same time")));
}

TEST_F(BesideTest, ARunWaitsNoLongerThanItsBudgetWhichStartsAfterwards) {
  const MachineTurn turn = hold();
  const ProgramResult run = run_case({"--budget", "2s"});
  EXPECT_THAT(run.err, HasSubstr("waits at most 2.000 s for another measurement"));
  const Report report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl").value();
  EXPECT_EQ(report.runs.at(0).beside.size(), 1u);
  EXPECT_TRUE(report.cases.at(0).time.has_value());
}

// They would wait for 10 minutes.
TEST_F(BesideTest, CommandsThatMeasureNothingDoNotWait) {
  const MachineTurn turn = hold();
  EXPECT_EQ(bench({"list", kCase}).status, 0);
  EXPECT_EQ(bench({"run", kCase, "--dry-run"}).status, 0);
  EXPECT_EQ(bench({"explain", kCase}).status, 0);
  EXPECT_EQ(bench({"run", "gemm"}).status, 2);
  EXPECT_EQ(bench({"baseline", "list"}).status, 2);
}

TEST_F(BesideTest, ARunUnderAProfileDoesNotWaitForTheProfile) {
  const ProgramResult profile =
      bench({"profile", "--out", "p.jsonl", "--", "env", BENCH_BINARY, "run", kCase, "--out",
             "r.jsonl", "--quick", "--set", "measure.max_time=5ms"});
  EXPECT_EQ(profile.status, 0) << profile.err;
  EXPECT_THAT(profile.err, Not(HasSubstr("waits at most")));
  const Report report = parse_report(read_text(folder_.file("r.jsonl")), "r.jsonl").value();
  EXPECT_THAT(report.runs.at(0).beside, IsEmpty());
}

TEST_F(BesideTest, AnUnknownValueIsRefused) {
  const ProgramResult run = run_case({"--beside", "wat"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--beside: unknown value `wat`; did you mean `wait`?"));
}

}  // namespace
}  // namespace bench::test::beside_test
