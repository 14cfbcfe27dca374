// SPDX-License-Identifier: Apache-2.0
// Controls the false discovery rate of many tests, and computes which effects a test can detect.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace bench {

// Benjamini and Hochberg's control of the false discovery rate (J. R. Statist. Soc. B 57, 1995).

// Returns adjusted p-values in the order of `p_values`, which must lie within 0..1. Each one is the
// lowest rate q at which its hypothesis is rejected. At rate q, all hypotheses with adjusted p <= q
// are rejected.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

// Minimum detectable effect of a paired comparison.

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
