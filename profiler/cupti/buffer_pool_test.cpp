// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/buffer_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace bench {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(BufferPool, BuffersAreOfZerosAndComeBackInOrder) {
  BufferPool pool(4096, 1 << 20);
  std::uint8_t* const first = pool.request();
  std::uint8_t* const second = pool.request();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(std::all_of(first, first + 4096, [](std::uint8_t byte) { return byte == 0; }));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 8, 0u);
  pool.complete(second, 10);
  pool.complete(first, 20);
  const auto filled = pool.take();
  ASSERT_THAT(filled, SizeIs(2));
  EXPECT_EQ(filled[0].bytes.get(), second);
  EXPECT_EQ(filled[0].valid, 10u);
  EXPECT_EQ(filled[1].valid, 20u);
  EXPECT_THAT(pool.take(), IsEmpty());
  EXPECT_EQ(pool.take_discarded(), 0);
}

TEST(BufferPool, EmptyBuffersAreForgotten) {
  BufferPool pool(4096, 4096);
  for (int i = 0; i < 3; ++i) pool.complete(pool.request(), 0);
  EXPECT_THAT(pool.take(), IsEmpty());
  EXPECT_EQ(pool.take_discarded(), 0);
}

TEST(BufferPool, BeyondTheLimitRecordsAreThrownAwayAndCounted) {
  BufferPool pool(4096, 8192);
  pool.complete(pool.request(), 1);
  pool.complete(pool.request(), 1);
  std::uint8_t* const surplus = pool.request();
  ASSERT_NE(surplus, nullptr);  // never refused
  pool.complete(surplus, 1);
  pool.complete(pool.request(), 0);  // contained nothing
  EXPECT_EQ(pool.take_discarded(), 1);
  EXPECT_THAT(pool.take(), SizeIs(2));
  pool.complete(pool.request(), 1);  // there is space again
  EXPECT_THAT(pool.take(), SizeIs(1));
  EXPECT_EQ(pool.take_discarded(), 0);
}

TEST(BufferPool, ManyThreads) {
  BufferPool pool(64, 1 << 20);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) pool.complete(pool.request(), 8);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(pool.take(), SizeIs(400));
}

}  // namespace
}  // namespace bench
