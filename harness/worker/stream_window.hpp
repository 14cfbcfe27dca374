// SPDX-License-Identifier: Apache-2.0
// The common window of the streams of a case: which iterations count, and what the throughput is.
// Pure functions of recorded times.
//
// All streams start behind a barrier. The first iteration of each stream is its lead-in. The window
// begins when the last stream has finished its lead-in. It ends when the last stream has finished
// the required number of iterations that began in the window. An iteration counts if it begins and
// ends in the window. The rate of a stream is the number of its counted iterations, divided by the
// time from the begin of the first to the end of the last. Iterations that are only partly in the
// window therefore do not make it lower. The throughput is the sum of these rates.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

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
