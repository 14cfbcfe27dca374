// SPDX-License-Identifier: Apache-2.0
// Simulates the gate on whole suites that are resampled from recorded A/A duets: false positives,
// power and cost. Uses the real decide(). Pure functions of the record and a seed.
#pragma once

#include "harness/judge/evidence.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// One kernel under one condition. The duets are in the order of measurement, so that a disturbance
// of several duets affects neighbours in the record.
struct RecordedDuets {
  std::string name;                // "gemm/.../t1 quiet"
  std::vector<double> log_ratios;  // candidate / base of A/A duets
  std::vector<double> base_q25;  // lower quartile of the base's process, nanoseconds per iteration
};

struct SimulationOptions {
  int suites = 1000;
  int cases = 100;      // per suite
  int slower = 0;       // number of cases that are slower by `slowdown`
  double slowdown = 0;  // a fraction
  // mirrored: each duet is used as recorded or mirrored, at random. recorded: as recorded, which
  // preserves a shift that lasted for a sitting.
  enum class Drawing { mirrored, recorded };
  Drawing drawing = Drawing::mirrored;
  // Simulates the end of the budget: no case gets more duets, and none is confirmed. nullopt: no
  // limit.
  std::optional<int> max_duets;
  std::uint64_t seed = 1;
  GatePolicy policy;
  GateSettings settings;
};

struct SimulationResult {
  int suites = 0;
  int red = 0;                         // suites with a false REGRESSION
  std::int64_t clean = 0, alarms = 0;  // cases that are not slower; those with REGRESSION
  std::int64_t slow = 0, found = 0;    // cases that are slower; those with REGRESSION
  std::int64_t inconclusive = 0;       // over all cases
  double processes_per_case = 0;       // both sides together, plus one of stage 1
};

// Each case of a suite resamples one of `kernels`. Its duets are consecutive ones of the record
// from a random position on, each mirrored at random by default. Mirroring is valid because
// everything that distinguishes the sides of an A/A duet is chosen at random for each duet
// (harness/gate/duet.cpp). Every kernel must have at least one duet.
SimulationResult simulate(std::span<const RecordedDuets> kernels, const SimulationOptions& options);

}  // namespace bench
