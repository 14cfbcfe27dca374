// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/processor_counters.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t kEvents = 3;
// If the counted fraction of the time is at least this, the counters were not shared with other
// users. The missing time passes while the counters are started and stopped.
constexpr double kMinUnsharedFraction = 0.999;

using ops::BackendError;

double round_to_step(double value, double steps_per_unit) {
  return std::round(value * steps_per_unit) / steps_per_unit;
}

// The counters of all threads of the process. Opens them at construction and closes them at
// destruction.
class ThreadCounters {
 public:
  explicit ThreadCounters(PerfEvents& events) : events_(events), threads_(events.threads()) {
    for (const int thread : threads_) open(thread);
  }
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;
  ~ThreadCounters() {
    // A leader must be closed after the other counters of its group.
    for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
      for (auto counter = group->rbegin(); counter != group->rend(); ++counter) {
        if (*counter) events_.close(**counter);
      }
    }
  }

  // Returns true if no counter could be opened.
  bool empty() const {
    return std::ranges::all_of(groups_, [](const Group& group) { return !leader(group); });
  }
  std::size_t threads() const { return threads_.size(); }
  // Returns false if threads of the process have started or ended since construction.
  bool has_all_threads() { return events_.threads() == threads_; }
  std::optional<PerfFailure> failure(PerfEvent event) const { return failures_[index(event)]; }

  void start() {
    for (const Group& group : groups_) events_.start(*leader(group));
  }
  void stop() {
    for (const Group& group : groups_) events_.stop(*leader(group));
  }
  // Returns the count of the event over all threads, scaled to the whole time; nullopt if the count
  // of a thread is unknown.
  std::optional<double> sum(PerfEvent event) {
    if (failure(event)) return std::nullopt;
    double sum = 0;
    for (const Group& group : groups_) {
      const auto count = events_.read(*group[index(event)]);
      if (!count) return std::nullopt;
      enabled_ += count->enabled;
      running_ += count->running;
      if (count->enabled == Nanoseconds(0)) continue;  // the thread did nothing
      if (count->running == Nanoseconds(0)) return std::nullopt;
      sum += static_cast<double>(count->value) * static_cast<double>(count->enabled.count()) /
             static_cast<double>(count->running.count());
    }
    return sum;
  }
  // Returns the fraction of the time during which the events of sum() were counted.
  double counted_share() const {
    if (enabled_ == Nanoseconds(0)) return 1;
    return static_cast<double>(running_.count()) / static_cast<double>(enabled_.count());
  }

 private:
  using Group = std::array<std::optional<int>, kEvents>;

  static std::size_t index(PerfEvent event) { return static_cast<std::size_t>(event); }
  // Returns the first counter that could be opened.
  static std::optional<int> leader(const Group& group) {
    const auto* const first =
        std::ranges::find_if(group, [](const auto& counter) { return counter.has_value(); });
    return first == group.end() ? std::nullopt : *first;
  }
  void open(int thread) {
    Group& group = groups_.emplace_back();
    for (const PerfEventRow& row : perf_events()) {
      std::optional<PerfFailure>& error = failures_[index(row.event)];
      if (error) continue;  // a sum over only some of the threads is meaningless
      const auto counter = events_.open(row.event, thread, leader(group));
      if (counter) {
        group[index(row.event)] = *counter;
      } else {
        error = counter.error();
      }
    }
  }

  PerfEvents& events_;
  std::vector<int> threads_;
  std::vector<Group> groups_;  // one per thread
  std::array<std::optional<PerfFailure>, kEvents> failures_;
  Nanoseconds enabled_{0}, running_{0};
};

// Runs the rotation once. Returns the failure of an invocation.
Result<Done, BackendError> run_rotation(std::span<ops::Invocation* const> rotation) {
  for (ops::Invocation* invocation : rotation) {
    if (!invocation->run()) return BackendError{BackendError::Kind::failed, invocation->error()};
  }
  return Done{};
}

void add_derived(CounterReadings& readings) {
  const auto value = [&](const char* name) { return readings.at(name).value; };
  const auto cycles = value("cycles"), instructions = value("instructions");
  if (cycles && instructions && *cycles > 0) {
    readings["instructions_per_cycle"] = {round_to_step(*instructions / *cycles, 1e3),
                                          "instructions / cycles"};
  }
  if (const auto misses = value("llc_misses")) {
    readings["llc_miss_bytes"] = {*misses * kCacheLineBytes,
                                  fmt::format("llc_misses x {:.0f}", kCacheLineBytes)};
  }
}

CounterReadings make_readings(ThreadCounters& counters, std::int64_t executions) {
  CounterReadings readings;
  for (const PerfEventRow& row : perf_events()) {
    CounterReading& reading = readings[std::string(row.name)];
    if (const auto failure = counters.failure(row.event)) {
      reading.source = format_perf_failure(*failure, row.event);
    } else if (const auto sum = counters.sum(row.event)) {
      reading.value = std::round(*sum / static_cast<double>(executions));
      reading.source =
          fmt::format("perf event {}, mean of {}, {}", row.kernel,
                      pluralise(executions, "execution"), pluralise(counters.threads(), "thread"));
    } else {
      reading.source = fmt::format(
          "the event {} was never counted: other users hold the processor's counters", row.kernel);
    }
  }
  add_derived(readings);
  const double share = counters.counted_share();
  if (share < kMinUnsharedFraction) {
    readings["counted_share"] = {round_to_step(share, 1e4), "time running / time enabled"};
  }
  return readings;
}

}  // namespace

Result<CounterReadings, BackendError> ProcessorCounters::measure(
    std::span<ops::Invocation* const> rotation) {
  // A warm-up: if the library starts its threads on first use, it does so here.
  BENCH_RETURN_IF_ERROR(run_rotation(rotation));
  ThreadCounters counters(events_);
  if (counters.empty()) {
    const auto failure = counters.failure(PerfEvent::cycles);
    return ops::unsupported(failure ? format_perf_failure(*failure)
                                    : std::string("the threads of this process are unknown"));
  }
  std::int64_t executions = 0;
  const Nanoseconds start = clock_.now();
  counters.start();
  do {
    BENCH_RETURN_IF_ERROR(run_rotation(rotation));
    executions += static_cast<std::int64_t>(rotation.size());
  } while (executions < kMinCountedExecutions || clock_.now() - start < kMinCountedTime);
  counters.stop();
  if (!counters.has_all_threads()) {
    return ops::unsupported(
        "threads started or ended while the processor's counters ran, and their work is missing");
  }
  return make_readings(counters, executions);
}

}  // namespace bench
