// SPDX-License-Identifier: Apache-2.0
// Controls the false discovery rate of many tests and computes which effects a test can detect.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace bench {

// Returns adjusted p-values in the order of `p_values`, which must be within 0..1. If all
// hypotheses with an adjusted p-value of at most q are rejected, the false discovery rate is at
// most q. Method: Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

// Returns a quantile of Student's t distribution with `degrees` degrees of freedom. Requires 0 < p
// < 1 and degrees >= 1.
double student_t_quantile(double p, int degrees);
// Returns the probability that a value of this distribution exceeds `t`. Requires degrees >= 1.
double student_t_tail(double t, int degrees);

// Returns the standard deviation with divisor n - 1; nullopt for fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);

// Returns the minimum detectable effect of a comparison of `pairs` pairs whose differences have
// this standard deviation. A one-sided test at significance level `alpha` detects this effect with
// probability `power`. For K pairs, it is (t(1 - alpha, K - 1) + t(power, K - 1)) * s_d / sqrt(K).
// Returns nullopt for fewer than two pairs.
std::optional<double> detectable_effect(double standard_deviation, int pairs, double alpha,
                                        double power);

}  // namespace bench
