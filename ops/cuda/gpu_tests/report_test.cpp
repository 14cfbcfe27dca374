// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace bench::ops::cuda {
namespace {

TEST(CheckReport, AComparisonWithoutAMeasuredValueDoesNotPass) {
  CheckReport report("");
  report.add_comparison(std::nullopt, 0.25, "no counter", "f", Figures::object());
  EXPECT_EQ(report.summary(), "0 passed, 0 failed");
  report.add_comparison(1.2, 0.25, "near", "f", Figures::object());
  EXPECT_EQ(report.summary(), "1 passed, 0 failed");
  report.add_comparison(0.7, 0.25, "far", "f", Figures::object());
  report.add_comparison(std::numeric_limits<double>::quiet_NaN(), 0.25, "NaN", "f",
                        Figures::object());
  EXPECT_EQ(report.summary(), "1 passed, 2 failed");
}

}  // namespace
}  // namespace bench::ops::cuda
