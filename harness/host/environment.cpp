// SPDX-License-Identifier: Apache-2.0
#include "harness/host/environment.hpp"

#include "base/available_memory.hpp"
#include "base/text.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace bench {
namespace {

// A property that is the content of a file with one line.
struct LineFact {
  std::string_view name;
  const char* path;
};
constexpr std::array<LineFact, 10> kLineFacts = {
    {{"aslr", "/proc/sys/kernel/randomize_va_space"},
     {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
     {"frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"},
     {"no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
     {"boost", "/sys/devices/system/cpu/cpufreq/boost"},
     {"smt", "/sys/devices/system/cpu/smt/active"},
     {"kernel", "/proc/sys/kernel/osrelease"},
     {"hostname", "/proc/sys/kernel/hostname"},
     {"boot_id", "/proc/sys/kernel/random/boot_id"},
     {"perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"}}};

template <class T>
void put(EnvironmentRecord& record, const std::string& name, const std::optional<T>& value) {
  if (value) record.details[name] = fmt::format("{}", *value);
}

// Records the highest and the current clock, as far as the system reports them.
void put_clocks(const SystemRoot& root, const std::string& cpuinfo, EnvironmentRecord& record) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cpufreq/";
  put(record, "clock.max_khz", read_integer(root, folder + "cpuinfo_max_freq"));
  put(record, "clock.now_khz", read_integer(root, folder + "scaling_cur_freq"));
  put(record, "clock.now_mhz", find_labelled_value(cpuinfo, "cpu MHz"));
}

}  // namespace

EnvironmentRecord read_environment(const SystemRoot& root, const CpuFacts& cpu) {
  EnvironmentRecord record;
  record.machine_class = machine_class(cpu);
  record.cpu = cpu.model;
  for (const LineFact& fact : kLineFacts) {
    put(record, std::string(fact.name), read_line(root, fact.path));
  }
  const std::string cpuinfo = read_text(root, "/proc/cpuinfo").value_or("");
  put_clocks(root, cpuinfo, record);
  put(record, "microcode", find_labelled_value(cpuinfo, "microcode"));
  if (const auto thp = read_text(root, "/sys/kernel/mm/transparent_hugepage/enabled")) {
    put(record, "transparent_hugepage", find_bracketed_word(*thp));
  }
  if (const auto load = read_text(root, "/proc/loadavg")) {
    record.details["load_1min"] = load->substr(0, load->find(' '));
  }
  if (const auto memory = available_memory(root.path)) {
    record.details["memory.available_bytes"] = std::to_string(memory->count);
  }
  const SchedulingFacts scheduling = read_scheduling(root);
  put(record, "process.nice", scheduling.nice);
  put(record, "process.scheduling", scheduling.policy);
  const BuildFacts build = build_facts();
  record.details["build.compiler"] = build.compiler;
  record.details["build.flags"] = build.flags;
  record.details["cpu.vendor"] = cpu.vendor;
  record.details["cpu.isa"] = fmt::format("{}", fmt::join(cpu.isa, " "));
  record.details["cpu.hypervisor"] = cpu.hypervisor ? "yes" : "no";
  record.details["cpu.processors"] = std::to_string(cpu.logical);
  put(record, "cpu.family", cpu.family);
  put(record, "cpu.model", cpu.model_number);
  put(record, "cpu.stepping", cpu.stepping);
  put(record, "cpu.cores", cpu.physical_cores);
  put(record, "cpu.sockets", cpu.sockets);
  put(record, "cpu.threads_per_core", cpu.threads_per_core);
  put(record, "cpu.numa_nodes", cpu.numa_nodes);
  for (const auto& [name, size] : cpu.caches) {
    record.details["cache." + name + "_bytes"] = std::to_string(size.count);
  }
  return record;
}

}  // namespace bench
