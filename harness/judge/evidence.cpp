// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/evidence.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

// Returns log(to / from). As a difference, it is exactly the negated value if the sides are
// swapped.
double log_difference(std::int64_t from, std::int64_t to) {
  return std::log(static_cast<double>(to)) - std::log(static_cast<double>(from));
}

std::size_t count_rounds(const Duet& duet) {
  return std::min(duet.base.size(), duet.candidate.size());
}

}  // namespace

bool has_canaries(const Duet& duet) {
  const std::size_t rounds = count_rounds(duet);
  return rounds > 0 && duet.base_canary.size() == rounds && duet.candidate_canary.size() == rounds;
}

std::vector<std::size_t> find_uninterrupted_rounds(const Duet& duet) {
  std::vector<std::size_t> uninterrupted;
  if (!has_canaries(duet)) return uninterrupted;
  for (std::size_t i = 0; i < count_rounds(duet); ++i) {
    if (std::min(duet.base_canary[i], duet.candidate_canary[i]) > Nanoseconds(0)) {
      uninterrupted.push_back(i);
    }
  }
  return uninterrupted;
}

std::vector<std::size_t> counted_rounds(const Duet& duet) {
  auto uninterrupted = find_uninterrupted_rounds(duet);
  if (uninterrupted.size() >= kMinUninterruptedRounds) return uninterrupted;
  std::vector<std::size_t> all(count_rounds(duet));
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::optional<double> duet_median(const Duet& duet, std::vector<Nanoseconds> Duet::*side) {
  std::vector<double> times;
  for (const std::size_t round : counted_rounds(duet)) {
    times.push_back(static_cast<double>((duet.*side)[round].count()) /
                    static_cast<double>(duet.iterations_per_sample));
  }
  return median(times);
}

bool is_disturbed(const Duet& duet) {
  return has_canaries(duet) && find_uninterrupted_rounds(duet).size() < kMinUninterruptedRounds;
}

std::optional<double> log_ratio(const Duet& duet) {
  std::vector<double> ratios;
  for (const std::size_t i : counted_rounds(duet)) {
    if (duet.base[i].count() <= 0 || duet.candidate[i].count() <= 0) continue;
    ratios.push_back(log_difference(duet.base[i].count(), duet.candidate[i].count()));
  }
  return median(ratios);
}

std::optional<double> log_cycle_ratio(const Duet& duet) {
  std::vector<double> ratios;
  const std::size_t rounds = std::min({duet.base.size(), duet.candidate.size(),
                                       duet.base_clock_hz.size(), duet.candidate_clock_hz.size()});
  for (std::size_t i = 0; i < rounds; ++i) {
    if (duet.base[i].count() <= 0 || duet.candidate[i].count() <= 0) continue;
    if (duet.base_clock_hz[i] <= 0 || duet.candidate_clock_hz[i] <= 0) continue;
    ratios.push_back(log_difference(duet.base[i].count(), duet.candidate[i].count()) +
                     log_difference(duet.base_clock_hz[i], duet.candidate_clock_hz[i]));
  }
  return median(ratios);
}

std::optional<SideFailure::Side> find_side_without_time(const Duet& duet) {
  if (log_ratio(duet)) return std::nullopt;
  const bool has_base_time = duet_median(duet, &Duet::base).value_or(0) > 0;
  return has_base_time ? SideFailure::Side::candidate : SideFailure::Side::base;
}

}  // namespace bench
