// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "harness/host/cuda_status.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

using Level = Finding::Level;
using FindingList = std::vector<Finding>;
using ops::cuda::Availability;
using ops::cuda::DeviceProperties;
using ops::cuda::NvmlProperties;
using ops::cuda::ProbeReport;

constexpr std::string_view kCasesSkipped = "cases with device: cuda are skipped";

void add_plugin(const CudaStatus& status, FindingList& findings) {
  if (!status.report) {
    // A missing plugin is not a problem. A plugin that gives no report is a problem.
    const Level level = status.plugin.empty() ? Level::note : Level::problem;
    findings.push_back(
        {level, "CUDA plugin", status.reason, std::string(kCasesSkipped), status.remedy});
    return;
  }
  // CMake separates architectures by semicolons. Spaces let a terminal wrap the list.
  std::string architectures = status.report->architectures;
  std::ranges::replace(architectures, ';', ' ');
  findings.push_back({Level::good, "CUDA plugin",
                      fmt::format("{}, interface {}, for {}, at {}", status.version,
                                  status.abi.value_or(0), architectures, status.plugin)});
}

Level to_level(Availability availability) {
  switch (availability) {
    case Availability::available:
      return Level::good;
    case Availability::no_driver:
    case Availability::no_device:
      return Level::note;
    case Availability::driver_too_old:
    case Availability::stub_driver:
    case Availability::driver_mismatch:
    case Availability::failed:
      break;
  }
  return Level::problem;
}

void add_driver(const ProbeReport& report, FindingList& findings) {
  const Level level = to_level(report.verdict.availability);
  if (level != Level::good) {
    findings.push_back({level, "NVIDIA driver", report.verdict.reason, std::string(kCasesSkipped),
                        report.verdict.remedy});
    return;
  }
  const std::string version =
      report.driver_version.empty() ? "unknown version" : report.driver_version;
  findings.push_back({level, "NVIDIA driver",
                      fmt::format("{}, CUDA {} (this build: {})", version,
                                  ops::cuda::format_cuda_version(report.answers.driver),
                                  ops::cuda::format_cuda_version(report.answers.runtime))});
}

// Returns "VALUE of LIMIT", both divided by `divisor`.
std::string format_of_limit(const std::optional<std::int64_t>& value,
                            const std::optional<std::int64_t>& limit, std::int64_t divisor) {
  const auto format_number = [&](const std::optional<std::int64_t>& number) {
    return number ? fmt::format("{}", *number / divisor) : std::string(kUnknown);
  };
  return fmt::format("{} of {}", format_number(value), format_number(limit));
}

std::string format_on_off(const std::optional<bool>& value) {
  if (!value) return std::string(kUnknown);
  return *value ? "on" : "off";
}

// Returns the reasons why the clocks are lowered, except idleness.
std::vector<std::string> list_throttle_reasons(const NvmlProperties& facts) {
  constexpr std::int64_t kIdle = 0x1;
  return ops::cuda::clock_reason_names(facts.clock_reasons.value_or(0) & ~kIdle);
}

void add_clocks(const std::string& subject, const NvmlProperties& facts, FindingList& findings) {
  constexpr std::int64_t kMilliwattsPerWatt = 1000;
  const auto celsius =
      facts.temperature_celsius ? fmt::format("{} C", *facts.temperature_celsius) : "n/a C";
  const auto state =
      facts.performance_state ? fmt::format("P{}", *facts.performance_state) : "P n/a";
  const std::string found = fmt::format(
      "SM clock {} MHz, memory clock {} MHz, {} W, {}, {}",
      format_of_limit(facts.sm_clock_mhz, facts.sm_clock_limit_mhz, 1),
      format_of_limit(facts.memory_clock_mhz, facts.memory_clock_limit_mhz, 1),
      format_of_limit(facts.power_milliwatt, facts.power_limit_milliwatt, kMilliwattsPerWatt),
      celsius, state);
  const std::vector<std::string> reasons = list_throttle_reasons(facts);
  if (reasons.empty()) {
    findings.push_back({Level::good, subject + " clocks", found});
    return;
  }
  findings.push_back({Level::note, subject + " clocks",
                      fmt::format("{}; throttled by {}", found, fmt::join(reasons, ", ")),
                      "times depend on heat and power; affected samples are discarded or marked",
                      "let the device cool down, and stop other work on it: see `nvidia-smi -q -d "
                      "PERFORMANCE`"});
}

