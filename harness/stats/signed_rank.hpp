// SPDX-License-Identifier: Apache-2.0
// Exact statistics of paired differences (log-ratios candidate / base): Wilcoxon's signed-rank
// test, the Hodges-Lehmann estimate and its bounds. Exact for any number of pairs up to kMaxPairs;
// no normal approximation. Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3.1-3.3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

inline constexpr std::size_t kMaxPairs = 1000;  // the tables of the exact test stay small

// One-sided p-values under the hypothesis that each difference is as likely positive as negative, W
// being the sum of the ranks of the positive ones. Zeros are left out, equal absolute values share
// the mean of their ranks, and the probability is exact for the ranks that result. 1 without any
// difference but zeros.
struct SignedRankP {
  double greater = 1;  // P(W >= w)
  double less = 1;     // P(W <= w): what `greater` is of the mirror image
};
// Differences are finite.
SignedRankP signed_rank_p(std::span<const double> differences);

// Means of all pairs i <= j, ascending: n (n + 1) / 2 of them.
std::vector<double> walsh_averages(std::span<const double> differences);

class HodgesLehmann {
 public:
  explicit HodgesLehmann(std::span<const double> differences);

  // Median of the Walsh averages; absent without differences.
  std::optional<double> estimate() const;

  // Each with an error of at most `alpha`: Walsh average number c from either end, c - 1 being the
  // largest k with P(W <= k) <= alpha. Absent where even the outermost average has a larger error:
  // 2^-n > alpha.
  struct Bounds {
    std::optional<double> low, high;
  };
  Bounds bounds(double alpha) const;

 private:
  std::size_t pairs_;
  std::vector<double> averages_;
};

}  // namespace bench
