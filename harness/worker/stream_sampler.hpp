// SPDX-License-Identifier: Apache-2.0
// Takes samples of a case with streams: each sample is a window of time in which all streams run
// (stream_window.hpp). Its time is that of the sample's iterations at the throughput of all streams
// together; the latencies are those of single iterations.
#pragma once

#include "base/env.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sampler.hpp"
#include "harness/worker/stream_team.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bench {

// Iterations that each stream must have in a window, at least. Fewer would make the lead-in, which
// does not count, most of the time.
inline constexpr std::int64_t kMinWindowIterations = 3;
// Limits for samples of streams. A window takes the time of at least one further iteration, and
// starting all streams takes some microseconds; neither must be most of the sample.
inline constexpr BatchLimits kStreamBatch = {std::chrono::milliseconds(5),
                                             std::chrono::milliseconds(5)};
// Times that a stream records in one window, at most. A stream that waits for a slow one runs on
// without being recorded, so that the memory is bounded.
inline constexpr std::size_t kMaxStreamTimes = std::size_t{1} << 22;

// Returns the time that one reading of the clock takes, rounded up.
Nanoseconds clock_cost(Clock& clock);

// Creates a sampler of the streams; stream i runs rotations[i] on the team's thread i. The
// references must outlive the sampler.
std::unique_ptr<Sampler> make_stream_sampler(
    StreamTeam& team, const std::vector<std::unique_ptr<Rotation>>& rotations, Clock& clock,
    const SamplerOptions& options);

}  // namespace bench
