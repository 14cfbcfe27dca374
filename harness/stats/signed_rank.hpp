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

inline constexpr std::size_t kMaxPairs = 1000;  // limits the tables of the exact test

// One-sided p-values of the hypothesis that each difference is equally likely to be positive or
// negative. W is the sum of the ranks of the positive differences. Zeros are left out, and equal
// absolute values share the mean of their ranks. The probability is exact for the resulting ranks.
// Both p-values are 1 if there are only zeros.
struct SignedRankP {
  double greater = 1;  // P(W >= w)
  double less = 1;     // P(W <= w): `greater` for the negated differences
};
// Differences must be finite.
SignedRankP signed_rank_p(std::span<const double> differences);

// Returns the means of all pairs i <= j, ascending: n (n + 1) / 2 values.
std::vector<double> walsh_averages(std::span<const double> differences);

class HodgesLehmann {
 public:
  explicit HodgesLehmann(std::span<const double> differences);

  // Returns the median of the Walsh averages; nullopt without differences.
  std::optional<double> estimate() const;

  // Each bound is wrong with a probability of at most `alpha`. It is the c-th Walsh average from
  // the lower or the upper end. c - 1 is the largest k with P(W <= k) <= alpha. A bound is nullopt
  // if even the outermost average is wrong more often: 2^-n > alpha.
  struct Bounds {
    std::optional<double> low, high;
  };
  Bounds bounds(double alpha) const;

 private:
  std::size_t pairs_;
  std::vector<double> averages_;
};

}  // namespace bench
