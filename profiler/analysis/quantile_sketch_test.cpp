// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/quantile_sketch.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {
namespace {

void expect_close_to_exact(std::vector<std::int64_t> values) {
  QuantileSketch sketch;
  for (const std::int64_t value : values) sketch.add(value);
  std::sort(values.begin(), values.end());
  for (double q = 0; q <= 1; q += 0.01) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
    const auto found = static_cast<double>(sketch.quantile(q).value());
    // Rounding the middle of a bucket to an integer loses up to half a unit.
    EXPECT_NEAR(found, exact, QuantileSketch::kAccuracy * exact + 0.5) << q;
  }
}

TEST(QuantileSketchTest, IsWithinOnePercentOfTheExactQuantiles) {
  std::vector<std::int64_t> uniform, wide, bimodal;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double random = static_cast<double>(mix(i) >> 11) / static_cast<double>(1ull << 53);
    uniform.push_back(static_cast<std::int64_t>(1'000'000 * random));
    wide.push_back(static_cast<std::int64_t>(std::exp(43 * random)));
    bimodal.push_back(i % 10 == 0 ? 1'000'000 + static_cast<std::int64_t>(i)
                                  : 1000 + static_cast<std::int64_t>(i % 7));
  }
  expect_close_to_exact(uniform);
  expect_close_to_exact(wide);
  expect_close_to_exact(bimodal);
}

TEST(QuantileSketchTest, SmallSamplesAreTheirValues) {
  QuantileSketch sketch;
  EXPECT_FALSE(sketch.quantile(0.5).has_value());
  sketch.add(0);
  EXPECT_EQ(sketch.quantile(0.5), 0);
  EXPECT_EQ(sketch.quantile(1), 0);
  expect_close_to_exact({7});
  expect_close_to_exact({1, 2, 3, 4, 5, 1000});
}

TEST(QuantileSketchTest, TakesTheWholeRange) {
  QuantileSketch sketch;
  sketch.add(-5);
  sketch.add(std::numeric_limits<std::int64_t>::max() / 2);
  EXPECT_EQ(sketch.count(), 2);
  EXPECT_EQ(sketch.quantile(0), 0);
  const auto largest = static_cast<double>(sketch.quantile(1).value());
  EXPECT_NEAR(largest, 4.6e18, 0.011 * 4.6e18);
}

}  // namespace
}  // namespace bench
