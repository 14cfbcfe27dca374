// SPDX-License-Identifier: Apache-2.0
// The noise figure of `bench doctor`: the smallest difference between two runs that `bench compare`
// would see on this machine as it is now. It comes from a few short worker processes that run the
// canaries (harness/worker/canary.hpp).
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

// Processes of a figure: the number that a comparison needs for an interval of 90 %.
inline constexpr std::size_t kNoiseProcesses = 5;
// Rounds of canaries per process. Their lower quartile is the process's time, as `compare` takes
// the lower quartile of a process's samples.
inline constexpr std::size_t kNoiseRounds = 7;

using CanaryRounds = std::vector<Canaries>;  // rounds of one process

struct NoiseFigure {
  struct Part {
    std::string_view workload;  // "arithmetic", "L2 cache", "memory"
    double share = 0;           // smallest visible difference, as a fraction of the time
  };
  std::size_t processes = 0;
  std::vector<Part> parts;  // in the order of the workloads; never empty
  // Returns the largest share: what can be relied on, whatever the case needs.
  double share() const;
};

// Returns nullopt for fewer processes with rounds than a comparison needs (kMinFastProcesses).
std::optional<NoiseFigure> noise_figure(std::span<const CanaryRounds> processes);

// For example "differences below about 4 % will not be seen here with 5 processes (arithmetic 1.3
// %, L2 cache 2.0 %, memory 3.6 %)".
Finding noise_finding(const NoiseFigure& figure);

// The finding if `limit` did not suffice for a figure.
Finding no_noise_finding(Nanoseconds limit);

// Runs the processes one after another, each with one thread. Starts no further process or round
// after `limit`. Returns an error if a worker does not start or has not enough memory.
Result<std::vector<CanaryRounds>> measure_noise(const std::string& worker_program,
                                                Nanoseconds limit, Env& env);

}  // namespace bench
