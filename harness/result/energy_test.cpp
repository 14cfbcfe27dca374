// SPDX-License-Identifier: Apache-2.0
#include "harness/result/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// 20 samples of 5 ms with 4 iterations each.
ProcessRecord process(std::optional<ProcessEnergy> energy) {
  ProcessRecord process;
  process.samples = std::vector<Nanoseconds>(20, 5ms);
  process.iterations_per_sample = 4;
  process.energy = std::move(energy);
  return process;
}

std::optional<Energy> energy_of(const std::vector<ProcessRecord>& records,
                                std::optional<std::int64_t> flops = 1000) {
  std::vector<const ProcessRecord*> processes;
  for (const ProcessRecord& record : records) processes.push_back(&record);
  return compute_energy(processes, flops);
}

TEST(EnergyTest, RoundsOfAProcessAddUp) {
  std::optional<ProcessEnergy> sum;
  add_energy(sum, {1000, 30ms, "rapl:package-0"});
  add_energy(sum, {500, 40ms, "rapl:package-0"});
  EXPECT_EQ(sum, (ProcessEnergy{1500, 70ms, "rapl:package-0"}));
}

TEST(EnergyTest, IsTheSumOverProcessesByTheirIterations) {
  // 2 J and 4 J over 100 ms, all of it in samples; 80 iterations each.
  const auto energy = energy_of({process(ProcessEnergy{2'000'000, 100ms, "rapl:package-0"}),
                                 process(ProcessEnergy{4'000'000, 100ms, "rapl:package-0"})});
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules_per_iteration, 6.0 / 160);
  ASSERT_TRUE(energy->flops_per_joule);
  EXPECT_DOUBLE_EQ(*energy->flops_per_joule, 1000 / (6.0 / 160));
  EXPECT_EQ(energy->source, "rapl:package-0");
}

TEST(EnergyTest, TimeBetweenSamplesCountsWithNeitherItsEnergyNorItsTime) {
  const auto energy = energy_of({process(ProcessEnergy{2'000'000, 125ms, "nvml"})});
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules_per_iteration, 2.0 * 100 / 125 / 80);
}

TEST(EnergyTest, ProcessesWithoutValidReadingsAreLeftOut) {
  const ProcessEnergy valid{2'000'000, 100ms, "rapl:package-0"};
  const auto energy = energy_of({process(valid), process(std::nullopt),
                                 process(ProcessEnergy{9'000'000, 49ms, "rapl:package-0"}),
                                 process(ProcessEnergy{9'000'000, 100ms, "nvml"})});
  ASSERT_TRUE(energy);
  EXPECT_DOUBLE_EQ(energy->joules_per_iteration, 2.0 / 80);
  EXPECT_FALSE(energy_of({process(std::nullopt)}));
}

TEST(EnergyTest, WithoutOperationsThereIsNoRate) {
  const ProcessEnergy valid{2'000'000, 100ms, "rapl:package-0"};
  EXPECT_EQ(energy_of({process(valid)}, std::nullopt)->flops_per_joule, std::nullopt);
  EXPECT_EQ(energy_of({process(valid)}, 0)->flops_per_joule, std::nullopt);
}

TEST(EnergyTest, ShortReadingsAndACounterThatStandsStillAreNotValid) {
  EXPECT_EQ(energy_unavailable_reason({1, 50ms, "nvml"}), std::nullopt);
  EXPECT_EQ(energy_unavailable_reason({1, 12ms, "nvml"}),
            "a process ran for 12.00 ms, and the energy counter needs 50.00 ms: raise "
            "measure.min_iterations");
  EXPECT_THAT(energy_unavailable_reason({0, 50ms, "nvml"}).value_or(""),
              HasSubstr("did not change"));
}

TEST(EnergyTest, AnEnergyReplacesTheReasonOfOneProcess) {
  CaseRecord record;
  record.details[kEnergyDetail] = "n/a: a process ran for 12.00 ms";
  ProcessRecord none = process(std::nullopt);
  const ProcessRecord* processes[] = {&none};
  fill_energy(record, processes);
  EXPECT_TRUE(record.details.contains(kEnergyDetail));
  none.energy = ProcessEnergy{2'000'000, 100ms, "nvml"};
  fill_energy(record, processes);
  EXPECT_TRUE(record.energy);
  EXPECT_FALSE(record.details.contains(kEnergyDetail));
}

}  // namespace
}  // namespace bench
