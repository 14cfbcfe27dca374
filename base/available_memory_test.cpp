// SPDX-License-Identifier: Apache-2.0
#include "base/available_memory.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(MemAvailable, IsReadInKibibytes) {
  const auto bytes = parse_mem_available(
      "MemTotal:       24600000 kB\nMemFree:  100 kB\nMemAvailable:   20000000 kB\nBuffers: 1 "
      "kB\n");
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->count, 20000000LL * 1024);
}

TEST(MemAvailable, ReturnsNulloptIfMissingOrMalformed) {
  EXPECT_FALSE(parse_mem_available("").has_value());
  EXPECT_FALSE(parse_mem_available("MemTotal: 24600000 kB\n").has_value());
  EXPECT_FALSE(parse_mem_available("MemAvailable: ? kB\n").has_value());
}

TEST(CgroupHeadroom, IsTheLimitMinusTheUsage) {
  EXPECT_EQ(parse_cgroup_headroom("1000\n", "400\n")->count, 600);
  EXPECT_EQ(parse_cgroup_headroom("1000\n", "1400\n")->count, 0);
}

TEST(CgroupHeadroom, ReturnsNulloptWithoutALimit) {
  EXPECT_FALSE(parse_cgroup_headroom("max\n", "400\n").has_value());
  EXPECT_FALSE(parse_cgroup_headroom("", "").has_value());
}

TEST(AvailableMemory, IsKnownOnLinux) {
  const auto bytes = available_memory("");
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(bytes->count, 0);
}

}  // namespace
}  // namespace bench
