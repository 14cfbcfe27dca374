// SPDX-License-Identifier: Apache-2.0
// What the gate would do to whole suites, drawn from recorded duets of equal sides: false alarms,
// power, cost. Runs the real decide(). Pure functions of the record and a seed.
#pragma once

#include "harness/judge/evidence.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// One kernel under one condition, in the order of measurement, so that what disturbed one duet is
// near in the record to what disturbed the next.
struct RecordedDuets {
  std::string name;                // "gemm/.../t1 quiet"
  std::vector<double> log_ratios;  // candidate / base, of equal sides
  std::vector<double> base_q25;    // lower quartile of the base's process, nanoseconds
};

struct SimulationOptions {
  int suites = 1000;
  int cases = 100;      // in a suite
  int slower = 0;       // of them, by `slowdown`
  double slowdown = 0;  // a share
  // Whether each duet is drawn as itself or as its mirror image, or as it was recorded: then a
  // shift that lasted for a sitting stays one.
  enum class Drawing { mirrored, recorded };
  Drawing drawing = Drawing::mirrored;
  // Where the budget ends: no case gets more duets, and none is confirmed. Absent: no limit.
  std::optional<int> max_duets;
  std::uint64_t seed = 1;
  GatePolicy policy;
  GateSettings settings;
};

struct SimulationResult {
  int suites = 0;
  int red = 0;                         // suites with a REGRESSION that is none
  std::int64_t clean = 0, alarms = 0;  // cases that are not slower; REGRESSION among them
  std::int64_t slow = 0, found = 0;    // cases that are slower; REGRESSION among them
  std::int64_t inconclusive = 0;       // of all cases
  double processes_per_case = 0;       // both sides together, and one of stage 1
};

// Each case of a suite draws one of `kernels`, and its duets as consecutive ones of the record from
// a random place on, by default each or its mirror image: all that tells equal sides apart is drawn
// anew for each duet (harness/gate/duet.cpp), so that both are equally likely. Every kernel holds
// at least one duet.
SimulationResult simulate(std::span<const RecordedDuets> kernels, const SimulationOptions& options);

}  // namespace bench
