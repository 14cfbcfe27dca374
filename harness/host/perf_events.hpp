// SPDX-License-Identifier: Apache-2.0
// The hardware counters of the processor, through perf_event_open(2). They count user mode only, so
// that kernel.perf_event_paranoid=2, the kernel's own default, permits them.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/host/environment.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class PerfEvent { cycles, instructions, llc_misses };

struct PerfEventRow {
  PerfEvent event;
  std::string_view name;    // name of the enumerator
  std::string_view kernel;  // the kernel's name of the event, as `perf stat` has it
};
// One row per event, in the order of the enumerators.
std::span<const PerfEventRow> perf_events();

// A counter since it was started. If more events are open than the processor has registers, the
// kernel counts each for a part of the time: `running` is then less than `enabled`.
struct PerfCount {
  std::int64_t value = 0;
  Nanoseconds enabled{0}, running{0};
};

struct PerfFailure {
  int code;  // value of errno
};

// The system calls, replaceable in tests. A counter is a number that open() returned.
class PerfEvents {
 public:
  virtual ~PerfEvents() = default;
  // The threads of this process.
  virtual std::vector<int> threads() = 0;
  // Opens a stopped counter of one thread. With a leader, which is a counter of the same thread,
  // both always count at the same time.
  virtual Result<int, PerfFailure> open(PerfEvent event, int thread, std::optional<int> leader) = 0;
  // Start from 0 and stop the leader and the counters that have joined it.
  virtual void start(int leader) = 0;
  virtual void stop(int leader) = 0;
  // Returns nullopt if the counter cannot be read.
  virtual std::optional<PerfCount> read(int counter) = 0;
  virtual void close(int counter) = 0;
};
std::unique_ptr<PerfEvents> make_perf_events();

// Returns why the counters, or one event, cannot be opened, with the remedy if there is one: "the
// processor's counters are not available here (perf_event_open: No such file or directory); a
// virtual machine often hides them".
std::string format_perf_failure(const PerfFailure& failure, std::optional<PerfEvent> event = {});

// Returns which events can be opened for the calling thread, or why none can. Counts nothing.
Result<std::vector<PerfEvent>> probe_perf_events(PerfEvents& events);

// What `doctor` reports about the counters.
Finding perf_events_finding(PerfEvents& events);

}  // namespace bench
