// SPDX-License-Identifier: Apache-2.0
// Runs on a device that has its own clock, with workers in this process.
#include "harness/run/case_progress.hpp"
#include "tests/fakes/coordinator_fixture.hpp"
#include "tests/fakes/fake_device_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <variant>

namespace bench {
namespace {

using namespace std::chrono_literals;
using ops::DeviceSample;
using ops::SampleRequest;
using ops::SampleVerdict;
using test::kShortWarmup;
using test::measure;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kGemm = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";
constexpr const char* kOther = "gemm/forward/m8n4k4/f32/cublaslt/cuda/hot";

class DeviceRunTest : public test::CoordinatorTest {
 protected:
  using Samples = std::function<Result<DeviceSample>(std::int64_t n)>;

  DeviceRunTest() {
    device_ = {"cublaslt", "cuda", &memory_};
    parts_.device_missing = [](const CaseKey&) { return std::nullopt; };
    script("m4n4k4", [](std::int64_t) { return sample(); });
    script("m8n4k4", [](std::int64_t) { return sample(); });
  }
  static DeviceSample sample(Nanoseconds device = 1500us) {
    DeviceSample result;
    result.device = device;
    result.host = 2us;
    result.clock_hz = 1'700'000'000;
    return result;
  }
  static DeviceSample judged(SampleVerdict verdict, std::string reason) {
    DeviceSample result = sample();
    result.verdict = verdict;
    result.reason = std::move(reason);
    return result;
  }
  void script(const std::string& tokens, Samples samples) {
    scripts_[tokens].sample = [this, samples](std::int64_t n, const SampleRequest&) {
      clock_.advance(1600us);
      return samples(n);
    };
  }
  CaseRecord run_one() {
    run(test::make_plan({test::make_case(kGemm, measure(2), kShortWarmup)}));
    return cases()[kGemm];
  }

  test::FakeDeviceMemory memory_;
};

// Each case had its own process, whose start on a device takes longer than counting.
TEST_F(DeviceRunTest, CasesAreCountedInOneWorkerAfterAllAreTraced) {
  const Plan plan = test::make_plan({test::make_case(kGemm, measure(2), kShortWarmup),
                                     test::make_case(kOther, measure(2), kShortWarmup)});
  const auto workers = [&](std::set<RecordGroup> kinds) {
    workers_ = 0;
    options_.profile.emplace().groups = std::move(kinds);
    EXPECT_FALSE(run(plan).any_failed);
    return workers_;
  };
  const int traced = workers({RecordGroup::operators});
  EXPECT_EQ(workers({RecordGroup::counters}), traced - 2 + 1);
  EXPECT_EQ(workers({RecordGroup::operators, RecordGroup::counters}), traced + 1);
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 6u);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(passes[i].id, i % 2 == 0 ? kGemm : kOther);
    EXPECT_EQ(passes[i].details.contains("counters"), i >= 2) << i;
  }
}

// If a device fails, its context is lost: the next case is counted in another worker.
TEST_F(DeviceRunTest, AWorkerThatFailsWhileCountingIsReplaced) {
  const Plan plan = test::make_plan({test::make_case(kGemm, measure(1), kShortWarmup),
                                     test::make_case(kOther, measure(1), kShortWarmup)});
  options_.profile.emplace().groups = {RecordGroup::counters};
  run(plan);
  const int sound = std::exchange(workers_, 0);
  bool first = true;
  fault_ = [&](const Request& request) -> std::optional<WorkerFailure> {
    if (!std::holds_alternative<ProfileRequest>(request) || !std::exchange(first, false)) {
      return std::nullopt;
    }
    return WorkerFailure{WorkerFailure::Kind::crashed, "signal 11"};
  };
  EXPECT_TRUE(run(plan).any_failed);
  EXPECT_EQ(workers_, sound + 1);
  const auto passes = sink_.all<ProfilePassRecord>();
  ASSERT_EQ(passes.size(), 4u);
  EXPECT_EQ(passes[2].outcome, Outcome::crashed);
  EXPECT_THAT(passes[2].reason.value_or(""), HasSubstr("counters: "));
  EXPECT_EQ(passes[3].outcome, Outcome::ok);
}

