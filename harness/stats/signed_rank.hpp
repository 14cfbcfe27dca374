// SPDX-License-Identifier: Apache-2.0
// Exact statistics of paired differences (log-ratios candidate / base): Wilcoxon's signed-rank
// test, the Hodges-Lehmann estimate and its bounds. Exact for any number of pairs up to kMostPairs;
// no normal approximation. Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3.1-3.3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

inline constexpr std::size_t kMostPairs = 1000;  // the tables of the exact test stay small

// P(W >= w) under the hypothesis that each difference is as likely positive as negative, W being
// the sum of the ranks of the positive ones. Zeros are left out, equal absolute values share the
// mean of their ranks, and the probability is exact for the ranks that result. 1 without any
// difference but zeros. Differences are finite.
double signed_rank_p_greater(std::span<const double> differences);
// P(W <= w): the mirror image.
double signed_rank_p_less(std::span<const double> differences);

// Means of all pairs i <= j, ascending: n (n + 1) / 2 of them.
std::vector<double> walsh_averages(std::span<const double> differences);

// Median of the Walsh averages; absent without differences.
std::optional<double> hodges_lehmann(std::span<const double> differences);

// One-sided bounds of the Hodges-Lehmann estimate, each with an error of at most `alpha`: Walsh
// average number c from either end, c - 1 being the largest k with P(W <= k) <= alpha. Absent where
// even the outermost average has a larger error: 2^-n > alpha.
std::optional<double> hodges_lehmann_lower_bound(std::span<const double> differences, double alpha);
std::optional<double> hodges_lehmann_upper_bound(std::span<const double> differences, double alpha);

}  // namespace bench
