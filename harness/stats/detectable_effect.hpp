// SPDX-License-Identifier: Apache-2.0
// The effect that a paired comparison would have found.
#pragma once

#include <optional>
#include <span>

namespace bench {

// Quantile of Student's t distribution with `degrees` >= 1 degrees of freedom; 0 < p < 1.
double student_t_quantile(double p, int degrees);

// Standard deviation with n - 1; nullopt for fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);

// Minimum detectable effect of `pairs` pairs whose differences have this standard deviation. A
// one-sided test at error `alpha` finds this effect with probability `power`: (t(1 - alpha, K - 1)
// + t(power, K - 1)) * s_d / sqrt(K). Returns nullopt for fewer than two pairs.
std::optional<double> detectable_effect(double standard_deviation, int pairs, double alpha,
                                        double power);

}  // namespace bench
