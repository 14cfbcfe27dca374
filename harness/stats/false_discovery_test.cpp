// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/error_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The 15 p-values of Benjamini & Hochberg (1995), section 3.1: four are rejected at q = 0.05.
TEST(FalseDiscovery, PublishedExample) {
  const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                      0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> adjusted = adjusted_p_values(p);
  EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(), [](double q) { return q <= 0.05; }), 4);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.0015);
  EXPECT_NEAR(adjusted[3], 0.035625, 1e-12);
}

TEST(FalseDiscovery, KeepsTheOrderOfItsInput) {
  const double p[] = {0.5, 0.01, 0.03};
  EXPECT_THAT(adjusted_p_values(p),
              ElementsAre(0.5, testing::DoubleEq(0.03), testing::DoubleEq(0.045)));
  EXPECT_THAT(adjusted_p_values({}), IsEmpty());
  const double one[] = {0.2};
  EXPECT_THAT(adjusted_p_values(one), ElementsAre(0.2));
}

// The definition: find the largest k with p(k) <= k q / m and reject the k smallest.
TEST(FalseDiscovery, RejectsWhatTheDefinitionRejects) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> p(1 + random() % 60);
    for (double& value : p) value = uniform(random) * (random() % 3 == 0 ? 0.02 : 1);
    std::vector<double> ordered = p;
    std::sort(ordered.begin(), ordered.end());
    constexpr double kRate = 0.05;
    double limit = -1;
    for (std::size_t k = 1; k <= ordered.size(); ++k) {
      if (ordered[k - 1] <= static_cast<double>(k) * kRate / static_cast<double>(p.size())) {
        limit = ordered[k - 1];
      }
    }
    const std::vector<double> adjusted = adjusted_p_values(p);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(adjusted[i] <= kRate, p[i] <= limit);
  }
}

}  // namespace
}  // namespace bench