TEST_F(DeviceRunTest, RecordsHaveTheDevicesTimeAndTheHostsApart) {
  scripts_["m4n4k4"].details = {
      {"engine", "12"}, {"setup.context_ns", "300"}, {"setup.odd", "x"}, {"setup.bad_ns", "-"}};
  parts_.device_details = [] {
    return std::map<std::string, std::string>{{"gpu.name", "NVIDIA H200"},
                                              {"gpu.compute_capability", "9.0"}};
  };
  const CaseRecord record = run_one();
  EXPECT_EQ(record.details.at("tensor_cores.eligible"), "not eligible");  // f32, not as TF32
  EXPECT_EQ(record.details.at("tensor_cores.arch"), "sm_90, cuda13");
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_EQ(record.time->median, 1500us);
  EXPECT_EQ(record.host_launch, 2us);
  EXPECT_EQ(record.clock_hz, 1'700'000'000);
  EXPECT_EQ(record.sample_method, "stream");
  EXPECT_EQ(record.setup, (std::map<std::string, Nanoseconds>{{"context_ns", 300ns}}));
  EXPECT_EQ(record.details.at("engine"), "12");
  EXPECT_FALSE(record.details.contains("setup.context_ns"));
  EXPECT_THAT(record.flags, IsEmpty());
  const auto processes = sink_.all<ProcessRecord>();
  ASSERT_THAT(processes, SizeIs(2));
  EXPECT_THAT(processes[0].samples, Each(1500us));
  EXPECT_THAT(processes[0].device.host_launch, SizeIs(processes[0].samples.size()));
  EXPECT_THAT(processes[0].device.clock_hz, SizeIs(processes[0].samples.size()));
  EXPECT_EQ(processes[0].setup.at("context_ns"), 300ns);
  EXPECT_EQ(processes[0].device.voided, SampleRemarks{});
  EXPECT_EQ(sink_.all<RunRecord>().at(0).environment.details.at("gpu.name"), "NVIDIA H200");
}

TEST_F(DeviceRunTest, VoidSamplesAreFlaggedAndCounted) {
  script("m4n4k4", [](std::int64_t n) {
    return n == 5 ? judged(SampleVerdict::voided, "hot (hardware)") : sample();
  });
  const CaseRecord record = run_one();
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::voided_samples));
  EXPECT_EQ(record.voided, (SampleRemarks{2, {{"hot (hardware)", 2}}}));  // one per process
}

TEST_F(DeviceRunTest, WhereTheDeviceStaysVoidTheProcessEndsWithWhatItHas) {
  script("m4n4k4", [](std::int64_t n) {
    return n > 7 ? judged(SampleVerdict::voided, "another compute process") : sample();
  });
  const CaseRecord record = run_one();
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::voided_samples));
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) {
    EXPECT_EQ(process.stop, StopReason::voided);
    EXPECT_THAT(process.samples, SizeIs(5));  // after three samples of the warm-up
  }
}

TEST_F(DeviceRunTest, ACaseWithoutAnyValidSampleFailsWithTheReason) {
  script("m4n4k4",
         [](std::int64_t) { return judged(SampleVerdict::voided, "another compute process"); });
  const RunSummary summary =
      run(test::make_plan({test::make_case(kGemm, measure(2), kShortWarmup),
                           test::make_case(kOther, measure(2), kShortWarmup)}));
  const CaseRecord record = cases()[kGemm];
  EXPECT_EQ(record.outcome, Outcome::failed);
  EXPECT_EQ(record.reason, "all 36 samples were discarded, most often: another compute process");
  EXPECT_THAT(record.flags, IsEmpty());
  EXPECT_FALSE(record.time);
  EXPECT_EQ(cases()[kOther].outcome, Outcome::ok);
  EXPECT_EQ(summary.end.exit, 3);
  // Both processes have an activity.
  std::size_t rows = 0;
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) {
    if (process.id != kGemm) continue;
    ++rows;
    EXPECT_THAT(process.samples, IsEmpty());
    EXPECT_EQ(process.device.voided.count, 18);
    EXPECT_EQ(process.stop, StopReason::voided);
  }
  EXPECT_EQ(rows, 2U);
}

TEST_F(DeviceRunTest, OneProcessWithoutAValidSampleLeavesTheOthers) {
  int workers_at = 0;
  script("m4n4k4", [&](std::int64_t) {
    if (workers_at == 0) workers_at = workers_;
    return workers_ == workers_at ? judged(SampleVerdict::voided, "hot") : sample();
  });
  const CaseRecord record = run_one();
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_EQ(record.time->median, 1500us);
  EXPECT_THAT(record.flags, ElementsAre(Flag::voided_samples));
}

TEST_F(DeviceRunTest, ThrottlingIsAFlag) {
  script("m4n4k4", [](std::int64_t) { return judged(SampleVerdict::throttled, "power cap"); });
  const CaseRecord record = run_one();
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::throttled));
  EXPECT_GE(record.throttled->count, 2);
}

