// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "harness/run/profile_phase.hpp"
#include "harness/run/schedule.hpp"
#include "profiler/activity_json.hpp"
#include "profiler/export/trace_validator.hpp"
#include "tests/fakes/coordinator_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <unistd.h>
#include <variant>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::kFirst;
using test::kSecond;
using test::kShortWarmup;
using test::measure;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CoordinatorProfileTest : public test::CoordinatorTest {
 protected:
  CoordinatorProfileTest()
      : folder_(testing::TempDir() + "traces-" + std::to_string(getpid()) + "/deep") {
    // The requests to each worker, in the order of the run.
    fault_ = [this](const Request& request) -> std::optional<WorkerFailure> {
      requests_.push_back(request);
      return std::holds_alternative<ProfileRequest>(request) ? profile_failure_ : std::nullopt;
    };
    test::FakeStep step;
    step.step.kind = "matmul";
    step.execute = 30us;
    step.wait = 10us;
    step.pause = 5us;
    scripts_["m4n4k4"].steps = scripts_["m8n4k4"].steps = {step};
  }
  ~CoordinatorProfileTest() override { std::filesystem::remove_all(folder_); }

  static Plan plan() {
    return test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup),
                            test::make_case(kSecond, measure(2), kShortWarmup)});
  }
  std::vector<std::string> encoded_timing_requests() const {
    std::vector<std::string> lines;
    for (const Request& request : requests_) {
      if (!std::holds_alternative<ProfileRequest>(request)) lines.push_back(encode(request));
    }
    return lines;
  }
  std::vector<Activity> activities() const {
    std::vector<Activity> parsed;
    ActivityLineParser parser;
    for (const std::string& line : sink_.activities) {
      EXPECT_EQ(parser.parse(line).kind, LineKind::activity) << line;
      parsed.push_back(parser.activity());
    }
    return parsed;
  }

  std::string folder_;
  std::vector<Request> requests_;
  std::optional<WorkerFailure> profile_failure_;
};

TEST_F(CoordinatorProfileTest, EachCaseIsProfiledInAWorkerOfItsOwnAfterAllTiming) {
  options_.profile = ProfileSwitches();
  options_.profile->iterations = IterationWindow{0, 2};
  const RunSummary summary = run(plan());
  EXPECT_FALSE(summary.any_failed);
  EXPECT_EQ(workers_, 2 + 2);
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].id, kFirst);
  EXPECT_EQ(passes[1].id, kSecond);
  for (const ProfilePassRecord& pass : passes) {
    EXPECT_EQ(pass.run_id, "run1");
    EXPECT_EQ(pass.outcome, Outcome::ok) << pass.reason.value_or("");
    ASSERT_EQ(pass.iterations, 3);
    EXPECT_EQ(pass.unprofiled, 60us);
    EXPECT_EQ(pass.profiled, 45us);  // the steps instead of the complete run
    EXPECT_EQ(pass.wall, 3 * 45us);
    EXPECT_EQ(*pass.attributed + *pass.unattributed, *pass.wall);
  }
  EXPECT_EQ(passes[0].activities + passes[1].activities,
            static_cast<std::int64_t>(sink_.activities.size()));
  std::int64_t operators = 0;
  for (const Activity& activity : activities()) {
    if (activity.kind == ActivityKind::operation && activity.case_id == kSecond) ++operators;
  }
  EXPECT_EQ(operators, 3);
  EXPECT_TRUE(std::holds_alternative<EndRecord>(sink_.records.back()));
}

// Before, the pass had one timeout for all it does. The step of ResNet-50 was measured, and its
// profile timed out.
TEST_F(CoordinatorProfileTest, ACaseThatCanBeMeasuredWithinTheTimeoutCanBeProfiled) {
  options_.profile = ProfileSwitches();
  scripts_["m4n4k4"].run = [](std::int64_t) { return 8s; };
  scripts_["m4n4k4"].steps[0].execute = 8s;
  Plan slow = test::make_plan({test::make_case(kFirst, measure(2), kShortWarmup)});
  slow.cases[0].measure.timeout = 60s;
  run(slow);
  EXPECT_EQ(cases().at(kFirst).outcome, Outcome::ok);
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].outcome, Outcome::ok) << passes[0].reason.value_or("");
}

// Profiling must not affect the workers that time.
TEST_F(CoordinatorProfileTest, TimingWorkersAreToldTheSameWithAndWithoutAProfile) {
  run(plan());
  const auto without = encoded_timing_requests();
  EXPECT_THAT(sink_.activities, IsEmpty());
  requests_.clear();
  options_.profile = ProfileSwitches();
  run(plan());
  auto with = encoded_timing_requests();
  // After them comes the handshake of each profiling worker.
  ASSERT_EQ(with.size(), without.size() + 2);
  with.resize(without.size());
  EXPECT_EQ(with, without);
}

TEST_F(CoordinatorProfileTest, ItsTimeIsAccountedApart) {
  options_.profile = ProfileSwitches();
  const Accounting time = run(plan()).end.accounting;
  EXPECT_GT(time.profile, 0ns);
  EXPECT_EQ(time.timed, 4 * 20 * 60us);
  EXPECT_EQ(time.wall,
            time.timed + time.warmup + time.setup + time.check + time.profile + time.idle);
  EXPECT_EQ(time.idle, 0ns);  // the fake clock does not advance between commands
}

