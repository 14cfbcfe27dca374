// SPDX-License-Identifier: Apache-2.0
#include "ops/network/buffer_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BufferPlan, NothingNeedsNothing) {
  const BufferPlan plan = plan_buffers({});
  EXPECT_THAT(plan.buffer_of, IsEmpty());
  EXPECT_THAT(plan.sizes, IsEmpty());
}

TEST(BufferPlan, ALineOfStepsNeedsTwo) {
  const std::vector<StorageLife> line = {{10, 0, 1}, {30, 1, 2}, {20, 2, 3}, {5, 3, 4}};
  const BufferPlan plan = plan_buffers(line);
  EXPECT_THAT(plan.buffer_of, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(plan.sizes, ElementsAre(20, 30));
}

TEST(BufferPlan, WhatLivesLongKeepsItsBuffer) {
  const std::vector<StorageLife> residual = {{8, 0, 4}, {8, 1, 2}, {8, 2, 3}, {8, 3, 4}, {8, 5, 5}};
  const BufferPlan plan = plan_buffers(residual);
  EXPECT_THAT(plan.buffer_of, ElementsAre(0, 1, 2, 1, 1));
}

TEST(BufferPlan, TheMostRecentlyFreedIsTakenFirst) {
  const std::vector<StorageLife> storages = {{8, 0, 1}, {8, 0, 2}, {8, 0, 3}, {8, 4, 4}};
  EXPECT_EQ(plan_buffers(storages).buffer_of.back(), 2u);
}

TEST(BufferPlan, NoTwoLivingStoragesShareABuffer) {
  std::mt19937_64 random(3);
  const auto draw = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<StorageLife> storages;
    std::size_t first = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      first += draw(0, 2);
      storages.push_back({static_cast<std::int64_t>(draw(1, 100)), first, first + draw(0, 6)});
    }
    const BufferPlan plan = plan_buffers(storages);
    for (std::size_t i = 0; i < storages.size(); ++i) {
      EXPECT_LE(storages[i].bytes, plan.sizes[plan.buffer_of[i]]);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together =
            storages[i].first <= storages[j].last && storages[j].first <= storages[i].last;
        EXPECT_FALSE(together && plan.buffer_of[i] == plan.buffer_of[j]) << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops
