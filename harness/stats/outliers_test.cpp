// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/outliers.hpp"

#include "harness/stats/error_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rosner's data (Technometrics 25, 1983), as in the NIST/SEMATECH handbook of statistical methods,
// 1.3.5.17.3, which finds three outliers at the two-sided level 0.05, though the first two steps
// alone exceed no critical value.
TEST(Outliers, AreThoseOfRosnersExample) {
  const std::vector<double> values = {
      -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56,
      1.58,  1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10,
      2.14,  2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92,
      2.92,  2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};
  const Outliers found = find_outliers(values, 0.025);
  EXPECT_THAT(found.high, ElementsAre(53, 52, 51));
  EXPECT_THAT(found.low, IsEmpty());
  EXPECT_EQ(found.siblings, 51u);
}

TEST(Outliers, OfTwoDirectionsAreKeptApart) {
  const std::vector<double> values = {0, 1, 2, -400, 3, 4, 5, 6, 7, 8, 900, 9};
  const Outliers found = find_outliers(values, 0.001);
  EXPECT_THAT(found.high, ElementsAre(10));
  EXPECT_THAT(found.low, ElementsAre(3));
  EXPECT_DOUBLE_EQ(found.centre, 4.5);
}

TEST(Outliers, TwoThatAreEqualDoNotHideEachOther) {
  const std::vector<double> values = {0, 1, 2, 3, 4, 5, 500, 500};
  EXPECT_THAT(find_outliers(values, 0.001).high, testing::UnorderedElementsAre(6, 7));
}

TEST(Outliers, OneValueAmongEqualOnesIsOne) {
  const std::vector<double> values = {5, 5, 5, 5, 5, 6};
  EXPECT_THAT(find_outliers(values, 0.001).high, ElementsAre(5));
  const std::vector<double> equal(6, 5.0);
  EXPECT_THAT(find_outliers(equal, 0.001).high, IsEmpty());
}

TEST(Outliers, ThreeValuesHaveNone) {
  const std::vector<double> values = {0, 0, 1e9};
  EXPECT_THAT(find_outliers(values, 0.5).high, IsEmpty());
  EXPECT_THAT(find_outliers({}, 0.5).high, IsEmpty());
}

// A value at the detectable distance is found half of the time without a margin for power.
TEST(Outliers, TheDetectableDistanceIsThatOfTheTest) {
  const std::vector<double> siblings = {-1, -0.5, 0, 0, 0, 0.5, 1};
  const double deviation = *standard_deviation(siblings);
  const double distance = *detectable_outlier(siblings.size(), deviation, 0.001, 0.5);
  for (const double part : {0.99, 1.01}) {
    std::vector<double> values = siblings;
    values.push_back(part * distance);
    EXPECT_EQ(find_outliers(values, 0.001).high.size(), part > 1 ? 1u : 0u) << part;
  }
  EXPECT_FALSE(detectable_outlier(2, 1, 0.001, 0.5));
}

TEST(InterquartileMean, LeavesOutAQuarterAtEachEnd) {
  EXPECT_DOUBLE_EQ(interquartile_mean({1000, 2, 3, -1000}), 2.5);
  EXPECT_DOUBLE_EQ(interquartile_mean({1, 2, 6}), 3);
}

TEST(StudentTail, IsThatOfTables) {
  EXPECT_NEAR(student_t_tail(2.228, 10), 0.025, 1e-5);
  EXPECT_NEAR(student_t_tail(-12.706, 1), 0.975, 1e-5);
}

}  // namespace
}  // namespace bench