TEST_F(DeviceRunTest, AfterAFailureOnTheDeviceTheOthersGetAFreshWorker) {
  script("m4n4k4", [](std::int64_t) -> Result<DeviceSample> {
    return Error{"the device is lost", "", ""};
  });
  run(test::make_plan({test::make_case(kGemm, measure(1), kShortWarmup),
                       test::make_case(kOther, measure(1), kShortWarmup)}));
  const int with_failure = workers_;
  EXPECT_EQ(cases()[kGemm].outcome, Outcome::failed);
  EXPECT_EQ(cases()[kGemm].reason, "the device is lost");
  EXPECT_EQ(cases()[kOther].outcome, Outcome::ok);
  workers_ = 0;
  script("m4n4k4", [](std::int64_t) { return sample(); });
  run(test::make_plan({test::make_case(kGemm, measure(1), kShortWarmup),
                       test::make_case(kOther, measure(1), kShortWarmup)}));
  // Whichever of the two came first, the failed one is the last of its worker.
  EXPECT_GE(with_failure, workers_);
  EXPECT_LE(with_failure, workers_ + 1);
}

// A tuned case whose run was interrupted after two of its four processes, and resumed.
class ResumedChoiceTest : public DeviceRunTest {
 protected:
  ResumedChoiceTest() {
    Case spec = test::make_case(kGemm, measure(4), kShortWarmup);
    spec.measure.tune = 8;
    plan_ = test::make_plan({std::move(spec)});
    device_.choice = "gemm\tengine 1\n";
    options_.interrupted = [this] { return sink_.all<ProcessRecord>().size() >= 2; };
    run(plan_);
    report_.runs = sink_.all<RunRecord>();
    report_.processes = sink_.all<ProcessRecord>();
    report_.cases = sink_.all<CaseRecord>();
    sink_.records.clear();
    options_.interrupted = nullptr;
    options_.resume = &report_;
    options_.run_id = "run2";
    device_.choice = "gemm\tengine 2\n";  // measuring again would choose it
  }
  Plan plan_;
  Report report_;
};

TEST_F(ResumedChoiceTest, IsRepeated) {
  ASSERT_THAT(report_.processes, SizeIs(2));
  EXPECT_EQ(report_.processes[0].choices, "gemm\tengine 1\n");
  EXPECT_EQ(report_.processes[1].choices, "");  // the same
  std::vector<std::string> choices;
  fault_ = [&](const Request& request) -> std::optional<WorkerFailure> {
    if (const auto* prepare = std::get_if<PrepareRequest>(&request))
      choices.push_back(prepare->choices);
    return std::nullopt;
  };
  run(plan_);
  EXPECT_THAT(choices, ElementsAre("gemm\tengine 1\n", "gemm\tengine 1\n"));
  for (const ProcessRecord& process : sink_.all<ProcessRecord>()) EXPECT_EQ(process.choices, "");
  EXPECT_FALSE(cases()[kGemm].details.contains(kResumedChoiceDetail));
  EXPECT_THAT(observer_.messages, Not(Contains(HasSubstr("cannot be repeated"))));
}

TEST_F(ResumedChoiceTest, ThatNoLongerExistsIsSaid) {
  device_.repeats = false;
  run(plan_);
  EXPECT_EQ(cases()[kGemm].details.at(kResumedChoiceDetail),
            "processes of the earlier run chose `gemm: engine 1`, later ones `gemm: engine 2`");
  EXPECT_THAT(observer_.messages, Contains(HasSubstr("cannot be repeated")));
  const auto processes = sink_.all<ProcessRecord>();
  ASSERT_THAT(processes, SizeIs(2));
  EXPECT_EQ(processes[0].choices, "gemm\tengine 2\n");
}

// Files of earlier versions do not have it.
TEST_F(ResumedChoiceTest, ThatIsUnknownIsSaid) {
  report_.processes[0].choices = "";
  run(plan_);
  EXPECT_EQ(cases()[kGemm].details.at(kResumedChoiceDetail),
            "processes of the earlier run chose n/a, later ones `gemm: engine 2`");
}

TEST_F(DeviceRunTest, BelowFiveTimesTheLaunchFloorItIsLaunchBound) {
  scripts_["m4n4k4"].details = {{"launch_floor_ns", "400000"}};
  EXPECT_THAT(run_one().flags, ElementsAre(Flag::launch_bound));
}

}  // namespace
}  // namespace bench
