// SPDX-License-Identifier: Apache-2.0
#include "harness/result/summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace bench {
namespace {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProcessRecord process(std::initializer_list<std::int64_t> samples, std::int64_t iterations = 1) {
  ProcessRecord record;
  for (std::int64_t sample : samples) record.samples.emplace_back(sample);
  record.iterations_per_sample = iterations;
  record.implementation = "brgconv:avx512_core";
  return record;
}

std::vector<const ProcessRecord*> pointers(const std::vector<ProcessRecord>& processes) {
  std::vector<const ProcessRecord*> result;
  for (const ProcessRecord& record : processes) result.push_back(&record);
  return result;
}

std::vector<ProcessRecord> five_processes() {
  return {process({100, 101, 102}), process({99, 100, 101}), process({104, 105, 106}),
          process({97, 98, 99}), process({100, 102, 104})};
}

TEST(Summarise, MedianAndQuartilesAreMediansOverProcesses) {
  const auto processes = five_processes();
  const auto time = summarise(all_samples(pointers(processes)));
  ASSERT_TRUE(time);
  // Medians: 101 100 105 98 102.
  EXPECT_EQ(time->median, Nanoseconds(101));
  EXPECT_EQ(time->low, Nanoseconds(98));
  EXPECT_EQ(time->high, Nanoseconds(105));
  EXPECT_EQ(time->confidence, 0.9375);
  EXPECT_EQ(time->min, Nanoseconds(97));
  EXPECT_EQ(time->max, Nanoseconds(106));
  EXPECT_EQ(time->mean, Nanoseconds(101));     // 1518 / 15 = 101.2
  EXPECT_EQ(time->deviation, Nanoseconds(3));  // sqrt(96.4 / 14) = 2.62
  EXPECT_EQ(time->p90, Nanoseconds(105));      // 104.6
  EXPECT_EQ(time->p99, Nanoseconds(106));      // 105.86
  // Lower quartiles, rounded: 101 100 105 98 101; upper ones: 102 101 106 99 103.
  EXPECT_EQ(time->q25, Nanoseconds(101));
  EXPECT_EQ(time->q75, Nanoseconds(102));
}

TEST(Summarise, BatchedSamplesAreDividedAndRounded) {
  const std::vector<ProcessRecord> processes = {process({1004, 1006, 1015}, 10),
                                                process({100, 101, 102}, 1)};
  const auto time = summarise(all_samples(pointers(processes)));
  ASSERT_TRUE(time);
  EXPECT_EQ(time->median, Nanoseconds(101));
  EXPECT_EQ(time->min, Nanoseconds(100));
  EXPECT_EQ(time->max, Nanoseconds(102));
}

TEST(Summarise, FewProcessesHaveNoInterval) {
  std::vector<ProcessRecord> processes = five_processes();
  processes.pop_back();
  const auto time = summarise(all_samples(pointers(processes)));
  ASSERT_TRUE(time);
  EXPECT_FALSE(time->low);
  EXPECT_FALSE(time->high);
  EXPECT_FALSE(time->confidence);
}

TEST(Summarise, AbsentWithoutSamples) {
  const std::vector<ProcessRecord> processes = {process({})};
  EXPECT_FALSE(summarise(all_samples(pointers(processes))));
  EXPECT_FALSE(summarise(std::span<const CountedSamples>()));
}

TEST(CompleteCase, RatesFromWorkAndMedian) {
  const auto processes = five_processes();
  CaseRecord record;
  record.work = ops::Work{std::nullopt, 2020, 0, 0, 300, 103};
  complete_case(record, pointers(processes), 0.5);
  ASSERT_TRUE(record.flops_per_s && record.bytes_per_s);
  EXPECT_DOUBLE_EQ(record.flops_per_s->value, 2020e9 / 101);
  EXPECT_DOUBLE_EQ(record.bytes_per_s->value, 403e9 / 101);
  EXPECT_EQ(record.implementation, "brgconv:avx512_core");
  EXPECT_THAT(record.flags, IsEmpty());
  EXPECT_THAT(record.details, IsEmpty());
}

TEST(CompleteCase, NoWorkNoRates) {
  const auto processes = five_processes();
  CaseRecord record;
  complete_case(record, pointers(processes), 0.5);
  EXPECT_FALSE(record.flops_per_s);
  EXPECT_FALSE(record.bytes_per_s);
}

TEST(CompleteCase, NoisyWhereTheIntervalIsWiderThanThePrecision) {
  const auto processes = five_processes();  // (105 - 98) / 2 / 101 = 3.465 %
  CaseRecord wide;
  complete_case(wide, pointers(processes), 0.0346);
  EXPECT_THAT(wide.flags, ElementsAre(Flag::noisy));
  CaseRecord narrow;
  complete_case(narrow, pointers(processes), 0.0347);
  EXPECT_THAT(narrow.flags, IsEmpty());
  CaseRecord unknown;
  complete_case(unknown, pointers(processes), kUnknownPrecision);
  EXPECT_THAT(unknown.flags, IsEmpty());
}

TEST(CompleteCase, FlagsStaySortedAndOnce) {
  auto processes = five_processes();
  processes[3].steady = false;
  CaseRecord record;
  record.flags = {Flag::interrupted, Flag::noisy};
  complete_case(record, pointers(processes), 0.001);
  EXPECT_THAT(record.flags, ElementsAre(Flag::noisy, Flag::unsteady, Flag::interrupted));
}

// Processes with canaries: 20 samples at each of the two speeds.
std::vector<ProcessRecord> processes_at_two_speeds(int count) {
  std::vector<ProcessRecord> processes;
  for (int number = 0; number < count; ++number) {
    ProcessRecord& record = processes.emplace_back();
    for (int i = 0; i < 40; ++i) {
      record.samples.push_back(i < 20 ? 100us : 150us);
      record.canaries.times.push_back(i < 20 ? 1500ns : 2300ns);
    }
    record.canaries.threads = 2;
  }
  return processes;
}

TEST(CompleteCase, ATimeIsStatedAtALevelOfSpeed) {
  const auto processes = processes_at_two_speeds(5);
  CaseRecord record;
  const SpeedLevel slow{2300ns, LevelSource::stored};
  complete_case(record, pointers(processes), 0.5, slow);
  ASSERT_TRUE(record.time && record.time_all);
  EXPECT_EQ(record.time->at, slow);
  EXPECT_NEAR(record.time->median.count(), 150'000, 200);
  EXPECT_NEAR(record.time->q25.count(), 150'000, 1000);  // all samples are corrected
  ASSERT_TRUE(record.time->low && record.time->high);
  EXPECT_LT(*record.time->low, record.time->median);
  EXPECT_EQ(record.time->confidence, 0.95);
  EXPECT_EQ(record.time_all->median, 125us);  // as measured
  EXPECT_FALSE(record.time_all->at);
  EXPECT_THAT(record.flags, IsEmpty());
}

TEST(CompleteCase, WithoutAStoredLevelTheRunsOwnOneIsStated) {
  CaseRecord record;
  complete_case(record, pointers(processes_at_two_speeds(5)), 0.5);
  EXPECT_EQ(record.time->at, (SpeedLevel{1500ns, LevelSource::run}));
  EXPECT_NEAR(record.time->median.count(), 100'000, 200);
}

TEST(CompleteCase, ATimeAtALevelThatTheRunNeverSawIsFlaggedAndLessCertain) {
  const auto processes = processes_at_two_speeds(5);
  CaseRecord seen, unseen;
  complete_case(seen, pointers(processes), 0.5, SpeedLevel{1500ns, LevelSource::stored});
  complete_case(unseen, pointers(processes), 0.5, SpeedLevel{1200ns, LevelSource::stored});
  EXPECT_THAT(unseen.flags, ElementsAre(Flag::disturbed));
  EXPECT_LT(unseen.time->median, seen.time->median);
  EXPECT_GT(*interval_half_width(*unseen.time), 3 * *interval_half_width(*seen.time));
}

TEST(CompleteCase, FewProcessesAtALevelHaveNoInterval) {
  CaseRecord record;
  complete_case(record, pointers(processes_at_two_speeds(4)), 0.5);
  EXPECT_FALSE(record.time->low);
  EXPECT_FALSE(record.time->confidence);
}

TEST(CompleteCase, AProcessWithoutCanariesStatesTimesAsMeasured) {
  auto processes = processes_at_two_speeds(5);
  processes[2].canaries = {};
  CaseRecord record;
  complete_case(record, pointers(processes), 0.5);
  EXPECT_FALSE(record.time->at);
  EXPECT_FALSE(record.time_all);
  EXPECT_EQ(record.time->median, 125us);
}

// The driver keeps on disk what the first process compiled.
TEST(CompleteCase, AMuchLongerFirstCreationIsNotMixedWithTheLaterOnes) {
  for (const auto& [first, create, detail] :
       {std::tuple(12'518ms, 2'000ms, true), std::tuple(3'999ms, 2'000ms, false)}) {
    auto processes = five_processes();
    for (ProcessRecord& process : processes) process.preparation.create = 2'000ms;
    processes[0].preparation.create = first;
    processes[3].preparation.create = 1'900ms;
    CaseRecord record;
    complete_case(record, pointers(processes), 0.5);
    EXPECT_EQ(record.preparation.create, create);
    EXPECT_EQ(record.details.contains("create_first_ns"), detail);
    EXPECT_EQ(record.details["create_first_ns"], detail ? "12518000000" : "");
  }
}

TEST(CompleteCase, MediansOfSetupTimesOverTheProcessesThatHaveThem) {
  auto processes = five_processes();
  processes[0].preparation.create = Nanoseconds(10);
  processes[1].preparation.create = Nanoseconds(30);
  processes[4].preparation.create = Nanoseconds(20);
  processes[2].preparation.first_run = Nanoseconds(7);
  CaseRecord record;
  complete_case(record, pointers(processes), 0.5);
  EXPECT_EQ(record.preparation.create, Nanoseconds(20));
  EXPECT_EQ(record.preparation.first_run, Nanoseconds(7));
  EXPECT_FALSE(record.preparation.create_hit);
  EXPECT_FALSE(record.details.contains("create_first_ns"));
  EXPECT_FALSE(record.preparation.reorder);
}

TEST(CompleteCase, NamesProcessesThatRanAnotherKernel) {
  auto processes = five_processes();
  processes[2].implementation = "jit:avx2";
  processes[3].implementation = "gemm:ref";
  processes[4].implementation = "jit:avx2";
  CaseRecord record;
  complete_case(record, pointers(processes), 0.5);
  EXPECT_EQ(record.implementation, "brgconv:avx512_core");
  EXPECT_EQ(record.details.at("implementation.others"), "jit:avx2, gemm:ref");
}

CaseRecord timed(const std::string& id, std::int64_t median) {
  CaseRecord record;
  record.id = id;
  record.time.emplace();
  record.time->median = Nanoseconds(median);
  return record;
}

CaseRecord layer(const std::string& id, std::int64_t median, std::vector<std::string> layers) {
  CaseRecord record = timed(id, median);
  record.network = "net";
  record.multiplicity = static_cast<int>(layers.size());
  record.layers = std::move(layers);
  return record;
}

// Two layers in two cache modes, and the whole network.
Report network_report() {
  Report report;
  report.cases = {layer("conv/forward/c1/f32/onednn/cpu/hot", 10, {"a", "b", "c"}),
                  layer("conv/forward/c1/f32/onednn/cpu/cold_weights", 12, {"a", "b", "c"}),
                  layer("gemm/forward/m1/f32/onednn/cpu/hot", 50, {"fc"}),
                  layer("gemm/forward/m1/f32/onednn/cpu/cold_weights", 60, {"fc"}),
                  timed("network/forward/net/f32/onednn/cpu/hot", 100),
                  timed("conv/forward/c9/f32/onednn/cpu/hot", 1'000)};
  report.cases[4].preparation.create = Nanoseconds(7);
  report.cases[4].preparation.reorder = Nanoseconds(8);
  report.cases[4].preparation.first_run = Nanoseconds(9);
  return report;
}

TEST(SummariseNetworks, OneForEachCacheMode) {
  const auto networks = summarise_networks(network_report());
  ASSERT_THAT(networks, SizeIs(2));
  const NetworkSummary& hot = networks[0];
  EXPECT_EQ(hot.network, "net");
  EXPECT_EQ(hot.network_id, "network/forward/net/f32/onednn/cpu/hot");
  EXPECT_EQ(hot.cache, "hot");
  EXPECT_EQ(hot.network_time, Nanoseconds(100));
  EXPECT_EQ(hot.layers_time, Nanoseconds(80));
  EXPECT_EQ(hot.layers_measured, 2);
  EXPECT_EQ(hot.layers_total, 2);
  EXPECT_DOUBLE_EQ(*hot.rest, 0.2);
  EXPECT_EQ(hot.preparation.create, Nanoseconds(7));
  EXPECT_EQ(hot.preparation.reorder, Nanoseconds(8));
  EXPECT_EQ(hot.preparation.first_run, Nanoseconds(9));
  EXPECT_EQ(networks[1].cache, "cold_weights");
  EXPECT_EQ(networks[1].layers_time, Nanoseconds(96));
  EXPECT_DOUBLE_EQ(*networks[1].rest, 0.04);
}

TEST(SummariseNetworks, TheLayersThatTakeMostFirst) {
  const auto networks = summarise_networks(network_report());
  ASSERT_THAT(networks, SizeIs(2));
  ASSERT_THAT(networks[0].top, SizeIs(2));
  EXPECT_EQ(networks[0].top[0].layers, std::vector<std::string>{"fc"});
  EXPECT_EQ(networks[0].top[0].time, Nanoseconds(50));
  EXPECT_DOUBLE_EQ(networks[0].top[0].share, 50.0 / 80);
  EXPECT_EQ(networks[0].top[1].time, Nanoseconds(30));
  EXPECT_EQ(networks[0].top[1].multiplicity, 3u);
}

TEST(SummariseNetworks, ARestIsNegativeWhereLayersTakeLonger) {
  Report report = network_report();
  report.cases[4].time->median = Nanoseconds(40);
  EXPECT_DOUBLE_EQ(*summarise_networks(report)[0].rest, -1.0);
}

TEST(SummariseNetworks, MissingLayersLeaveNoRest) {
  Report report = network_report();
  report.cases[0].time.reset();
  const NetworkSummary hot = summarise_networks(report)[0];
  EXPECT_THAT(hot.missing, ElementsAre("conv/forward/c1/f32/onednn/cpu/hot"));
  EXPECT_EQ(hot.layers_measured, 1);
  EXPECT_EQ(hot.layers_total, 2);
  EXPECT_FALSE(hot.rest);
}

// A stopped or filtered run has no record of the other layers: the sum of one layer left 97 % of a
// network unexplained.
TEST(SummariseNetworks, LayersThatTheReportLacksLeaveNoRest) {
  const auto with_products = [](CaseRecord& record, std::int64_t products) {
    record.work.emplace();
    record.work->macs = products;
    record.work->flops = 2 * products + 1;
  };
  Report report = network_report();
  with_products(report.cases[0], 10);
  with_products(report.cases[2], 70);
  with_products(report.cases[4], 100);
  const NetworkSummary whole = summarise_networks(report)[0];
  EXPECT_DOUBLE_EQ(*whole.covered_work, 1);
  EXPECT_TRUE(has_all_layers(whole));
  EXPECT_TRUE(whole.rest);
  report.cases.erase(report.cases.begin());
  const NetworkSummary part = summarise_networks(report)[1];
  EXPECT_EQ(part.cache, "hot");
  EXPECT_DOUBLE_EQ(*part.covered_work, 0.7);
  EXPECT_THAT(part.missing, testing::IsEmpty());
  EXPECT_FALSE(has_all_layers(part));
  EXPECT_FALSE(part.rest);
}

TEST(SummariseNetworks, ANetworkWithoutATimeLeavesNoRest) {
  Report report = network_report();
  report.cases[4].time.reset();
  EXPECT_FALSE(summarise_networks(report)[0].rest);
  report.cases.erase(report.cases.begin() + 4);
  const NetworkSummary hot = summarise_networks(report)[0];
  EXPECT_EQ(hot.network_id, "");
  EXPECT_EQ(hot.layers_time, Nanoseconds(80));
}

TEST(SummariseNetworks, ATrainingStepSaysWhatItsSumLacks) {
  Report report = network_report();
  for (CaseRecord& record : report.cases) {
    if (record.network) record.network = "net+training";
  }
  report.cases[2].op = "gemm";
  report.cases[2].unmeasured_gradients = {"backward_data", "backward_weights"};
  const NetworkSummary hot = summarise_networks(report)[0];
  EXPECT_EQ(hot.network, "net+training");
  EXPECT_THAT(hot.lacks, ElementsAre("gradients of gemm (fc)", "the loss", "the optimizer"));
  EXPECT_FALSE(hot.rest);
  const std::string json = to_json_document(report);
  EXPECT_THAT(json, HasSubstr("\"lacks\": [\n        \"gradients of gemm (fc)\","));
  EXPECT_THAT(summarise_networks(network_report())[0].lacks, testing::IsEmpty());
}

TEST(SummariseNetworks, OtherDataTypesAndThreadsAreOtherNetworks) {
  Report report = network_report();
  report.cases[4].id = "network/forward/net/bf16/onednn/cpu/hot";
  auto networks = summarise_networks(report);
  ASSERT_THAT(networks, SizeIs(3));
  EXPECT_EQ(networks[0].network_id, "");
  EXPECT_EQ(networks[2].network_id, "network/forward/net/bf16/onednn/cpu/hot");
  EXPECT_EQ(networks[2].layers_total, 0);
  EXPECT_FALSE(networks[2].rest);
  report.cases[4].id = "network/forward/net/f32/onednn/cpu/hot/t1";
  EXPECT_EQ(summarise_networks(report)[0].network_id, "");
}

TEST(SummariseNetworks, BatchAndFlagsInTheNameOfTheNetwork) {
  Report report = network_report();
  report.cases[4].id = "network/forward/net-n8+separate/f32/onednn/cpu/hot";
  EXPECT_EQ(summarise_networks(report)[0].network_id, report.cases[4].id);
  report.cases[4].id = "network/forward/network2/f32/onednn/cpu/hot";
  EXPECT_EQ(summarise_networks(report)[0].network_id, "");
}

TEST(SummariseNetworks, OfSeveralBatchesNoneIsGuessed) {
  Report report = network_report();
  report.cases[4].id = "network/forward/net-n8/f32/onednn/cpu/hot";
  report.cases.push_back(timed("network/forward/net-n16/f32/onednn/cpu/hot", 300));
  EXPECT_EQ(summarise_networks(report)[0].network_id, "");
  report.cases.push_back(timed("network/forward/net/f32/onednn/cpu/hot", 90));
  EXPECT_EQ(summarise_networks(report)[0].network_time, Nanoseconds(90));
}

TEST(SummariseNetworks, HotNetworksArePreferred) {
  Report report = network_report();
  report.cases.push_back(timed("network/forward/net/f32/onednn/cpu/cold_weights", 130));
  for (const NetworkSummary& summary : summarise_networks(report)) {
    if (summary.layers_total > 0) {
      EXPECT_EQ(summary.network_time, Nanoseconds(100)) << summary.cache;
    }
  }
}

TEST(SummariseNetworks, ALayerOfSeveralNetworksCountsInEach) {
  Report report = network_report();
  report.cases[0].networks = {{"net", {"a", "b", "c"}}, {"other", {"x", "y"}}};
  const auto networks = summarise_networks(report);
  ASSERT_THAT(networks, SizeIs(3));
  EXPECT_EQ(networks[0].layers_time, Nanoseconds(80));
  EXPECT_EQ(networks[1].network, "other");
  EXPECT_EQ(networks[1].layers_time, Nanoseconds(20));
}

TEST(SummariseNetworks, HugeTimesStopAtTheLargest) {
  Report report;
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  report.cases = {layer("conv/a", largest, {"a", "b"}), layer("conv/b", largest, {"c"})};
  EXPECT_EQ(summarise_networks(report).at(0).layers_time, Nanoseconds(largest));
}

TEST(SummariseNetworks, NoNetworks) {
  EXPECT_THAT(summarise_networks({}), IsEmpty());
  Report report;
  report.cases = {timed("conv/forward/c1/f32/onednn/cpu/hot", 5)};
  EXPECT_THAT(summarise_networks(report), IsEmpty());
}

}  // namespace
}  // namespace bench