// Adds which clocks can be locked, and how. NVML does not report whether a clock is locked.
void add_clock_locks(const DeviceProperties& device, const std::string& subject,
                     FindingList& findings) {
  const NvmlProperties& facts = *device.nvml;
  std::vector<std::string> locks;
  const auto add = [&](std::string_view clock, std::string_view option, std::string_view unlock,
                       const std::optional<std::int64_t>& limit) {
    if (!limit) return;
    locks.push_back(
        fmt::format("{} clock up to {} MHz: `sudo nvidia-smi -i {} {} MHZ`, unlocked by `{}`",
                    clock, *limit, device.index, option, unlock));
  };
  add("SM", "-lgc", "-rgc", facts.sm_clock_limit_mhz);
  add("memory", "-lmc", "-rmc", facts.memory_clock_limit_mhz);
  if (locks.empty()) return;
  findings.push_back({Level::good, subject + " clock locks",
                      fmt::format("for equal times; as root; {}", fmt::join(locks, "; "))});
}

void add_modes(const std::string& subject, const NvmlProperties& facts, FindingList& findings) {
  const std::string found = fmt::format("ECC {}, MIG {}, persistence {}", format_on_off(facts.ecc),
                                        format_on_off(facts.mig), format_on_off(facts.persistence));
  if (facts.persistence.value_or(true)) {
    findings.push_back({Level::good, subject + " modes", found});
  } else {
    findings.push_back({Level::note, subject + " modes", found,
                        "each process initialises the driver again: workers start slowly",
                        "sudo nvidia-smi -pm 1"});
  }
}

void add_device(const DeviceProperties& device, FindingList& findings) {
  const std::string subject = fmt::format("GPU {}", device.index);
  std::string found = fmt::format("{}, {}, {} multiprocessors, {}, L2 {}, at {}, {}", device.name,
                                  ops::cuda::format_capability(device), device.multiprocessors,
                                  format_bytes(Bytes{device.memory_bytes}),
                                  format_bytes(Bytes{device.l2_bytes}), device.bus_id, device.uuid);
  if (device.unusable.empty()) {
    findings.push_back({Level::good, subject, std::move(found)});
  } else {
    findings.push_back({Level::problem, subject, fmt::format("{}: {}", found, device.unusable),
                        "no case can run there",
                        "build with -DBENCH_CUDA_ARCHITECTURES for this device"});
  }
  if (device.nvml) {
    add_clocks(subject, *device.nvml, findings);
    add_clock_locks(device, subject, findings);
    add_modes(subject, *device.nvml, findings);
  } else if (!device.nvml_reason.empty()) {
    findings.push_back({Level::note, subject + " clocks", "unknown: " + device.nvml_reason,
                        std::string(ops::cuda::library_spec("NVML").consequence)});
  }
}

void add_counters(const SystemRoot& root, Privilege privilege, FindingList& findings) {
  const auto text = read_text(root, "/proc/driver/nvidia/params");
  const auto value = text ? find_labelled_value(*text, "RmProfilingAdminOnly") : std::nullopt;
  if (!value) return;
  if (*value == "0") {
    findings.push_back({Level::good, "GPU counters", "open to every user"});
  } else if (privilege == Privilege::administrator) {
    findings.push_back({Level::good, "GPU counters", "open to administrators, which this is"});
  } else {
    findings.push_back(
        {Level::note, "GPU counters", "only for administrators (RmProfilingAdminOnly)",
         "no counters pass; only the kernels' names show whether tensor cores were used",
         "load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0, or run with "
         "CAP_SYS_ADMIN"});
  }
}

}  // namespace

Privilege own_privilege() { return ::geteuid() == 0 ? Privilege::administrator : Privilege::user; }

std::vector<Finding> examine_cuda(const CudaStatus& status, const SystemRoot& root,
                                  Privilege privilege) {
  FindingList findings;
  add_plugin(status, findings);
  if (status.report) {
    const ProbeReport& report = *status.report;
    add_driver(report, findings);
    for (const DeviceProperties& device : report.devices) add_device(device, findings);
    const Level absence_level = report.devices.empty() ? Level::note : Level::problem;
    for (const ops::LibraryReport& library : report.libraries)
      findings.push_back(library_finding(library, absence_level));
  }
  add_counters(root, privilege, findings);
  return findings;
}

}  // namespace bench
