// SPDX-License-Identifier: Apache-2.0
// Compares the cases of one result with each other: those that differ in one parameter alone. Pure
// functions.
#pragma once

#include "base/result.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// One value of the parameter against the value that all are compared with.
struct ParameterEffect {
  // Its id is that of the case with this value; `base` is the other one. If there is a ratio, the
  // times hold at the speed at which the run states the time of the base.
  ComparedCase compared;
  double work_ratio =
      1;  // work of this case / work of the other; 1 if the parameter keeps the work

  // Work per time against the other case: 2 is twice as fast. nullopt if the two are incomparable.
  std::optional<double> speed_up() const;
  std::optional<double> low() const;  // lower end of its interval
  std::optional<double> high() const;
};

// A mean of speed-ups with its interval, computed as that of GroupRatio.
struct MeanSpeedUp {
  double value = 1;
  double low = 1, high = 1;
};

// The cases that differ in the parameter alone.
struct ParameterGroup {
  std::string base_id;
  std::optional<double> base;                           // in nanoseconds, as the run states it
  std::vector<std::optional<ParameterEffect>> effects;  // in the order of `values`
};

// Which value is the fastest, over the cases that all ranked values have measured.
struct ValueRanking {
  struct Place {
    std::string value;
    double mean_time = 1;  // geometric mean of its times, relative to the fastest value
    std::size_t wins = 0;  // cases in which it is faster than all others, beyond their intervals
  };
  std::vector<Place> places;  // the fastest first; at least two
  std::size_t cases = 0;      // at least one
  std::size_t ties = 0;       // cases in which the two fastest values cannot be distinguished
  MeanSpeedUp lead;           // speed-up of the first place against the second
  bool is_certain() const { return lead.low > 1; }
};

// A value whose cases have no times.
struct UnmeasuredValue {
  std::string value;
  std::string reason;  // the reason of its first case
};

struct ParameterComparison {
  std::string name;                             // name of the file
  std::optional<RunRecord> run = std::nullopt;  // the file's last run, if it has one
  std::string parameter;
  std::string against;              // the value that all are compared with
  std::vector<std::string> values;  // the others: numbers ascending, words as they first appear
  std::vector<ParameterGroup> groups;
  bool is_work_equal = true;                      // whether every pair computes the same amount
  std::vector<std::optional<MeanSpeedUp>> means;  // geometric means, by value
  std::size_t unpaired = 0;                       // cases that no other case pairs with
  // Only for the parameter `backend`: it asks which library is the fastest. nullopt if no case has
  // times of two backends.
  std::optional<ValueRanking> ranking = std::nullopt;
  // With a ranking: the backends that nothing measured, for example because their library is
  // missing. They are not among `values`.
  std::vector<UnmeasuredValue> unmeasured = {};
};

// `against`: nullopt for the first value that has a time: the smallest number, or the word that
// appears first.
// Returns an error if no two cases differ in the parameter alone; it names the parameters for which
// such cases exist. Returns an error if no case has the value `against`.
Result<ParameterComparison> compare_by(const Report& report, const std::string& name,
                                       const std::string& parameter,
                                       const std::optional<std::string>& against);

}  // namespace bench