TEST_F(CoordinatorProfileTest, SwitchesAndTheRunsIdentityReachTheWorker) {
  options_.profile = ProfileSwitches();
  options_.profile->groups = {RecordGroup::memory};
  options_.profile->iterations = IterationWindow{4, 6};
  options_.profile->sample_rate = 3;
  run(plan());
  const auto* request = std::get_if<ProfileRequest>(&requests_.back());
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->switches.at("kinds"), "memory");
  EXPECT_EQ(request->switches.at("iterations"), "4-6");
  EXPECT_EQ(request->switches.at("sample_rate"), "3");
  EXPECT_EQ(request->run_id, "run1");
  EXPECT_EQ(request->prepare.id, kSecond);
  EXPECT_FALSE(request->announce);
}

// Before, `dump_period` was accepted, and the worker wrote every second all the same.
TEST_F(CoordinatorProfileTest, TheDumpPeriodReachesTheWorker) {
  options_.profile = ProfileSwitches();
  options_.profile->dump_period = 250ms;
  run(plan());
  const auto* request = std::get_if<ProfileRequest>(&requests_.back());
  ASSERT_NE(request, nullptr);
  ProfileSwitches received;
  ASSERT_TRUE(find_switch("dump_period")->apply(received, request->switches.at("dump_period")));
  EXPECT_EQ(received.dump_period, 250ms);
}

TEST_F(CoordinatorProfileTest, APassThatFailsIsRecordedAndTheNextOneFollows) {
  options_.profile = ProfileSwitches();
  profile_failure_ = WorkerFailure{WorkerFailure::Kind::crashed, "signal 11"};
  const RunSummary summary = run(plan());
  EXPECT_TRUE(summary.any_failed);
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 2u);
  for (const ProfilePassRecord& pass : passes) {
    EXPECT_EQ(pass.outcome, Outcome::crashed);
    EXPECT_EQ(pass.reason, "signal 11");
    EXPECT_FALSE(pass.profiled.has_value());
  }
  EXPECT_EQ(cases().at(kFirst).outcome, Outcome::ok);
}

TEST_F(CoordinatorProfileTest, AWrongResultLeavesATrace) {
  options_.trace_failures = folder_;
  scripts_["m4n4k4"].wrong_element = 3;
  run(plan());
  EXPECT_EQ(cases().at(kFirst).outcome, Outcome::wrong_result);
  const std::string path = failure_trace_path(folder_, kFirst);
  ASSERT_TRUE(std::filesystem::exists(path));
  const auto check = check_trace_file(path);
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(check->problems, IsEmpty());
  const auto text = read_file(path, 1 << 20);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, HasSubstr("matmul"));
  // The case that passed has no trace and is not profiled.
  EXPECT_FALSE(std::filesystem::exists(failure_trace_path(folder_, kSecond)));
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].id, kFirst);
  const auto* request = std::get_if<ProfileRequest>(&requests_.back());
  ASSERT_NE(request, nullptr);
  EXPECT_TRUE(request->announce);
}

TEST_F(CoordinatorProfileTest, AFailureBeforeAnythingIsRecordedLeavesAnEmptyTrace) {
  options_.trace_failures = folder_;
  const WorkerFailure crash{WorkerFailure::Kind::crashed, "signal 6"};
  fault_ = [this, crash](const Request& request) -> std::optional<WorkerFailure> {
    requests_.push_back(request);
    return std::holds_alternative<HelloRequest>(request) ? std::nullopt : std::optional(crash);
  };
  const RunSummary summary = run(plan());
  EXPECT_TRUE(summary.any_failed);
  const auto check = check_trace_file(failure_trace_path(folder_, kFirst));
  ASSERT_TRUE(check.ok());
  EXPECT_THAT(check->problems, IsEmpty());
}

TEST_F(CoordinatorProfileTest, UnderAToolTheRoundsAreNamedForTheirCase) {
  options_.under = "nsys profile";
  run(with_one_process(plan()));
  std::vector<std::string> ranges;
  for (const Request& request : requests_) {
    if (const auto* round = std::get_if<RoundRequest>(&request)) ranges.push_back(round->range);
  }
  EXPECT_THAT(ranges, Not(IsEmpty()));
  EXPECT_THAT(ranges, Contains(kFirst));
  EXPECT_THAT(ranges, Contains(kSecond));
  EXPECT_THAT(ranges, Each(testing::AnyOf(kFirst, kSecond)));
  const auto runs = sink_.all<RunRecord>();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].under, "nsys profile");
  EXPECT_EQ(sink_.all<ProcessRecord>().size(), 2u);
}

TEST(FailureTracePath, StaysInItsFolderAndBelowTheLimitOfNames) {
  EXPECT_EQ(failure_trace_path("d", "gemm/forward/m4n4k4+relu/f32"),
            "d/gemm-forward-m4n4k4+relu-f32.json");
  EXPECT_EQ(failure_trace_path("d", "../../etc/x"), "d/-.-..-etc-x.json");
  const std::string first = failure_trace_path("d", std::string(500, 'a') + "1");
  const std::string second = failure_trace_path("d", std::string(500, 'a') + "2");
  EXPECT_LT(first.size(), 200u);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace bench
