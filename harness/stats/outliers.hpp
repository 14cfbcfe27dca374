// SPDX-License-Identifier: Apache-2.0
// Finds outliers among equal siblings, of which up to a quarter may be outliers at the same time.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// The test below finds no outliers among fewer values.
inline constexpr std::size_t kMinSiblings = 4;

// The generalised extreme studentised deviate test (Rosner, Technometrics 25, 1983): the value that
// is farthest from the mean is removed, again and again, up to a quarter of all values. Step i
// compares the removed value's distance from the mean, in standard deviations of the values that
// were left, with the critical value for m = n - i + 1 of them,
//   (m - 1) t / sqrt(m (m - 2 + t^2)),  t = the quantile 1 - alpha / m of Student's t with m - 2
// degrees of freedom. The outliers are the values of the last step that exceeds it and of all steps
// before it, so that two equal outliers do not hide each other.
struct Outliers {
  std::vector<std::size_t> high, low;  // indices of the values, the farthest first
  std::size_t siblings = 0;            // number of the other values
  double centre = 0;                   // their mean
  double deviation = 0;                // their standard deviation
};
// `alpha`: the probability of an outlier above the mean among values of one normal distribution.
// It holds for one removed value; tests show by how much several of them exceed it. Returns no
// outliers for fewer than kMinSiblings values. The values must be finite.
Outliers find_outliers(std::span<const double> values, double alpha);

// Returns the smallest distance above the mean of `siblings` values with this standard deviation
// that find_outliers() of them and one more value finds with probability `power`. Returns nullopt
// for too few values.
std::optional<double> detectable_outlier(std::size_t siblings, double deviation, double alpha,
                                         double power);

// Returns the mean of the values between the quartiles: a quarter of them at each end, rounded
// down, does not count. The values must not be empty.
double interquartile_mean(std::vector<double> values);

}  // namespace bench
