// SPDX-License-Identifier: Apache-2.0
// Converts the driver's occasional readings of a device into counters over time.
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

// Memory that the driver counts for the process but no allocation explains: its context, loaded
// code, buffers of the tracer, memory that libraries cache.
inline constexpr std::string_view kOtherBytesCounter = "device_other_bytes";

// Counters of one device. A reading without a value adds no point; no points means unknown.
struct GpuReadingCounters {
  std::vector<CounterPoint> sm_clock;  // Hz
  std::vector<CounterPoint> power;     // W
  // Memory of the process according to the driver, minus live bytes.
  std::vector<CounterPoint> other_bytes;
  // How the driver knows the memory of the process; nullopt if it does not.
  std::optional<GpuMemorySource> memory_source;
  // Number of the driver's memory readings that are lower than the live bytes. They are left out.
  std::int64_t readings_below_allocations = 0;
};

// `readings` may be in any order. `live` gives known allocated bytes at every change, by time;
// before the first point it is 0. If the driver lists the process in some readings, only those are
// used.
GpuReadingCounters reading_counters(std::vector<GpuReading> readings,
                                    std::span<const CounterPoint> live);

struct GpuCounterName {
  std::string_view name, unit;
  std::int64_t pid = 0;
  std::optional<std::int64_t> device;  // nullopt for the host
};
void append_counter(const GpuCounterName& counter, std::span<const CounterPoint> points,
                    std::vector<Activity>& activities);

// Adds the session's readings and notes to `join`: counters of the recorded groups, memory sources
// and notes. `live` by device, as in reading_counters().
void join_readings(const GpuSession& session,
                   const std::map<std::int64_t, std::vector<CounterPoint>>& live,
                   const std::set<RecordGroup>& groups, GpuJoin& join);

}  // namespace bench
