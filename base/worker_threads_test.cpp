// SPDX-License-Identifier: Apache-2.0
#include "base/worker_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;

TEST(ShareThreads, TheFirstStreamsHaveOneMoreIfAnyRemain) {
  EXPECT_THAT(share_threads(8, 2), ElementsAre(4, 4));
  EXPECT_THAT(share_threads(7, 2), ElementsAre(4, 3));
  EXPECT_THAT(share_threads(8, 3), ElementsAre(3, 3, 2));
  EXPECT_THAT(share_threads(3, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(share_threads(5, 1), ElementsAre(5));
}

TEST(CheckStreams, MoreStreamsThanThreadsAreRefusedWithTheNextStep) {
  EXPECT_TRUE(check_streams(4, 4).ok());
  const Status status = check_streams(4, 2);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().what, "4 streams need at least 4 threads, found 2");
  EXPECT_EQ(status.error().next, "use `streams: 2` or fewer, or `threads: 4` or more");
}

}  // namespace
}  // namespace bench
