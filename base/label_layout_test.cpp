// SPDX-License-Identifier: Apache-2.0
#include "base/label_layout.hpp"

#include <gtest/gtest.h>

#include <array>

namespace bench {
namespace {

constexpr std::array<LabelSpot, 3> kSpots = {{{{10, 20}}, {{10, 50}}, {{10, 80}}}};

double place_y(LabelLayout& layout) { return layout.place("l2 200 GB/s", kSpots).at.y; }

TEST(LabelLayout, TakesTheFirstSpotIfNothingIsThere) {
  LabelLayout layout({0, 0}, {200, 100});
  EXPECT_EQ(place_y(layout), 20);
}

TEST(LabelLayout, LabelsDoNotOverlap) {
  LabelLayout layout({0, 0}, {200, 100});
  EXPECT_EQ(place_y(layout), 20);
  EXPECT_EQ(place_y(layout), 50);
  EXPECT_EQ(place_y(layout), 80);
}

TEST(LabelLayout, ALabelCrossesALineRatherThanAMark) {
  LabelLayout layout({0, 0}, {200, 100});
  layout.avoid_mark({30, 18}, 4);
  layout.avoid_mark({30, 78}, 4);
  layout.avoid_line({40, 0}, {20, 100});
  EXPECT_EQ(place_y(layout), 50);
}

TEST(LabelLayout, ALineThatEndsBesideALabelDoesNotCrossIt) {
  LabelLayout layout({0, 0}, {200, 100});
  layout.avoid_line({0, 0}, {9, 100});
  layout.avoid_line({0, 30}, {200, 30});
  layout.avoid_line({100, 0}, {150, 100});
  EXPECT_EQ(place_y(layout), 20);
}

TEST(LabelLayout, ALabelStaysInsideTheArea) {
  LabelLayout layout({0, 30}, {200, 70});
  layout.avoid_mark({30, 48}, 4);
  EXPECT_EQ(place_y(layout), 80);
  constexpr std::array<LabelSpot, 2> kCutAndWhole = {{{{150, 50}}, {{10, 80}}}};
  EXPECT_EQ(LabelLayout({0, 0}, {200, 100}).place("l2 200 GB/s", kCutAndWhole).at.x, 10);
}

}  // namespace
}  // namespace bench
