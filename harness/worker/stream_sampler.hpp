// SPDX-License-Identifier: Apache-2.0
// Takes samples of a case with streams: each sample is a window of time in which all streams run
// (StreamWindow). Its time is that of the sample's iterations at the throughput of all streams
// together; the latencies are those of single iterations.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sampler.hpp"
#include "harness/worker/stream_team.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

// The common window of the streams of a case: which iterations count, and what the throughput is.
// Pure functions of recorded times.
//
// All streams start behind a barrier. The first iteration of each stream is its lead-in. The window
// begins when the last stream has finished its lead-in. It ends when the last stream has finished
// the required number of iterations that began in the window. An iteration counts if it begins and
// ends in the window. The rate of a stream is the number of its counted iterations, divided by the
// time from the begin of the first to the end of the last. Iterations that are only partly in the
// window therefore do not make it lower. The throughput is the sum of these rates.

// The times of one stream, on one clock: the begin of its lead-in, then the end of each iteration,
// which is also the begin of the next one.
using StreamTimes = std::vector<Nanoseconds>;

struct StreamWindow {
  Nanoseconds begin{0}, end{0};
  std::vector<std::int64_t> counted;   // iterations by stream; at least the required number
  std::vector<Nanoseconds> spans;      // times of the counted iterations, by stream; at least 1 ns
  std::vector<Nanoseconds> latencies;  // one per counted iteration
};

// Returns nullopt if a stream has fewer than `required` iterations that begin in the window.
// Requires at least one stream and `required` >= 1.
std::optional<StreamWindow> find_window(std::span<const StreamTimes> streams,
                                        std::int64_t required);

// Returns the time that `iterations` iterations take at the throughput of the window.
Nanoseconds time_at_throughput(const StreamWindow& window, std::int64_t iterations);

}  // namespace bench
