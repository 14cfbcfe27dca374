// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/stream_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace bench {
namespace {

// The state of one window, which its streams share.
struct WindowState {
  WindowState(std::size_t streams, std::int64_t iterations)
      : required(iterations), lead_in_ends(streams) {
    for (std::atomic<std::int64_t>& end : lead_in_ends) end.store(kNotYet);
  }

  static constexpr std::int64_t kNotYet = -1;
  const std::int64_t required;
  std::atomic<std::size_t> arrived{0};        // streams that wait at the barrier
  std::atomic<std::size_t> satisfied{0};      // streams that have the required iterations
  std::atomic<std::int64_t> failed{kNotYet};  // the first stream that failed
  std::vector<std::atomic<std::int64_t>> lead_in_ends;

  bool is_over() const {
    return failed.load() != kNotYet || satisfied.load() == lead_in_ends.size();
  }
  // Returns nullopt until all streams have finished their lead-in.
  std::optional<Nanoseconds> find_begin() const {
    std::int64_t begin = 0;
    for (const std::atomic<std::int64_t>& end : lead_in_ends) {
      const std::int64_t time = end.load();
      if (time == kNotYet) return std::nullopt;
      begin = std::max(begin, time);
    }
    return Nanoseconds(begin);
  }
  // Spins, because a thread that sleeps starts microseconds later. Yields, because streams of a
  // test may share a processor.
  void wait_for_all() {
    constexpr int kSpins = 1000;
    arrived.fetch_add(1);
    for (int i = 0; arrived.load() < lead_in_ends.size(); ++i) {
      if (i > kSpins) std::this_thread::yield();
    }
  }
};

template <class ClockType>
class StreamSampler final : public Sampler {
 public:
  StreamSampler(StreamTeam& team, const std::vector<std::unique_ptr<Rotation>>& rotations,
                ClockType& clock, const SamplerOptions& options)
      : team_(team),
        rotations_(rotations),
        clock_(clock),
        slowdown_(options.slowdown),
        canaries_(options.canary, options.threads),
        times_(rotations.size()) {
    team_.run_on(0, [this] { clock_cost_ = clock_cost(clock_); });
    team_.bind_threads();
  }

  BatchLimits batch_limits() const override { return kStreamBatch; }
  std::int64_t min_iterations() const override {
    return kMinWindowIterations * static_cast<std::int64_t>(rotations_.size());
  }
  std::optional<Nanoseconds> warm(std::int64_t iterations) override {
    const auto window = run_window(iterations);
    return window ? std::optional(time_at_throughput(*window, iterations)) : std::nullopt;
  }
  void begin_round() override {
    canaries_.begin_round();
    team_.bind_threads();
  }
  void leave_out_canaries() override { canaries_.leave_out(); }
  Taken take(std::int64_t iterations, RoundSamples& out) override {
    canaries_.open();
    const auto window = run_window(iterations);
    if (!window) return Taken::failed;
    out.samples.push_back(time_at_throughput(*window, iterations));
    out.timed += elapsed();
    out.latencies.insert(out.latencies.end(), window->latencies.begin(), window->latencies.end());
    out.clock = clock_cost_;
    canaries_.close(elapsed(), out);
    return Taken::counted;
  }
  std::string failure() const override { return failure_; }

 private:
  // Runs all streams until each has its share of the iterations in the window.
  std::optional<StreamWindow> run_window(std::int64_t iterations) {
    const auto streams = static_cast<std::int64_t>(rotations_.size());
    const std::int64_t share = (iterations + streams - 1) / streams;
    WindowState state(rotations_.size(), std::max(share, kMinWindowIterations));
    team_.run_all(
        [&](std::size_t stream) { on_page_boundary([&] { run_stream(stream, state); }); });
    if (const std::int64_t failed = state.failed.load(); failed != WindowState::kNotYet) {
      const auto& rotation = *rotations_[static_cast<std::size_t>(failed)];
      failure_ = fmt::format("stream {} of {}: {}", failed + 1, streams, rotation.failure());
      return std::nullopt;
    }
    auto window = find_window(times_, state.required);
    if (!window) failure_ = "the clocks of the streams' processors differ too much";
    return window;
  }

  void run_stream(std::size_t stream, WindowState& state) {
    Rotation& rotation = *rotations_[stream];
    StreamTimes& times = times_[stream];
    times.clear();
    times.reserve(static_cast<std::size_t>(4 * (state.required + 2)));
    std::optional<Nanoseconds> window_begin;
    std::int64_t counted = 0;
    state.wait_for_all();
    Nanoseconds begin = clock_.now();
    times.push_back(begin);
    do {
      if (!rotation.run(1)) {
        std::int64_t none = WindowState::kNotYet;
        state.failed.compare_exchange_strong(none, static_cast<std::int64_t>(stream));
        return;
      }
      const Nanoseconds end = end_iteration(begin);
      if (times.size() == 1) state.lead_in_ends[stream].store(end.count());
      if (times.size() < kMaxStreamTimes) times.push_back(end);
      if (!window_begin) window_begin = state.find_begin();
      if (window_begin && begin >= *window_begin && ++counted == state.required)
        state.satisfied.fetch_add(1);
      begin = end;
    } while (!state.is_over());
  }

  // Returns the end of the iteration, lengthened on purpose if the worker is slowed down.
  Nanoseconds end_iteration(Nanoseconds begin) {
    const Nanoseconds now = clock_.now();
    return slowdown_ ? spin_longer(clock_, begin, now, *slowdown_) : now;
  }

  // The time from the first begin to the last end of any stream.
  Nanoseconds elapsed() const {
    Nanoseconds begin = Nanoseconds::max(), end{0};
    for (const StreamTimes& times : times_) {
      begin = std::min(begin, times.front());
      end = std::max(end, times.back());
    }
    return end - begin;
  }

  StreamTeam& team_;
  const std::vector<std::unique_ptr<Rotation>>& rotations_;
  ClockType& clock_;
  std::optional<double> slowdown_;
  CanaryBracket canaries_;
  std::vector<StreamTimes> times_;  // times of the last window
  Nanoseconds clock_cost_{0};
  std::string failure_;
};

}  // namespace

Nanoseconds clock_cost(Clock& clock) {
  constexpr std::int64_t kReadings = 1000;
  const Nanoseconds begin = clock.now();
  Nanoseconds end = begin;
  for (std::int64_t i = 0; i < kReadings; ++i) end = clock.now();
  return Nanoseconds(((end - begin).count() + kReadings - 1) / kReadings);
}

std::unique_ptr<Sampler> make_stream_sampler(
    StreamTeam& team, const std::vector<std::unique_ptr<Rotation>>& rotations, Clock& clock,
    const SamplerOptions& options) {
  // As for host samples, the real clock is called directly.
  if (auto* real = dynamic_cast<MonotonicClock*>(&clock))
    return std::make_unique<StreamSampler<MonotonicClock>>(team, rotations, *real, options);
  return std::make_unique<StreamSampler<Clock>>(team, rotations, clock, options);
}

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
