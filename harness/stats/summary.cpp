// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {
namespace {

std::vector<Nanoseconds> sorted(std::span<const Nanoseconds> samples) {
  std::vector<Nanoseconds> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

// Returns P(B = floor(n/2)) for B ~ Binomial(n, 1/2). The recurrence C(2m,m)/4^m =
// C(2m-2,m-1)/4^(m-1) * (2m-1)/(2m) neither overflows nor underflows for any n.
long double central_probability(std::size_t n) {
  const std::size_t half = n / 2;
  long double probability = 1;
  for (std::size_t m = 1; m <= half; ++m) {
    probability = probability * static_cast<long double>(2 * m - 1) / (2 * m);
  }
  if (n % 2 == 0) return probability;
  return probability * static_cast<long double>(2 * half + 1) / (2 * half + 2);
}

struct OrderPair {
  std::size_t low;  // rank from 0; the other rank is size - 1 - low
  double coverage;
};

// Returns the narrowest pair with at least `coverage`. The median is between the order statistics
// of rank k and n+1-k with probability P(k <= B <= n-k). B, the number of samples below the median,
// has the distribution Binomial(n, 1/2). Adds terms from the centre outwards until they reach
// `coverage`, in O(sqrt n) steps.
std::optional<OrderPair> narrowest_pair(std::size_t n, double coverage) {
  if (n == 0) return std::nullopt;
  // Rank k (from 1) of the narrowest pair. For odd n, this pair is the middle value twice, with a
  // coverage of 0.
  std::size_t k = (n + 1) / 2;
  long double term = central_probability(n);
  long double sum = n % 2 == 0 ? term : 0;
  while (k > 1 && static_cast<double>(sum) < coverage) {
    --k;
    // Adds P(B = k) and P(B = n - k), which are equal. `term` changes from P(B = k + 1) to P(B =
    // k), except in the first step for odd n, for which it is P(B = k) already.
    if (n % 2 == 0 || k + 1 < (n + 1) / 2)
      term = term * static_cast<long double>(k + 1) / static_cast<long double>(n - k);
    sum += 2 * term;
  }
  if (static_cast<double>(sum) < coverage) return std::nullopt;
  return OrderPair{k - 1, static_cast<double>(sum)};
}

}  // namespace

std::optional<Nanoseconds> quantile(std::span<const Nanoseconds> samples, double p) {
  assert(p >= 0 && p <= 1);
  if (samples.empty()) return std::nullopt;
  std::vector<Nanoseconds> ordered(samples.begin(), samples.end());
  const long double position = static_cast<long double>(ordered.size() - 1) * p;
  const auto below = ordered.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(ordered.begin(), below, ordered.end());
  if (below + 1 == ordered.end()) return *below;
  const Nanoseconds gap = *std::min_element(below + 1, ordered.end()) - *below;
  const long double fraction = position - std::floor(position);
  return *below + Nanoseconds(std::llround(fraction * static_cast<long double>(gap.count())));
}

std::optional<Nanoseconds> median(std::span<const Nanoseconds> samples) {
  return quantile(samples, 0.5);
}

std::optional<Nanoseconds> median_absolute_deviation(std::span<const Nanoseconds> samples) {
  const auto centre = median(samples);
  if (!centre) return std::nullopt;
  std::vector<Nanoseconds> deviations;
  deviations.reserve(samples.size());
  for (Nanoseconds sample : samples) deviations.push_back(std::chrono::abs(sample - *centre));
  return median(deviations);
}

std::optional<MedianInterval> median_interval(std::span<const Nanoseconds> samples,
                                              double coverage) {
  const auto pair = narrowest_pair(samples.size(), coverage);
  if (!pair) return std::nullopt;
  const std::vector<Nanoseconds> ordered = sorted(samples);
  return MedianInterval{ordered[pair->low], ordered[ordered.size() - 1 - pair->low],
                        pair->coverage};
}

std::optional<double> relative_half_width(std::span<const Nanoseconds> samples, double coverage) {
  const auto interval = median_interval(samples, coverage);
  const auto centre = median(samples);
  if (!interval || !centre || centre->count() == 0) return std::nullopt;
  return static_cast<double>((interval->high - interval->low).count()) / 2 /
         static_cast<double>(centre->count());
}

namespace {

// Standard deviation of a normal distribution, divided by its median absolute deviation
constexpr double kDeviationScale = 1.4826;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

}  // namespace

std::optional<double> median(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  const std::size_t middle = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[middle];
  return ordered[middle - 1] / 2 + ordered[middle] / 2;
}

std::optional<double> quantile(std::span<const double> values, double p) {
  assert(p >= 0 && p <= 1);
  if (values.empty()) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  const double position = p * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  return std::lerp(ordered[below], ordered[above], position - static_cast<double>(below));
}

std::optional<double> scaled_deviation(std::span<const double> values) {
  const std::optional<double> middle = median(values);
  if (!middle) return std::nullopt;
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - *middle));
  return kDeviationScale * *median(deviations);
}

}  // namespace bench
