// SPDX-License-Identifier: Apache-2.0
#include "harness/run/schedule.hpp"

#include "base/random.hpp"
#include "harness/run/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace bench {
namespace {

Case small_case(const std::string& tokens, CacheMode cache, std::optional<int> threads = {}) {
  Case spec;
  spec.key.op = "gemm";
  spec.key.parameters = tokens;
  spec.key.cache = cache;
  spec.key.threads = threads;
  spec.id = to_id(spec.key);
  return spec;
}

// Ten problems, each hot and cold; two more with one thread; two networks.
Plan mixed_plan() {
  Plan plan;
  for (int i = 1; i <= 10; ++i) {
    const std::string tokens = "m" + std::to_string(i) + "n1k1";
    plan.cases.push_back(small_case(tokens, CacheMode::hot));
    plan.cases.push_back(small_case(tokens, CacheMode::cold));
  }
  plan.cases.push_back(small_case("m1n1k1", CacheMode::hot, 1));
  plan.cases.push_back(small_case("m2n1k1", CacheMode::hot, 1));
  for (const char* name : {"resnet18", "vgg16"}) {
    Case network = small_case(name, CacheMode::hot);
    network.key.op = "network";
    plan.cases.push_back(network);
  }
  return plan;
}

std::vector<std::size_t> all_of(const Plan& plan) {
  std::vector<std::size_t> indices(plan.cases.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

std::vector<std::size_t> flat(const std::vector<WorkerBatch>& batches) {
  std::vector<std::size_t> cases;
  for (const WorkerBatch& batch : batches) {
    cases.insert(cases.end(), batch.cases.begin(), batch.cases.end());
  }
  return cases;
}

TEST(SplitMix, GivesTheReferenceSequence) {
  SplitMix random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
}

// The order was computed by an independent program. std::shuffle would give another one.
TEST(SplitMix, ShufflesAlikeOnAllPlatforms) {
  SplitMix random(1);
  std::vector<int> items = {0, 1, 2, 3, 4, 5, 6, 7};
  random.shuffle(items);
  EXPECT_THAT(items, testing::ElementsAre(0, 3, 7, 1, 2, 6, 5, 4));
}

TEST(ScheduleProcess, HoldsEveryCaseOnce) {
  const Plan plan = mixed_plan();
  const auto cases = flat(schedule_process(plan, all_of(plan), 0, 1));
  EXPECT_EQ(cases.size(), plan.cases.size());
  EXPECT_EQ(std::set(cases.begin(), cases.end()).size(), plan.cases.size());
}

TEST(ScheduleProcess, DependsOnSeedAndProcessAlone) {
  const Plan plan = mixed_plan();
  const auto order = flat(schedule_process(plan, all_of(plan), 2, 1));
  EXPECT_EQ(order, flat(schedule_process(plan, all_of(plan), 2, 1)));
  EXPECT_NE(order, flat(schedule_process(plan, all_of(plan), 3, 1)));
  EXPECT_NE(order, flat(schedule_process(plan, all_of(plan), 2, 2)));
}

TEST(ScheduleProcess, ThreadsAndNetworksHaveTheirOwnWorkers) {
  const Plan plan = mixed_plan();
  const auto batches = schedule_process(plan, all_of(plan), 0, 1);
  ASSERT_EQ(batches.size(), 4u);  // all threads, one thread, two networks
  std::multiset<std::size_t> sizes;
  for (const WorkerBatch& batch : batches) {
    sizes.insert(batch.cases.size());
    for (const std::size_t i : batch.cases)
      EXPECT_EQ(worker_threads(plan.cases[i].key), batch.threads);
  }
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{1, 1, 2, 20}));
}

TEST(ScheduleProcess, NumbersOfStreamsHaveTheirOwnWorkers) {
  Plan plan;
  for (const int streams : {1, 2, 2}) {
    plan.cases.push_back(
        small_case("m4n4k" + std::to_string(4 + plan.cases.size()), CacheMode::hot));
    plan.cases.back().key.streams = streams;
    plan.cases.back().id = to_id(plan.cases.back().key);
  }
  std::multiset<std::pair<int, std::size_t>> batches;
  for (const WorkerBatch& batch : schedule_process(plan, all_of(plan), 0, 1))
    batches.emplace(batch.threads.streams, batch.cases.size());
  EXPECT_EQ(batches, (std::multiset<std::pair<int, std::size_t>>{{1, 1}, {2, 2}}));
}

TEST(ScheduleProcess, VariantsOfAProblemStayTogether) {
  const Plan plan = mixed_plan();
  int cold_first = 0;
  for (int process = 0; process < 5; ++process) {
    for (const WorkerBatch& batch : schedule_process(plan, all_of(plan), process, 1)) {
      if (batch.cases.size() != 20) continue;
      for (std::size_t i = 0; i < 20; i += 2) {
        EXPECT_EQ(batch.cases[i] / 2, batch.cases[i + 1] / 2);
        cold_first += batch.cases[i] % 2 == 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(cold_first, 5);
  EXPECT_LT(cold_first, 45);
}

TEST(ScheduleProcess, DevicesShareNoWorker) {
  Plan plan;
  for (const char* device : {"cpu", "cuda"}) {
    for (int i = 1; i <= 3; ++i) {
      Case spec = small_case("m" + std::to_string(i) + "n1k1", CacheMode::hot);
      spec.key.device = device;
      spec.id = to_id(spec.key);
      plan.cases.push_back(spec);
    }
  }
  const auto batches = schedule_process(plan, all_of(plan), 0, 1);
  ASSERT_EQ(batches.size(), 2U);
  for (const WorkerBatch& batch : batches) {
    std::set<std::string> devices;
    for (const std::size_t i : batch.cases) devices.insert(plan.cases[i].key.device);
    EXPECT_EQ(devices.size(), 1U);
  }
}

}  // namespace
}  // namespace bench
