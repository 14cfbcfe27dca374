// SPDX-License-Identifier: Apache-2.0
// How large an effect a paired comparison would have found.
#pragma once

#include <optional>
#include <span>

namespace bench {

// Quantile of Student's t with `degrees` >= 1 of freedom; 0 < p < 1.
double student_t_quantile(double p, int degrees);

// Standard deviation with n - 1; absent below two values.
std::optional<double> standard_deviation(std::span<const double> values);

// Minimal detectable effect of `pairs` pairs whose differences have this standard deviation: what a
// one-sided test at error `alpha` finds with probability `power`,
// (t(1 - alpha, K - 1) + t(power, K - 1)) * s_d / sqrt(K). Absent below two pairs.
std::optional<double> detectable_effect(double standard_deviation, int pairs, double alpha,
                                        double power);

}  // namespace bench
