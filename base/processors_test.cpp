// SPDX-License-Identifier: Apache-2.0
#include "base/processors.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <sched.h>
#include <set>
#include <thread>

namespace bench {
namespace {

TEST(Processors, IncludeThoseOfThisThread) {
  const std::vector<int> processors = usable_processors();
  const std::set<int> usable(processors.begin(), processors.end());
  EXPECT_EQ(usable.size(), processors.size());
  EXPECT_TRUE(usable.contains(sched_getcpu()));
}

TEST(OwnThreads, AreThoseOfThisProcess) {
  const std::vector<int> before = own_threads();
  EXPECT_FALSE(before.empty());
  std::atomic<bool> ends = false;
  std::jthread thread([&] { ends.wait(false); });
  EXPECT_EQ(own_threads().size(), before.size() + 1);
  ends = true;
  ends.notify_all();
}

TEST(CountPreemptions, NeverDecreases) {
  const std::int64_t before = count_preemptions();
  EXPECT_GE(before, 0);
  EXPECT_GE(count_preemptions(), before);
}

TEST(RunInParallel, DoesEveryItemOnceAndThreadsDoNotOverlap) {
  const std::vector<int> processors = {0, 0, 0};  // three threads, also on one processor
  constexpr std::size_t kItems = 200;
  std::vector<std::atomic<int>> calls(kItems), busy(processors.size());
  std::atomic<bool> overlaps = false;
  run_in_parallel(kItems, processors, [&](std::size_t item, std::size_t thread) {
    if (thread >= processors.size() || busy[thread]++ != 0) overlaps = true;
    ++calls[item];
    std::this_thread::yield();
    if (thread < processors.size()) --busy[thread];
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_FALSE(overlaps);
}

TEST(RunInParallel, OneItemNeedsNoOtherThread) {
  const auto self = std::this_thread::get_id();
  int calls = 0;
  run_in_parallel(1, std::vector<int>{0, 1}, [&](std::size_t item, std::size_t thread) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(item + thread, 0u);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  run_in_parallel(0, std::vector<int>{0, 1}, [&](std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace bench
