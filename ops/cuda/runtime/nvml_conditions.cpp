// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/nvml_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>
#include <unistd.h>
#include <utility>

namespace bench::ops::cuda {
namespace {

std::optional<Nanoseconds> to_nanoseconds(const std::optional<std::int64_t>& nanoseconds) {
  if (!nanoseconds) return std::nullopt;
  return Nanoseconds(*nanoseconds);
}

// Reads the parent's id from /proc/PID/stat. The format is "12 (a name) S 7 ..."; the name may
// contain any character.
std::optional<std::int64_t> read_parent_pid(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string state;
  std::int64_t parent = 0;
  if (!(fields >> state >> parent)) return std::nullopt;
  return parent;
}

// /proc may hide other users' processes; testing with signal 0 works nevertheless.
bool is_gone(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

}  // namespace

ProcessFamily own_family() { return {::getpid(), ::getppid(), read_parent_pid, is_gone}; }

std::optional<std::int64_t> foreign_processes(const std::vector<std::int64_t>& processes,
                                              const ProcessFamily& family) {
  if (std::find(processes.begin(), processes.end(), family.own) == processes.end()) {
    return std::nullopt;
  }
  return std::count_if(processes.begin(), processes.end(), [&](std::int64_t pid) {
    return pid != family.own && pid != family.parent && family.parent_of(pid) != family.parent &&
           !family.is_gone(pid);
  });
}

DeviceConditions to_conditions(const NvmlCounters& counters, const ProcessFamily& family) {
  DeviceConditions conditions;
  conditions.power_cap = to_nanoseconds(counters.power_cap);
  conditions.sync_boost = to_nanoseconds(counters.sync_boost);
  conditions.software_thermal = to_nanoseconds(counters.software_thermal);
  conditions.hardware_thermal = to_nanoseconds(counters.hardware_thermal);
  conditions.power_brake = to_nanoseconds(counters.power_brake);
  conditions.clock_reasons = counters.clock_reasons;
  conditions.performance_state = counters.performance_state;
  conditions.memory_errors = counters.memory_errors;
  conditions.power_milliwatt = counters.power_milliwatt;
  if (counters.processes) {
    conditions.other_processes = foreign_processes(*counters.processes, family);
  }
  return conditions;
}

namespace {

// Collects the numbers of all errors so far. Returns nullopt after the first failed query, because
// errors may then have been missed.
class XidWatch {
 public:
  XidWatch(const Nvml& nvml, const std::string& bus_id) {
    if (auto events = nvml.watch_xids(bus_id)) {
      events_.emplace(*std::move(events));
      numbers_.emplace();
    }
  }
  const std::optional<std::vector<std::int64_t>>& read() {
    if (!numbers_) return numbers_;
    if (const auto new_numbers = events_->take()) {
      numbers_->insert(numbers_->end(), new_numbers->begin(), new_numbers->end());
    } else {
      numbers_.reset();
    }
    return numbers_;
  }

 private:
  std::optional<XidEvents> events_;
  std::optional<std::vector<std::int64_t>> numbers_;
};

// The library must outlive the watches that use it.
struct WatchedDevice {
  WatchedDevice(Nvml opened, const std::string& bus_id)
      : nvml(std::move(opened)), xids(nvml, bus_id) {}
  Nvml nvml;
  XidWatch xids;
};

}  // namespace

ConditionWatch watch_by_nvml(std::span<const SearchStep> search, const std::string& bus_id,
                             HostClock clock) {
  auto opened = Nvml::open(search);
  if (!opened) return {{}, "NVML: " + opened.error().reason, std::move(clock)};
  const auto watched = std::make_shared<WatchedDevice>(*std::move(opened), bus_id);
  if (const auto first = watched->nvml.counters(bus_id); !first) {
    return {{}, "NVML: " + first.error().message(), std::move(clock)};
  }
  const auto read = [watched, bus_id, family = own_family()]() -> std::optional<DeviceConditions> {
    const auto counters = watched->nvml.counters(bus_id);
    if (!counters) return std::nullopt;
    DeviceConditions conditions = to_conditions(*counters, family);
    conditions.xid_errors = watched->xids.read();
    return conditions;
  };
  return {read, "", std::move(clock)};
}

DeviceState to_device_state(const NvmlReading& reading, std::int64_t process) {
  constexpr std::int64_t kMega = 1'000'000;
  DeviceState state;
  if (reading.sm_clock_mhz) state.sm_clock_hz = *reading.sm_clock_mhz * kMega;
  state.power_milliwatt = reading.power_milliwatt;
  state.used_bytes = reading.memory_used_bytes;
  if (!reading.processes) return state;
  const auto own = std::find_if(reading.processes->begin(), reading.processes->end(),
                                [&](const NvmlProcessMemory& row) { return row.pid == process; });
  if (own != reading.processes->end()) state.process_bytes = own->bytes;
  return state;
}

StateReaderMaker readings_by_nvml(std::vector<SearchStep> search,
                                  std::function<Result<std::string>()> bus_id) {
  return [search = std::move(search), bus_id = std::move(bus_id)]() -> Result<StateReader> {
    BENCH_ASSIGN_OR_RETURN(const std::string device, bus_id());
    auto opened = Nvml::open(search);
    if (!opened) return Error{opened.error().reason, "NVML", ""};
    const auto nvml = std::make_shared<const Nvml>(*std::move(opened));
    if (const auto first = nvml->reading(device); !first) {
      return Error{first.error().message(), "NVML", ""};
    }
    return StateReader([nvml, device, own = ::getpid()]() -> std::optional<DeviceState> {
      const auto reading = nvml->reading(device);
      if (!reading) return std::nullopt;
      return to_device_state(*reading, own);
    });
  };
}

}  // namespace bench::ops::cuda
