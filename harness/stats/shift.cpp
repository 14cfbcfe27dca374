// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/shift.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace bench {
namespace {

std::vector<double> compute_differences(std::span<const double> base,
                                        std::span<const double> candidate) {
  std::vector<double> differences;
  differences.reserve(base.size() * candidate.size());
  for (const double b : base) {
    for (const double c : candidate) differences.push_back(c - b);
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

// Returns the probability of each value of U for samples of m and n values. Recurrence: the largest
// value overall is either one of the m values, which then exceeds all n, or one of the n values.
std::vector<double> compute_distribution(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> row(n + 1, std::vector<double>{1});  // for i = 0 and each j
  for (std::size_t i = 1; i <= m; ++i) {
    std::vector<std::vector<double>> next(n + 1, std::vector<double>{1});
    for (std::size_t j = 1; j <= n; ++j) {
      std::vector<double> probability(i * j + 1, 0);
      const double first = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t u = 0; u < row[j].size(); ++u) probability[u + j] += first * row[j][u];
      for (std::size_t u = 0; u < next[j - 1].size(); ++u) {
        probability[u] += (1 - first) * next[j - 1][u];
      }
      next[j] = std::move(probability);
    }
    row = std::move(next);
  }
  return row[n];
}

}  // namespace

std::optional<double> shift(std::span<const double> base, std::span<const double> candidate) {
  if (base.empty() || candidate.empty()) return std::nullopt;
  const std::vector<double> differences = compute_differences(base, candidate);
  const std::size_t middle = differences.size() / 2;
  if (differences.size() % 2 == 1) return differences[middle];
  return differences[middle - 1] / 2 + differences[middle] / 2;
}

std::optional<ShiftInterval> shift_interval(std::span<const double> base,
                                            std::span<const double> candidate, double coverage) {
  assert(base.size() <= kMaxShiftSamples && candidate.size() <= kMaxShiftSamples);
  if (base.empty() || candidate.empty()) return std::nullopt;
  const std::vector<double> probability = compute_distribution(base.size(), candidate.size());
  // The probability of a shift between the differences of rank c and N + 1 - c is 1 - 2 P(U < c).
  std::size_t rank = 0;
  double outside = 0;  // probability of a shift outside the pair of rank `rank`
  double tail = 0;
  while (rank < probability.size() / 2) {
    tail += probability[rank];
    if (1 - 2 * tail < coverage) break;
    outside = 2 * tail;
    ++rank;
  }
  if (rank == 0) return std::nullopt;
  const std::vector<double> differences = compute_differences(base, candidate);
  return ShiftInterval{differences[rank - 1], differences[differences.size() - rank], 1 - outside};
}

}  // namespace bench
