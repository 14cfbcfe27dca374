// SPDX-License-Identifier: Apache-2.0
// Determines the noise figure of `bench doctor`: the smallest difference between two runs that
// `bench compare` would detect on this machine now. A few short worker processes run the canaries
// (harness/worker/canary.hpp) for this purpose.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/record.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Number of processes: a comparison needs as many for an interval with 90 % coverage.
inline constexpr std::size_t kNoiseProcesses = 5;
// Rounds of canaries per process. The lower quartile of the rounds represents the process, as the
// lower quartile of the samples does for `compare`.
inline constexpr std::size_t kNoiseRounds = 7;

using CanaryRounds = std::vector<Canaries>;  // rounds of one process

struct NoiseFigure {
  struct Workload {
    std::string_view name;  // "arithmetic", "L2 cache", "memory"
    double fraction = 0;    // smallest detectable difference, as a fraction of the time
  };
  std::size_t processes = 0;        // number of processes that were evaluated
  std::vector<Workload> workloads;  // never empty
  // Returns the largest fraction, which is reliable for every kind of case.
  double max_fraction() const;
};

// Returns nullopt if fewer than kMinFastProcesses processes have a round.
std::optional<NoiseFigure> noise_figure(std::span<const CanaryRounds> processes);

// Returns the finding, for example "differences below about 4 % will not be seen here with 5
// processes (arithmetic 1.3 %, L2 cache 2.0 %, memory 3.6 %)".
Finding noise_finding(const NoiseFigure& figure);

// Returns the finding for the case that the time `limit` was too short for a figure.
Finding no_noise_finding(Nanoseconds limit);

// Runs the processes one after another, each with one thread. Starts no further process or round
// after `limit`. Returns an error if a worker does not start or has not enough memory.
Result<std::vector<CanaryRounds>> measure_noise(const std::string& worker_program,
                                                Nanoseconds limit, Env& env);

}  // namespace bench
