// SPDX-License-Identifier: Apache-2.0
#include "harness/report/short_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kConvId = "conv/forward/c64k64/f32/onednn/cpu/hot";
constexpr std::string_view kSecond = "conv/forward/c3k64/f32/onednn/cpu/cold/t1";

TEST(IdShortener, LeavesOutWhatAllShare) {
  const IdShortener shortener({kConvId, kSecond});
  EXPECT_THAT(shortener.forms(kConvId),
              ElementsAre("conv/forward/c64k64/.../hot", "conv/.../c64k64/.../hot",
                          "conv/.../c64k64/.../hot"));
  EXPECT_THAT(shortener.forms(kSecond),
              ElementsAre("conv/forward/c3k64/.../cold/t1", "conv/.../c3k64/.../cold/t1",
                          "conv/.../c3k64/.../cold/t1"));
}

TEST(IdShortener, KeepsWhatDiffers) {
  const IdShortener shortener({kConvId, "conv/backward_data/c64k64/f32/cudnn/cuda/hot"});
  EXPECT_THAT(shortener.forms(kConvId),
              ElementsAre("conv/forward/c64k64/.../onednn/cpu/hot",
                          "conv/forward/c64k64/.../onednn/cpu/hot", "conv/forward/c64k64/.../hot"));
  const IdShortener types({kConvId, "conv/forward/c64k64/bf16/onednn/cpu/hot"});
  EXPECT_EQ(types.forms(kConvId).back(), "conv/.../c64k64/f32/.../hot");
}

TEST(IdShortener, NeverTouchesParametersAndCache) {
  const IdShortener shortener({kConvId});
  EXPECT_THAT(shortener.forms(kConvId),
              ElementsAre("conv/forward/c64k64/.../hot", "conv/.../c64k64/.../hot",
                          "conv/.../c64k64/.../hot"));
}

TEST(IdShortener, WhatIsNoIdHasNoShorterForm) {
  EXPECT_THAT(IdShortener({"x/y"}).forms("x/y"), IsEmpty());
  EXPECT_THAT(IdShortener({}).forms(""), IsEmpty());
}

}  // namespace
}  // namespace bench
