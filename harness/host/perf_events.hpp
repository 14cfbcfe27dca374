// SPDX-License-Identifier: Apache-2.0
// Reads the processor's hardware counters through perf_event_open(2). The counters count user mode
// only, so that the kernel's default, kernel.perf_event_paranoid=2, permits them.
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
  std::string_view kernel;  // name of the event in `perf stat`
};
// Returns one row per event, in the order of the enumerators.
std::span<const PerfEventRow> perf_events();

// The state of a counter since its start. If more events are open than the processor has registers,
// the kernel counts each event only a part of the time. Then `running` is less than `enabled`.
struct PerfCount {
  std::int64_t value = 0;
  Nanoseconds enabled{0}, running{0};
};

struct PerfFailure {
  int code;  // value of errno
};

// The system calls for counters, which tests replace. A counter is a number that open() returned.
class PerfEvents {
 public:
  virtual ~PerfEvents() = default;
  // Returns the ids of the threads of this process, sorted.
  virtual std::vector<int> threads() = 0;
  // Opens a stopped counter of one thread. `leader` is another counter of the same thread. If it is
  // set, both count at the same times. The caller closes the counter.
  virtual Result<int, PerfFailure> open(PerfEvent event, int thread, std::optional<int> leader) = 0;
  // Start and stop a leader and all counters that were opened with it. start() begins at 0.
  virtual void start(int leader) = 0;
  virtual void stop(int leader) = 0;
  // Returns nullopt if the counter cannot be read.
  virtual std::optional<PerfCount> read(int counter) = 0;
  virtual void close(int counter) = 0;
};
std::unique_ptr<PerfEvents> make_perf_events();

// Returns why `event` cannot be opened, or the counters in general, with a remedy if there is one.
// An example is "the processor's counters are not available here (perf_event_open: No such file or
// directory); a virtual machine often hides them".
std::string format_perf_failure(const PerfFailure& failure, std::optional<PerfEvent> event = {});

// Returns the events that can be opened for the calling thread, or why none can be opened.
Result<std::vector<PerfEvent>> probe_perf_events(PerfEvents& events);

// Returns the finding of `doctor` about the counters.
Finding perf_events_finding(PerfEvents& events);

}  // namespace bench
