// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/probe_work.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr Bytes probe_mebibytes(std::int64_t count) { return Bytes{count << 20}; }

TEST(ProbeWork, MemoryGrowsWithTheLastCacheAndTheThreads) {
  EXPECT_EQ(probe_memory(std::nullopt, 2), probe_mebibytes(192));
  EXPECT_EQ(probe_memory(probe_mebibytes(32), 2), probe_mebibytes(192));
  EXPECT_EQ(probe_memory(probe_mebibytes(128), 2), probe_mebibytes(256));
  EXPECT_EQ(probe_memory(probe_mebibytes(1152), 2), probe_mebibytes(1024));
  EXPECT_EQ(probe_memory(probe_mebibytes(32), 256), probe_mebibytes(1536));
}

TEST(ProbeWork, DoesNotTakeMemoryThatIsNotThere) {
  EXPECT_EQ(make_probe_work(std::nullopt, probe_mebibytes(191)), nullptr);
}

TEST(ProbeWork, StaysWithinItsMemory) {
  const auto work = make_probe_work(std::nullopt, std::nullopt);
  ASSERT_NE(work, nullptr);
  work->compute();
  for (int i = 0; i < 600; ++i) work->stream();  // more often than there are parts
}

}  // namespace
}  // namespace bench
