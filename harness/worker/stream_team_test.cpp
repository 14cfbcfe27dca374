// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_team.hpp"

#include "harness/host/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <thread>

namespace bench {
namespace {

using testing::ElementsAre;

std::vector<int> bound_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &mask)) processors.push_back(i);
  }
  return processors;
}

// Returns for each thread of a parallel region the processors that it may use.
std::vector<std::vector<int>> region_processors() {
  std::vector<std::vector<int>> processors(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  processors[static_cast<std::size_t>(omp_get_thread_num())] = bound_processors();
  return processors;
}

TEST(StreamTeam, AllStreamsRunAtTheSameTimeOnThreadsOfTheirOwn) {
  StreamTeam team({{0}, {0}, {0}});
  std::atomic<int> inside{0};
  std::vector<std::thread::id> threads(3);
  team.run_all([&](std::size_t stream) {
    inside.fetch_add(1);
    while (inside.load() < 3) std::this_thread::yield();  // ends only if all three are inside
    threads[stream] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 3u);
  std::thread::id again;
  team.run_on(1, [&] { again = std::this_thread::get_id(); });
  EXPECT_EQ(again, threads[1]);
}

TEST(StreamTeam, AStreamsExceptionReachesTheCaller) {
  StreamTeam team({{0}, {0}});
  EXPECT_THROW(team.run_on(1, [] { throw std::bad_alloc(); }), std::bad_alloc);
  const auto fails_in_second = [](std::size_t stream) {
    if (stream == 1) throw std::runtime_error("second");
  };
  EXPECT_THROW(team.run_all(fails_in_second), std::runtime_error);
  team.run_all([](std::size_t) {});  // the error does not remain
}

TEST(StreamTeam, EachStreamHasItsShareOfTheThreads) {
  StreamTeam team({{0, 0}, {0}});
  EXPECT_EQ(team.threads(), 3);
  std::vector<int> threads(2);
  team.run_all([&](std::size_t stream) { threads[stream] = omp_get_max_threads(); });
  EXPECT_THAT(threads, ElementsAre(2, 1));
}

// With the places of OpenMP, the threads of both streams were on the same processors.
TEST(StreamTeam, StreamsHaveNoProcessorInCommon) {
  const auto placed = place_streams({std::nullopt, 2}, allowed_cores());
  if (!placed) GTEST_SKIP() << "this machine has one processor";
  StreamTeam team(*placed);
  for (int round = 0; round < 2; ++round) {  // the second time, the threads exist already
    team.bind_threads();
    for (std::size_t stream = 0; stream < 2; ++stream) {
      const std::vector<int>& own = (*placed)[stream];
      std::vector<std::vector<int>> regions;
      team.run_on(stream, [&] { regions = region_processors(); });
      ASSERT_EQ(regions.size(), own.size());
      // The thread that starts regions may use all processors of its stream, the others one.
      EXPECT_EQ(std::set(regions.front().begin(), regions.front().end()),
                std::set(own.begin(), own.end()));
      for (std::size_t thread = 1; thread < own.size(); ++thread)
        EXPECT_THAT(regions[thread], ElementsAre(own[thread]));
    }
  }
}

}  // namespace
}  // namespace bench
