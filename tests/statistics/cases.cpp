// SPDX-License-Identifier: Apache-2.0
// Prints random inputs with the results of harness/stats, one JSON object per line, for the
// independent implementation in reference.py. Usage: PROGRAM SEED COUNT
#include "harness/stats/error_control.hpp"
#include "harness/stats/shift.hpp"
#include "harness/stats/signed_rank.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <span>
#include <vector>

namespace {

using bench::detectable_effect;
using nlohmann::ordered_json;

// Normal numbers, and every third time whole numbers, which cause ties and zeros.
std::vector<double> draw(std::mt19937_64& random) {
  std::vector<double> values(5 + random() % 56);
  std::normal_distribution<double> normal(0.2, 1);
  const bool whole = random() % 3 == 0;
  for (double& value : values) {
    value = whole ? static_cast<double>(random() % 13) - 5 : normal(random);
  }
  return values;
}

std::vector<double> draw_probabilities(std::mt19937_64& random) {
  std::vector<double> values(1 + random() % 100);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (double& value : values) value = uniform(random) * (random() % 4 == 0 ? 0.01 : 1);
  return values;
}

template <class T>
ordered_json json_of(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json line_of(std::mt19937_64& random) {
  const std::vector<double> differences = draw(random);
  const std::vector<double> probabilities = draw_probabilities(random);
  // As few as a case has processes, because the reference counts slowly.
  constexpr std::size_t kMaxValues = 16;
  std::vector<double> others = draw(random);
  others.resize(std::min(others.size(), kMaxValues));
  const auto some = std::span(differences).first(std::min(differences.size(), kMaxValues));
  const auto interval = bench::shift_interval(some, others, 0.9);
  const auto deviation = bench::standard_deviation(differences);
  const auto pairs = static_cast<int>(differences.size());
  return {{"differences", differences},
          {"p_greater", bench::signed_rank_p(differences).greater},
          {"p_less", bench::signed_rank_p(differences).less},
          {"estimate", json_of(bench::HodgesLehmann(differences).estimate())},
          {"lower_5", json_of(bench::HodgesLehmann(differences).bounds(0.05).low)},
          {"upper_1", json_of(bench::HodgesLehmann(differences).bounds(0.01).high)},
          {"detectable", json_of(detectable_effect(*deviation, pairs, 0.01, 0.8))},
          {"others", others},
          {"shift", json_of(bench::shift(some, others))},
          {"shift_low", interval ? ordered_json(interval->low) : ordered_json()},
          {"shift_high", interval ? ordered_json(interval->high) : ordered_json()},
          {"shift_confidence", interval ? ordered_json(interval->confidence) : ordered_json()},
          {"probabilities", probabilities},
          {"adjusted", bench::adjusted_p_values(probabilities)}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::mt19937_64 random(std::strtoull(argv[1], nullptr, 10));
  for (long left = std::strtol(argv[2], nullptr, 10); left > 0; --left) {
    std::cout << line_of(random).dump() << '\n';
  }
}
