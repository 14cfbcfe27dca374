// SPDX-License-Identifier: Apache-2.0
// The canaries: four fixed workloads that use no operator or library. If their times change within
// a run or between runs, the machine changed: its clock, its memory or its neighbours. A worker
// with one thread measures them; a round takes about 60 ms.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <cstddef>
#include <optional>

namespace bench {

// Repetitions of each workload; the median is its time. Repetitions are many and short, so that an
// interrupt in one of them does not affect the median.
inline constexpr std::size_t kCanaryRepetitions = 15;

// Returns the size of the triads' memory: three times 64 MiB, or twice the last-level cache if that
// is more, up to 512 MiB. One core cannot fill a larger cache. The work is the same on every
// machine: 3 x 4 MiB per repetition. Each repetition uses memory that was not used since its
// initialisation.
Bytes canary_memory(std::optional<Bytes> last_level_cache);

// Measures all canaries. Returns an error if this machine does not have enough memory. `available`:
// memory that may be used; nullopt if unknown.
Result<Canaries> measure_canaries(Clock& clock, std::optional<Bytes> last_level_cache,
                                  std::optional<Bytes> available);

}  // namespace bench
