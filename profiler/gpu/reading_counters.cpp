// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/reading_counters.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace bench {
namespace {

constexpr double kMilliwattsPerWatt = 1000;

double live_at(std::span<const CounterPoint> live, Nanoseconds at) {
  const auto after = std::ranges::upper_bound(live, at, {}, &CounterPoint::at);
  return after == live.begin() ? 0 : (after - 1)->value;
}

// Returns the source of the memory readings. The driver's list of processes takes precedence over
// the growth of the device's used memory.
std::optional<GpuMemorySource> find_source(std::span<const GpuReading> readings) {
  std::optional<GpuMemorySource> source;
  for (const GpuReading& reading : readings) {
    if (!reading.memory) continue;
    if (reading.memory->source == GpuMemorySource::process) return GpuMemorySource::process;
    source = reading.memory->source;
  }
  return source;
}

void append_notes(std::int64_t device, const GpuReadingCounters& counters,
                  const std::set<RecordGroup>& groups, GpuJoin& join) {
  std::vector<std::string> unread;
  const auto lacks = [&](RecordGroup group, bool known, std::string_view what) {
    if (groups.contains(group) && !known) unread.emplace_back(what);
  };
  lacks(RecordGroup::device, !counters.sm_clock.empty(), "the clock");
  lacks(RecordGroup::device, !counters.power.empty(), "the power");
  lacks(RecordGroup::memory, counters.memory_source.has_value(), "the memory of this process");
  if (!unread.empty()) {
    join.notes.push_back(
        fmt::format("the driver of device {} does not report {}", device, fmt::join(unread, ", ")));
  }
  if (counters.readings_below_allocations > 0 && groups.contains(RecordGroup::memory)) {
    join.notes.push_back(
        fmt::format("{} of the memory on device {} {} lower than the allocations: other memory of "
                    "the driver is unknown at these times",
                    pluralise(counters.readings_below_allocations, "reading"), device,
                    counters.readings_below_allocations == 1 ? "is" : "are"));
  }
}

}  // namespace

GpuReadingCounters reading_counters(std::vector<GpuReading> readings,
                                    std::span<const CounterPoint> live) {
  std::ranges::stable_sort(readings, {}, &GpuReading::at);
  GpuReadingCounters counters;
  counters.memory_source = find_source(readings);
  for (const GpuReading& reading : readings) {
    if (reading.sm_clock_hz) {
      counters.sm_clock.push_back({reading.at, static_cast<double>(*reading.sm_clock_hz)});
    }
    if (reading.power_milliwatt) {
      const auto milliwatt = static_cast<double>(*reading.power_milliwatt);
      counters.power.push_back({reading.at, milliwatt / kMilliwattsPerWatt});
    }
    if (!reading.memory || reading.memory->source != counters.memory_source) continue;
    const double other = static_cast<double>(reading.memory->bytes) - live_at(live, reading.at);
    if (other < 0) {
      ++counters.readings_below_allocations;
    } else {
      counters.other_bytes.push_back({reading.at, other});
    }
  }
  return counters;
}

void append_counter(const GpuCounterName& counter, std::span<const CounterPoint> points,
                    std::vector<Activity>& activities) {
  for (const CounterPoint& point : points) {
    Activity activity = make_counter(counter.name, point.at, point.value, counter.unit);
    activity.track = {counter.pid, 0, counter.device, {}};
    activities.push_back(std::move(activity));
  }
}

void join_readings(const GpuSession& session,
                   const std::map<std::int64_t, std::vector<CounterPoint>>& live,
                   const std::set<RecordGroup>& groups, GpuJoin& join) {
  std::map<std::int64_t, std::vector<GpuReading>> by_device;
  for (const GpuRecord& record : session.records) {
    if (const auto* reading = std::get_if<GpuReading>(&record)) {
      by_device[reading->device].push_back(*reading);
    } else if (const auto* note = std::get_if<GpuNote>(&record)) {
      join.notes.push_back(note->text);
    }
  }
  for (auto& [number, readings] : by_device) {
    const std::int64_t device = number;
    const auto known = live.find(device);
    const GpuReadingCounters counters = reading_counters(
        std::move(readings), known != live.end() ? std::span<const CounterPoint>(known->second)
                                                 : std::span<const CounterPoint>());
    append_notes(device, counters, groups, join);
    const auto append = [&](std::string_view name, std::string_view unit,
                            std::span<const CounterPoint> points) {
      append_counter({name, unit, session.pid, device}, points, join.activities);
    };
    if (groups.contains(RecordGroup::device)) {
      append("sm_clock", "Hz", counters.sm_clock);
      append("power", "W", counters.power);
    }
    if (!groups.contains(RecordGroup::memory)) continue;
    append(kOtherBytesCounter, "bytes", counters.other_bytes);
    if (counters.memory_source) join.memory_sources[device] = *counters.memory_source;
  }
}

}  // namespace bench
