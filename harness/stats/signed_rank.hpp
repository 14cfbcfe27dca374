// SPDX-License-Identifier: Apache-2.0
// Exact statistics of paired differences (log-ratios candidate / base): Wilcoxon's signed-rank
// test, the Hodges-Lehmann estimate and its bounds. Exact for up to kMaxPairs pairs, without a
// normal approximation. See Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3.1-3.3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

inline constexpr std::size_t kMaxPairs = 1000;  // limits the tables of the exact test

// One-sided p-values of the hypothesis that each difference is equally likely to be positive or
// negative. W is the sum of the ranks of the positive differences; w is its observed value. Zeros
// are left out, and equal absolute values share the mean of their ranks. The probabilities are
// exact for the resulting ranks. Both p-values are 1 if all differences are zero.
struct SignedRankP {
  double greater = 1;  // P(W >= w)
  double less = 1;     // P(W <= w): `greater` for the negated differences
};
// Accepts at most kMaxPairs differences, which must be finite.
SignedRankP signed_rank_p(std::span<const double> differences);

// Returns the means of all pairs of differences i <= j, ascending: n (n + 1) / 2 values.
std::vector<double> walsh_averages(std::span<const double> differences);

// The Hodges-Lehmann estimate of at most kMaxPairs differences, and its bounds.
class HodgesLehmann {
 public:
  explicit HodgesLehmann(std::span<const double> differences);

  // Returns the median of the Walsh averages; nullopt without differences.
  std::optional<double> estimate() const;

  // Each bound is wrong with a probability of at most `alpha`. A bound is the c-th Walsh average
  // from the lower or the upper end, where c - 1 is the largest k with P(W <= k) <= alpha. A bound
  // is nullopt if even the outermost average is wrong with a higher probability, that is, if 2^-n >
  // alpha.
  struct Bounds {
    std::optional<double> low, high;
  };
  Bounds bounds(double alpha) const;

 private:
  std::size_t pairs_;
  std::vector<double> averages_;
};

}  // namespace bench
