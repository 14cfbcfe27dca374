// SPDX-License-Identifier: Apache-2.0
// What the driver said of a device now and then, as counters over time.
#pragma once

#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/join.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

// Memory that the driver counts for the process and no allocation explains: its context, loaded
// code, buffers of the tracer, what libraries hold back.
inline constexpr std::string_view kOtherBytesCounter = "device_other_bytes";

// Of one device. A reading that lacks a value adds no point: empty is unknown.
struct GpuReadingCounters {
  std::vector<CounterPoint> sm_clock;            // Hz
  std::vector<CounterPoint> power;               // W
  std::vector<CounterPoint> other_bytes;         // the driver's count less what is live
  std::optional<GpuMemorySource> memory_source;  // of the driver's count; absent: it has none
  // Readings of the driver's count that say less than what is live: of no use, and left out.
  std::int64_t below_live = 0;
};

// `readings` in any order. `live`: bytes known to be allocated, at every change and by time;
// nothing before. Where the driver lists the process in some readings those alone count.
GpuReadingCounters reading_counters(std::vector<GpuReading> readings,
                                    std::span<const CounterPoint> live);

struct GpuCounterName {
  std::string_view name, unit;
  std::int64_t pid = 0;
  std::optional<std::int64_t> device;  // absent: of the host
};
void append_counter(const GpuCounterName& of, std::span<const CounterPoint> points,
                    std::vector<Activity>& activities);

// The session's readings and notes: counters of the groups that are recorded, sources, notes.
// `live` by device, as of reading_counters().
void join_readings(const GpuSession& session,
                   const std::map<std::int64_t, std::vector<CounterPoint>>& live,
                   const std::set<RecordGroup>& groups, GpuJoin& join);

}  // namespace bench
