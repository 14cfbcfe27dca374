// SPDX-License-Identifier: Apache-2.0
#include "base/plural.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace bench {
namespace {

TEST(Plural, TheNounAgreesWithItsCount) {
  EXPECT_EQ(pluralise(1, "case"), "1 case");
  EXPECT_EQ(pluralise(std::size_t{0}, "case"), "0 cases");
  EXPECT_EQ(pluralise(std::int64_t{12}, "discarded sample"), "12 discarded samples");
  EXPECT_EQ(pluralise(-1, "case"), "-1 cases");
}

TEST(Plural, NounsThatEndInASibilantOrInY) {
  EXPECT_EQ(pluralise(2, "process"), "2 processes");
  EXPECT_EQ(pluralise(2, "box"), "2 boxes");
  EXPECT_EQ(pluralise(2, "batch"), "2 batches");
  EXPECT_EQ(pluralise(2, "activity"), "2 activities");
  EXPECT_EQ(pluralise(2, "day"), "2 days");
  EXPECT_EQ(pluralise(1, "activity"), "1 activity");
}

TEST(Plural, OtherWordsAgreeToo) {
  EXPECT_EQ(pluralise(1, "case has", "cases have"), "1 case has");
  EXPECT_EQ(pluralise(std::size_t{0}, "case has", "cases have"), "0 cases have");
  EXPECT_EQ(pluralise(2, "part of a layer", "parts of layers"), "2 parts of layers");
}

TEST(WithArticle, FollowsTheFirstLetter) {
  EXPECT_EQ(with_article("gemm"), "a gemm");
  EXPECT_EQ(with_article("attention"), "an attention");
  EXPECT_EQ(with_article("optimizer"), "an optimizer");
}

}  // namespace
}  // namespace bench
