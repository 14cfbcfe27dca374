// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/signed_rank.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

// Ranks as integers. If an even number of values share a rank, which is then not whole, all ranks
// are doubled.
struct SignedRanks {
  std::vector<std::size_t> ranks;  // in ascending order of absolute value
  std::size_t positive = 0;        // sum of the ranks of positive differences
  std::size_t negative = 0;        // sum of the ranks of negative differences
};

SignedRanks compute_signed_ranks(std::span<const double> differences) {
  std::vector<double> values;
  for (const double difference : differences) {
    assert(std::isfinite(difference));
    if (difference != 0) values.push_back(difference);
  }
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<std::size_t> doubled;
  for (std::size_t first = 0; first < values.size();) {
    std::size_t last = first;  // last index of the equal values
    while (last + 1 < values.size() && std::abs(values[last + 1]) == std::abs(values[first])) {
      ++last;
    }
    doubled.insert(doubled.end(), last - first + 1, (first + 1) + (last + 1));
    first = last + 1;
  }
  const bool are_whole =
      std::ranges::all_of(doubled, [](std::size_t rank) { return rank % 2 == 0; });
  SignedRanks result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.ranks.push_back(are_whole ? doubled[i] / 2 : doubled[i]);
    (values[i] > 0 ? result.positive : result.negative) += result.ranks.back();
  }
  return result;
}

// Returns the probability of each sum of a random subset of the ranks. Halving at each step keeps
// all values in range despite 2^n subsets.
std::vector<double> compute_distribution(std::span<const std::size_t> ranks) {
  std::vector<double> probability = {1};
  probability.reserve(std::accumulate(ranks.begin(), ranks.end(), std::size_t{1}));
  for (const std::size_t rank : ranks) {
    const std::size_t sums = probability.size();
    probability.resize(sums + rank, 0);
    // From the largest sum down, so that each sum counts the rank only once.
    for (std::size_t sum = sums; sum-- > 0;) probability[sum + rank] += probability[sum];
    for (double& p : probability) p /= 2;
  }
  return probability;
}

// Returns P(W >= sum). Adds from the tail, whose terms are smallest, for accuracy.
double p_at_least(const std::vector<double>& probability, std::size_t sum) {
  double p = 0;
  for (std::size_t i = probability.size(); i > sum; --i) p += probability[i - 1];
  return std::min(p, 1.0);
}

// Returns the rank c of HodgesLehmann::Bounds for n differences: at least 1, or 0 if even the
// outermost average is wrong with a probability above `alpha`.
std::size_t compute_bound_rank(std::size_t n, double alpha) {
  std::vector<std::size_t> ranks(n);
  for (std::size_t i = 0; i < n; ++i) ranks[i] = i + 1;
  const std::vector<double> probability = compute_distribution(ranks);
  double p = 0;
  std::size_t count = 0;
  while (count < probability.size() && p + probability[count] <= alpha) p += probability[count++];
  return count;
}

}  // namespace

SignedRankP signed_rank_p(std::span<const double> differences) {
  assert(differences.size() <= kMaxPairs);
  const SignedRanks ranks = compute_signed_ranks(differences);
  const std::vector<double> probability = compute_distribution(ranks.ranks);
  return {p_at_least(probability, ranks.positive), p_at_least(probability, ranks.negative)};
}

std::vector<double> walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      averages.push_back(differences[i] / 2 + differences[j] / 2);
    }
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

HodgesLehmann::HodgesLehmann(std::span<const double> differences)
    : pairs_(differences.size()), averages_(walsh_averages(differences)) {
  assert(pairs_ <= kMaxPairs);
}

std::optional<double> HodgesLehmann::estimate() const {
  if (averages_.empty()) return std::nullopt;
  const std::size_t middle = averages_.size() / 2;
  if (averages_.size() % 2 == 1) return averages_[middle];
  return averages_[middle - 1] / 2 + averages_[middle] / 2;
}

HodgesLehmann::Bounds HodgesLehmann::bounds(double alpha) const {
  const std::size_t rank = std::min(compute_bound_rank(pairs_, alpha), averages_.size());
  if (rank == 0) return {};
  return {averages_[rank - 1], averages_[averages_.size() - rank]};
}

}  // namespace bench
