// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_window.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace bench {

std::optional<StreamWindow> find_window(std::span<const StreamTimes> streams,
                                        std::int64_t required) {
  constexpr std::ptrdiff_t kLeadInEnd = 1;
  StreamWindow window;
  for (const StreamTimes& times : streams) {
    if (std::ssize(times) <= kLeadInEnd) return std::nullopt;
    window.begin = std::max(window.begin, times[kLeadInEnd]);
  }
  std::vector<StreamTimes::const_iterator> firsts;  // begin of the first iteration in the window
  for (const StreamTimes& times : streams) {
    const auto first = std::lower_bound(times.begin() + kLeadInEnd, times.end(), window.begin);
    if (std::distance(first, times.end()) <= required) return std::nullopt;
    firsts.push_back(first);
    window.end = std::max(window.end, *(first + required));
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto last = std::upper_bound(firsts[i], streams[i].end(), window.end) - 1;
    for (auto end = firsts[i] + 1; end <= last; ++end)
      window.latencies.push_back(*end - *(end - 1));
    window.counted.push_back(std::distance(firsts[i], last));
    window.spans.push_back(std::max(*last - *firsts[i], Nanoseconds(1)));
  }
  return window;
}

Nanoseconds time_at_throughput(const StreamWindow& window, std::int64_t iterations) {
  double per_nanosecond = 0;
  for (std::size_t i = 0; i < window.counted.size(); ++i) {
    per_nanosecond +=
        static_cast<double>(window.counted[i]) / static_cast<double>(window.spans[i].count());
  }
  return Nanoseconds(std::llround(static_cast<double>(iterations) / per_nanosecond));
}

}  // namespace bench
