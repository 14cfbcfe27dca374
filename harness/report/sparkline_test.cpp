// SPDX-License-Identifier: Apache-2.0
#include "harness/report/sparkline.hpp"

#include "base/text.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

TEST(Sparkline, LowValuesAreLow) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4}, {}), "_.-'^");
  EXPECT_EQ(sparkline(std::vector<double>{8, 8, 0}, {.glyphs = Glyphs::blocks}),
            "\u2588\u2588\u2581");
}

TEST(Sparkline, NoiseLooksFlat) {
  EXPECT_EQ(sparkline(std::vector<double>{0.001, 0, 0.002}, {.min_range = 0.05}), "---");
  EXPECT_EQ(sparkline(std::vector<double>{2, 2}, {}), "--");
}

TEST(Sparkline, ManyValuesAreMediansOfParts) {
  const std::vector<double> values = {0, 0, 9, 0, 4, 4, 4, 4};
  EXPECT_EQ(sparkline(values, {.width = 2}), "_^");  // one value of 9 does not count
  EXPECT_EQ(display_width(sparkline(std::vector<double>(100, 1.0), {.glyphs = Glyphs::blocks})),
            16u);
  EXPECT_EQ(sparkline({}, {}), "");
}

}  // namespace
}  // namespace bench
