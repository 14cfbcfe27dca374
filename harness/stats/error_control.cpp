// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/error_control.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace bench {

std::vector<double> adjusted_p_values(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  const auto count = static_cast<double>(p_values.size());
  double smallest = 1;  // minimum over this and all larger p-values
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t index = order[rank - 1];
    smallest = std::min(smallest, p_values[index] * count / static_cast<double>(rank));
    adjusted[index] = smallest;
  }
  return adjusted;
}

namespace {

// Returns P(-t <= T <= t) for integer degrees of freedom: Abramowitz & Stegun 26.7.3 and 26.7.4.
double central_probability(double t, int degrees) {
  const double angle = std::atan(t / std::sqrt(degrees));
  const double cosine_squared = std::pow(std::cos(angle), 2);
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? std::cos(angle) : 1;
  double sum = is_odd && degrees == 1 ? 0 : term;
  for (int k = is_odd ? 2 : 1; k <= degrees - 3; k += 2) {
    term *= cosine_squared * k / (k + 1);
    sum += term;
  }
  const double product = std::sin(angle) * sum;
  return is_odd ? 2 / std::numbers::pi * (angle + product) : product;
}

// Returns P(T <= t).
double student_t_probability(double t, int degrees) {
  return 0.5 + 0.5 * std::copysign(central_probability(std::abs(t), degrees), t);
}

}  // namespace

double student_t_quantile(double p, int degrees) {
  assert(p > 0 && p < 1 && degrees >= 1);
  if (p < 0.5) return -student_t_quantile(1 - p, degrees);
  double low = 0;
  double high = 1;
  while (student_t_probability(high, degrees) < p) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;  // there is no double in between
    (student_t_probability(middle, degrees) < p ? low : high) = middle;
  }
}

double student_t_tail(double t, int degrees) {
  assert(degrees >= 1);
  return student_t_probability(-t, degrees);
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

std::optional<double> detectable_effect(double standard_deviation, int pairs, double alpha,
                                        double power) {
  if (pairs < 2) return std::nullopt;
  const int degrees = pairs - 1;
  return (student_t_quantile(1 - alpha, degrees) + student_t_quantile(power, degrees)) *
         standard_deviation / std::sqrt(pairs);
}

}  // namespace bench
