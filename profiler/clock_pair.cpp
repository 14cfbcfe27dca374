// SPDX-License-Identifier: Apache-2.0
#include "profiler/clock_pair.hpp"

#include "base/text.hpp"

#include <cstdint>
#include <fstream>

namespace bench {
namespace {

constexpr int kReadings = 5;

// The year 2116; CLOCK_MONOTONIC is far smaller.
constexpr std::int64_t kMaxTime = std::int64_t{1} << 62;

constexpr const char* kBootDetail = "clock.boot";

std::optional<Nanoseconds> find_time(const ClockDetails& details, const std::string& name) {
  const auto found = details.find(name);
  if (found == details.end()) return std::nullopt;
  const auto time = parse_number<std::int64_t>(found->second);
  return time && *time >= 0 && *time < kMaxTime ? std::optional(Nanoseconds(*time)) : std::nullopt;
}

std::optional<ClockPair> find_pair(const ClockDetails& details, const std::string& which) {
  const auto realtime = find_time(details, "clock." + which + ".realtime_ns");
  const auto monotonic = find_time(details, "clock." + which + ".monotonic_ns");
  if (!realtime || !monotonic) return std::nullopt;
  return ClockPair{*realtime, *monotonic};
}

void describe_pair(const std::optional<ClockPair>& pair, const std::string& which,
                   ClockDetails& details) {
  if (!pair) return;
  details["clock." + which + ".realtime_ns"] = std::to_string(pair->realtime.count());
  details["clock." + which + ".monotonic_ns"] = std::to_string(pair->monotonic.count());
}

Nanoseconds difference(const ClockPair& pair) { return pair.realtime - pair.monotonic; }

}  // namespace

ClockPair read_clock_pair(Clock& realtime, Clock& monotonic) {
  ClockPair best;
  std::optional<Nanoseconds> shortest;
  for (int i = 0; i < kReadings; ++i) {
    const Nanoseconds before = monotonic.now();
    const Nanoseconds between = realtime.now();
    const Nanoseconds length = monotonic.now() - before;
    if (shortest && length >= *shortest) continue;
    shortest = length;
    best = {between, before + length / 2};
  }
  return best;
}

std::optional<Nanoseconds> ProfileClocks::realtime_offset() const {
  if (start && end) return difference(*start) + (difference(*end) - difference(*start)) / 2;
  if (start) return difference(*start);
  return end ? std::optional(difference(*end)) : std::nullopt;
}

Nanoseconds ProfileClocks::drift() const {
  if (!start || !end) return Nanoseconds(0);
  const Nanoseconds moved = difference(*end) - difference(*start);
  return moved < Nanoseconds(0) ? -moved : moved;
}

ProfileClocks parse_clocks(const ClockDetails& details) {
  ProfileClocks clocks{find_pair(details, "start"), find_pair(details, "end"), {}};
  if (const auto boot = details.find(kBootDetail); boot != details.end())
    clocks.boot = boot->second;
  return clocks;
}

void describe_clocks(const ProfileClocks& clocks, ClockDetails& details) {
  describe_pair(clocks.start, "start", details);
  describe_pair(clocks.end, "end", details);
  if (!clocks.boot.empty()) details[kBootDetail] = clocks.boot;
}

std::string read_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace bench
