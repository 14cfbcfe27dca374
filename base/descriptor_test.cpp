// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <utility>

namespace bench {
namespace {

int open_null() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(DescriptorTest, IsClosedAtTheEnd) {
  int number = -1;
  {
    const Descriptor file(open_null());
    number = file.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(DescriptorTest, WhatIsReleasedStaysOpen) {
  int number = -1;
  {
    Descriptor file(open_null());
    number = file.release();
    EXPECT_LT(file.get(), 0);
  }
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

TEST(DescriptorTest, AMoveTakesTheOwnership) {
  const auto moved = [](Descriptor file) { return Descriptor(std::move(file)); };
  int number = -1;
  {
    const Descriptor file = moved(Descriptor(open_null()));
    number = file.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

// close(-1) would set errno.
TEST(DescriptorTest, ANegativeNumberIsNotClosed) {
  {
    const Descriptor none(-1);
    EXPECT_EQ(none.get(), -1);
    errno = 0;
  }
  EXPECT_EQ(errno, 0);
}

}  // namespace
}  // namespace bench
