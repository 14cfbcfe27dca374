// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/error_control.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

// Percentage points of Student's t as printed (Abramowitz & Stegun, table 26.10; Fisher & Yates).
TEST(StudentT, PublishedQuantiles) {
  struct Row {
    int degrees;
    double at_95, at_975, at_99;
  };
  for (const Row& row :
       {Row{1, 6.314, 12.706, 31.821}, Row{2, 2.920, 4.303, 6.965}, Row{3, 2.353, 3.182, 4.541},
        Row{4, 2.132, 2.776, 3.747}, Row{5, 2.015, 2.571, 3.365}, Row{9, 1.833, 2.262, 2.821},
        Row{10, 1.812, 2.228, 2.764}, Row{19, 1.729, 2.093, 2.539}, Row{20, 1.725, 2.086, 2.528},
        Row{30, 1.697, 2.042, 2.457}, Row{39, 1.685, 2.023, 2.426},
        Row{120, 1.658, 1.980, 2.358}}) {
    EXPECT_NEAR(student_t_quantile(0.95, row.degrees), row.at_95, 6e-4) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.975, row.degrees), row.at_975, 6e-4) << row.degrees;
    EXPECT_NEAR(student_t_quantile(0.99, row.degrees), row.at_99, 6e-4) << row.degrees;
    EXPECT_DOUBLE_EQ(student_t_quantile(0.05, row.degrees), -student_t_quantile(0.95, row.degrees));
  }
  EXPECT_NEAR(student_t_quantile(0.5, 7), 0, 1e-12);
}

TEST(DetectableEffect, ByHand) {
  // t(0.99, 19) = 2.5395, t(0.8, 19) = 0.8610; s_d = 3.4 %: 2.585 %.
  EXPECT_NEAR(*detectable_effect(0.034, 20, 0.01, 0.8), 0.034 * (2.5395 + 0.8610) / std::sqrt(20),
              1e-6);
  EXPECT_FALSE(detectable_effect(0.034, 1, 0.01, 0.8).has_value());
}

TEST(DetectableEffect, StandardDeviation) {
  const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_NEAR(*standard_deviation(values), std::sqrt(32.0 / 7), 1e-12);
  EXPECT_FALSE(standard_deviation(std::span<const double>(values, 1)).has_value());
}

}  // namespace
}  // namespace bench
