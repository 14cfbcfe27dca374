// SPDX-License-Identifier: Apache-2.0
// Evidence for tests of decisions.
#pragma once

#include "harness/judge/decide.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

inline constexpr double kBase = 1e6;  // nanoseconds

// Adds duets whose effect is `share`, spread evenly over -noise..noise around it, in mixed order.
inline void add_duets(CaseEvidence& entry, Duet::Stage stage, int count, double share,
                      double noise) {
  for (int i = 0; i < count; ++i) {
    const double shaken = noise * (static_cast<double>(i * 7 % 20) - 9.5) / 9.5;
    Duet duet;
    duet.id = entry.id();
    duet.stage = stage;
    duet.number = i;
    const auto slow = Nanoseconds(std::llround(kBase * std::exp(std::log1p(share) + shaken)));
    duet.base.assign(3, Nanoseconds(std::llround(kBase)));
    duet.candidate.assign(3, slow);
    entry.duets.push_back(duet);
  }
}

// Sets the candidate's time of an iteration, one per process, in nanoseconds.
inline void set_times(CaseEvidence& entry, const std::vector<double>& times) {
  entry.candidate.processes.clear();
  for (const double time : times) {
    entry.candidate.processes.push_back(process_from_iteration(FractionalNanoseconds(time)));
  }
}

inline CaseEvidence measured(const std::string& id) {
  CaseEvidence entry;
  entry.candidate.id = id;
  entry.candidate.source = "a.yaml:3";
  set_times(entry, {kBase, kBase, kBase});
  entry.candidate.median = Nanoseconds(1000000);
  return entry;
}

inline StoredEvidence stored(double time, double sigma, int runs = 10) {
  StoredEvidence result;
  result.commit = "abc1234";
  result.runs = runs;
  result.log_level = std::log(time);
  result.sigma = sigma;
  return result;
}

inline GateEvidence paired(std::vector<CaseEvidence> cases) {
  GateEvidence evidence;
  evidence.mode = GateEvidence::Mode::paired;
  evidence.cases = std::move(cases);
  return evidence;
}

}  // namespace bench::test
