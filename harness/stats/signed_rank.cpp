// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/signed_rank.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bench {
namespace {

// Twice the ranks, so that shared ranks are whole numbers.
struct SignedRanks {
  std::vector<std::size_t> doubled;  // in ascending order of absolute value
  std::size_t positive = 0;          // sum of those of positive differences
};

SignedRanks signed_ranks(std::span<const double> differences) {
  std::vector<double> values;
  for (const double difference : differences) {
    assert(std::isfinite(difference));
    if (difference != 0) values.push_back(difference);
  }
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  SignedRanks ranks;
  for (std::size_t first = 0; first < values.size();) {
    std::size_t last = first;  // of the equal ones
    while (last + 1 < values.size() && std::abs(values[last + 1]) == std::abs(values[first])) {
      ++last;
    }
    const std::size_t shared = (first + 1) + (last + 1);
    for (std::size_t i = first; i <= last; ++i) {
      ranks.doubled.push_back(shared);
      if (values[i] > 0) ranks.positive += shared;
    }
    first = last + 1;
  }
  return ranks;
}

// Probability of each sum of a random subset of the ranks. Halving at each step keeps all in range:
// there are 2^n subsets.
std::vector<double> distribution_of(std::span<const std::size_t> ranks) {
  std::vector<double> probability = {1};
  for (const std::size_t rank : ranks) {
    std::vector<double> next(probability.size() + rank, 0);
    for (std::size_t sum = 0; sum < probability.size(); ++sum) {
      next[sum] += probability[sum] / 2;
      next[sum + rank] += probability[sum] / 2;
    }
    probability = std::move(next);
  }
  return probability;
}

double p_at_least(const SignedRanks& ranks, std::size_t sum) {
  const std::vector<double> probability = distribution_of(ranks.doubled);
  double p = 0;  // from the tail on, where the terms are smallest
  for (std::size_t i = probability.size(); i > sum; --i) p += probability[i - 1];
  return std::min(p, 1.0);
}

// The c of the bounds, from 1; 0 where there is none.
std::size_t bound_number(std::size_t n, double alpha) {
  std::vector<std::size_t> ranks(n);
  for (std::size_t i = 0; i < n; ++i) ranks[i] = i + 1;
  const std::vector<double> probability = distribution_of(ranks);
  double p = 0;
  std::size_t count = 0;
  while (count < probability.size() && p + probability[count] <= alpha) p += probability[count++];
  return count;
}

}  // namespace

double signed_rank_p_greater(std::span<const double> differences) {
  assert(differences.size() <= kMostPairs);
  const SignedRanks ranks = signed_ranks(differences);
  return p_at_least(ranks, ranks.positive);
}

double signed_rank_p_less(std::span<const double> differences) {
  std::vector<double> mirrored(differences.begin(), differences.end());
  for (double& difference : mirrored) difference = -difference;
  return signed_rank_p_greater(mirrored);
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

std::optional<double> hodges_lehmann(std::span<const double> differences) {
  if (differences.empty()) return std::nullopt;
  const std::vector<double> averages = walsh_averages(differences);
  const std::size_t middle = averages.size() / 2;
  if (averages.size() % 2 == 1) return averages[middle];
  return averages[middle - 1] / 2 + averages[middle] / 2;
}

std::optional<double> hodges_lehmann_lower_bound(std::span<const double> differences,
                                                 double alpha) {
  assert(differences.size() <= kMostPairs);
  const std::size_t number = bound_number(differences.size(), alpha);
  if (differences.empty() || number == 0) return std::nullopt;
  const std::vector<double> averages = walsh_averages(differences);
  return averages[std::min(number, averages.size()) - 1];
}

std::optional<double> hodges_lehmann_upper_bound(std::span<const double> differences,
                                                 double alpha) {
  const std::size_t number = bound_number(differences.size(), alpha);
  if (differences.empty() || number == 0) return std::nullopt;
  const std::vector<double> averages = walsh_averages(differences);
  return averages[averages.size() - std::min(number, averages.size())];
}

}  // namespace bench
