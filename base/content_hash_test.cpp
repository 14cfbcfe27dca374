// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.hpp"

#include "base/text.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ContentHash, PartsHaveTheHashOfTheWhole) {
  ContentHash hash;
  EXPECT_EQ(hash.text(), content_hash(""));
  hash.add("foo");
  hash.add("");
  hash.add("bar");
  EXPECT_EQ(hash.text(), content_hash("foobar"));
  EXPECT_EQ(hash.text(), "85944171f73967e8");
}

}  // namespace
}  // namespace bench
