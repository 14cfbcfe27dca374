// SPDX-License-Identifier: Apache-2.0
// The energy of a case, from the worker's counters to its record.
#include "tests/fakes/coordinator_fixture.hpp"
#include "tests/fakes/scripted_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::kFirst;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

class CaseEnergyTest : public test::CoordinatorTest {
 protected:
  CaseEnergyTest() {
    meters_ = [this](std::string_view device) -> EnergyMeterResult {
      EXPECT_EQ(device, "cpu");
      return std::unique_ptr<EnergyMeter>(std::make_unique<test::ScriptedMeter>(clock_, 10));
    };
  }
  CaseRecord measure_one(Nanoseconds iteration) {
    scripts_["m4n4k4"].run = [iteration](std::int64_t) { return iteration; };
    run(test::make_plan({test::make_case(kFirst, test::measure(2), test::kShortWarmup)}));
    return cases()[kFirst];
  }
};

TEST_F(CaseEnergyTest, IsThePowerTimesTheTimeOfAnIteration) {
  const CaseRecord record = measure_one(5ms);
  ASSERT_TRUE(record.energy);
  EXPECT_DOUBLE_EQ(record.energy->joules_per_iteration, 0.05);
  EXPECT_DOUBLE_EQ(record.energy->flops_per_joule.value_or(0), 128 / 0.05);  // 2 * 4^3
  EXPECT_EQ(record.energy->source, "rapl:package-0");
  EXPECT_THAT(record.details, Not(Contains(Key("energy"))));
  const auto processes = sink_.all<ProcessRecord>();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].energy, (ProcessEnergy{1'000'000, 100ms, "rapl:package-0"}));
}

TEST_F(CaseEnergyTest, TooShortProcessesHaveNoneAndSayWhy) {
  const CaseRecord record = measure_one(1ms);
  EXPECT_FALSE(record.energy);
  EXPECT_THAT(record.details,
              Contains(Pair("energy",
                            "n/a: a process ran for 20.00 ms, and the energy counter "
                            "needs 50.00 ms: raise measure.min_iterations")));
}

TEST_F(CaseEnergyTest, WithoutCountersTheReasonIsADetail) {
  meters_ = [](std::string_view) -> EnergyMeterResult {
    return Error{"only root may read them", "", "sudo chmod"};
  };
  const CaseRecord record = measure_one(5ms);
  EXPECT_FALSE(record.energy);
  EXPECT_THAT(record.details, Contains(Pair("energy", "n/a: only root may read them; sudo chmod")));
}

// A counter that fails in a round is not the energy of the other rounds.
class ClosingMeter final : public EnergyMeter {
 public:
  const std::string& source() const override { return source_; }
  std::optional<std::vector<EnergyCount>> read() override { return std::nullopt; }

 private:
  std::string source_ = "nvml";
};

TEST_F(CaseEnergyTest, ACounterThatFailsLaterIsNoFailureOfTheCase) {
  meters_ = [](std::string_view) -> EnergyMeterResult {
    return std::unique_ptr<EnergyMeter>(std::make_unique<ClosingMeter>());
  };
  const CaseRecord record = measure_one(5ms);
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_FALSE(record.energy);
  EXPECT_THAT(record.details, Contains(Pair("energy", HasSubstr("could not be read"))));
}

}  // namespace
}  // namespace bench
