// SPDX-License-Identifier: Apache-2.0
// examine() of environment.hpp: one function per subject, one row each in kSubjects.
#include "base/available_memory.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using Level = Finding::Level;
using FindingList = std::vector<Finding>;

// Fraction of the time since boot taken by other guests, above which measurements visibly suffer.
constexpr double kStealShare = 0.005;
// Runnable tasks per processor, over the last minute, that still permit a measurement.
constexpr double kQuietLoad = 0.2;
// An arena of 1 GiB takes half of this available memory.
constexpr Bytes kComfortableMemory{std::int64_t{2} << 30};
// Up to this value an unprivileged process may count its own events.
constexpr std::int64_t kOwnEventsParanoia = 2;

void add(FindingList& findings, Level level, std::string subject, std::string found,
         std::string consequence = "", std::string remedy = "") {
  findings.push_back(
      {level, std::move(subject), std::move(found), std::move(consequence), std::move(remedy)});
}

void examine_cpu(const SystemRoot&, const CpuFacts& cpu, FindingList& findings) {
  const std::string cores =
      cpu.physical_cores ? fmt::format(" on {} cores", *cpu.physical_cores) : "";
  add(findings, Level::good, "CPU",
      fmt::format("{}, {} processors{}", cpu.model.empty() ? "unknown model" : cpu.model,
                  cpu.logical, cores));
  add(findings, Level::good, "instruction sets",
      cpu.isa.empty() ? std::string(kUnknown) : fmt::format("{}", fmt::join(cpu.isa, " ")));
}

void examine_mask(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  const auto online = read_text(root, "/sys/devices/system/cpu/online");
  if (!online) return;
  const auto all = parse_list(*online).size();
  if (static_cast<std::size_t>(cpu.logical) >= all) return;
  add(findings, Level::note, "processors", fmt::format("{} of {} may be used", cpu.logical, all),
      "`threads: all` means these; results differ in machine class from those of all processors",
      "start without taskset, numactl or a cpuset");
}

void examine_smt(const SystemRoot&, const CpuFacts& cpu, FindingList& findings) {
  if (cpu.threads_per_core.value_or(1) < 2) return;
  add(findings, Level::note, "SMT", fmt::format("{} threads per core", *cpu.threads_per_core),
      "two threads share a core's units: times spread more and depend on the neighbour",
      "set `threads:` to the number of cores, or switch SMT off: "
      "echo off | sudo tee /sys/devices/system/cpu/smt/control");
}

void examine_governor(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  const auto governor = read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor) {
    add(findings, Level::note, "governor", "not visible",
        cpu.hypervisor ? "the host decides about clocks" : "clocks cannot be judged");
  } else if (*governor == "performance") {
    add(findings, Level::good, "governor", *governor);
  } else {
    add(findings, Level::problem, "governor", *governor,
        "the clock rises only under load: short cases look slower than they are",
        "sudo cpupower frequency-set --governor performance");
  }
}

void examine_turbo(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const auto no_turbo = read_integer(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
  const auto boost = read_integer(root, "/sys/devices/system/cpu/cpufreq/boost");
  if (!no_turbo && !boost) return;
  const bool on = no_turbo ? *no_turbo == 0 : *boost != 0;
  if (!on) {
    add(findings, Level::good, "turbo", "off");
    return;
  }
  add(findings, Level::note, "turbo", "on",
      "the clock depends on temperature and on how many cores work: runs differ by some percent",
      no_turbo ? "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
               : "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
}

void examine_aslr(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const auto value = read_integer(root, "/proc/sys/kernel/randomize_va_space");
  if (!value) return;
  if (*value == 0) {
    add(findings, Level::good, "ASLR", "off");
  } else {
    add(findings, Level::good, "ASLR",
        "on; workers get fixed addresses, and results have `addresses: drawn` where the "
        "system refuses that");
  }
}

void examine_huge_pages(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const auto text = read_text(root, "/sys/kernel/mm/transparent_hugepage/enabled");
  const auto mode = text ? bracketed(*text) : std::nullopt;
  if (!mode) return;
  if (*mode == "always") {
    add(findings, Level::note, "transparent huge pages", *mode,
        "large buffers get huge pages when the kernel has some: processes may differ",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled");
  } else {
    add(findings, Level::good, "transparent huge pages", *mode);
  }
}

// Returns the eighth number of the line "cpu" of /proc/stat as a fraction of their sum.
std::optional<double> steal_share(const SystemRoot& root) {
  const auto text = read_text(root, "/proc/stat");
  if (!text || !text->starts_with("cpu ")) return std::nullopt;
  std::istringstream line(text->substr(4, text->find('\n') - 4));
  std::vector<std::int64_t> ticks;
  for (std::int64_t value = 0; line >> value;) ticks.push_back(value);
  constexpr std::size_t kSteal = 7;
  if (ticks.size() <= kSteal) return std::nullopt;
  // The numbers after steal are guest time, which user time already includes.
  const auto total = std::accumulate(ticks.begin(), ticks.begin() + kSteal + 1, std::int64_t{0});
  if (total == 0) return std::nullopt;
  return static_cast<double>(ticks[kSteal]) / static_cast<double>(total);
}

void examine_steal(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  const auto share = steal_share(root);
  if (!share || !cpu.hypervisor) return;
  const std::string found = fmt::format("{:.2f} % of the time since boot", *share * 100);
  if (*share < kStealShare) {
    add(findings, Level::good, "steal", found);
  } else {
    add(findings, Level::problem, "steal", found,
        "other guests take this machine's processors: times have a long tail",
        "use dedicated processors, or more processes per case");
  }
}

// The number of threads of the whole system that run or wait for a processor, this one included:
// the fourth field of /proc/loadavg, "2/345".
std::optional<std::int64_t> running_threads(std::string_view loadavg) {
  const std::size_t slash = loadavg.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::size_t blank = loadavg.find_last_of(' ', slash);
  return parse_number<std::int64_t>(loadavg.substr(blank + 1, slash - blank - 1));
}

void examine_load(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  const auto text = read_text(root, "/proc/loadavg");
  if (!text) return;
  const std::string field = text->substr(0, text->find(' '));
  double load = 0;
  if (std::from_chars(field.data(), field.data() + field.size(), load).ec != std::errc()) return;
  const std::string found = fmt::format("{} over the last minute", field);
  if (load <= kQuietLoad * std::max(cpu.logical, 1)) {
    add(findings, Level::good, "load", found);
  } else if (running_threads(*text) == 1) {
    add(findings, Level::note, "load", found,
        "other programs ran within the last minutes; at this moment none runs", "");
  } else {
    add(findings, Level::problem, "load", found,
        "other programs compete for processors, caches and memory", "stop them: see top");
  }
}

void examine_paranoia(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const auto value = read_integer(root, "/proc/sys/kernel/perf_event_paranoid");
  if (!value) return;
  const std::string found = std::to_string(*value);
  if (*value <= kOwnEventsParanoia) {
    add(findings, Level::good, "perf_event_paranoid", found);
  } else {
    add(findings, Level::note, "perf_event_paranoid", found,
        "hardware counters are closed to unprivileged programs",
        "sudo sysctl kernel.perf_event_paranoid=2");
  }
}

void examine_memory(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const auto available = available_memory(root.path);
  if (!available) return;
  const std::string found = format_bytes(*available) + " available";
  if (*available >= kComfortableMemory) {
    add(findings, Level::good, "memory", found);
  } else {
    add(findings, Level::note, "memory", found,
        "cold caches rotate over at most half of it; large cases are skipped");
  }
}

void examine_isolation(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  if (cpu.hypervisor) {
    add(findings, Level::note, "virtual machine", "yes",
        "the host may move and share processors unseen; counters may be missing");
  }
  for (const char* mark : {"/.dockerenv", "/run/.containerenv"}) {
    if (!read_line(root, mark) && !std::ifstream(root.path + mark)) continue;
    add(findings, Level::note, "container", fmt::format("yes ({})", mark),
        "the container limits processors and memory; some settings belong to the host");
    break;
  }
  const auto quota = read_line(root, "/sys/fs/cgroup/cpu.max");
  if (quota && !quota->starts_with("max")) {
    add(findings, Level::problem, "CPU quota", *quota,
        "the scheduler stops the whole group for the rest of each period once it is used up",
        "assign whole processors (cpuset) instead of a quota");
  }
}

struct Variable {
  std::string_view prefix;
  std::string_view consequence;
  std::string_view remedy;
};
constexpr std::array<Variable, 11> kVariables = {
    {{"OMP_", "not passed to workers: bench sets threads and pinning itself", "use `threads:`"},
     {"GOMP_", "not passed to workers: bench sets spinning and pinning itself", "use `threads:`"},
     {"KMP_", "not passed to workers: bench sets threads and pinning itself", "use `threads:`"},
     {"ONEDNN_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"DNNL_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"NVIDIA_TF32_OVERRIDE", "passed to workers: disables or enables TF32 in every library",
      "unset it, and choose with `math:`"},
     {"CUBLAS_", "passed to workers: changes what the library does",
      "unset it for comparable results"},
     {"CUDNN_", "passed to workers: changes what the library does",
      "unset it for comparable results"},
     {"CUDA_LAUNCH_BLOCKING", "passed to workers: each launch waits for its kernel", "unset it"},
     {"CUDA_INJECTION64_PATH",
      "passed to workers: a tool is attached during timing, and "
      "traces of this program contain no GPU activities",
      "unset it"},
     {"NVTX_INJECTION64_PATH", "passed to workers: a tool receives every range", "unset it"}}};

// Read from /proc/self/environ, because a recorded folder can also contain it.
void examine_variables(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const std::string text = read_text(root, "/proc/self/environ").value_or("");
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    for (const Variable& variable : kVariables) {
      if (!entry.starts_with(variable.prefix)) continue;
      const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
      add(findings, Level::note, entry.substr(0, equals), entry.substr(equals + 1),
          std::string(variable.consequence), std::string(variable.remedy));
    }
  }
}

using Examine = void (*)(const SystemRoot&, const CpuFacts&, FindingList&);
constexpr std::array<Examine, 13> kSubjects = {
    examine_cpu,    examine_mask,       examine_smt,      examine_governor, examine_turbo,
    examine_aslr,   examine_huge_pages, examine_steal,    examine_load,     examine_paranoia,
    examine_memory, examine_isolation,  examine_variables};

}  // namespace

std::vector<Finding> examine(const SystemRoot& root, const CpuFacts& cpu) {
  FindingList findings;
  for (const Examine subject : kSubjects) subject(root, cpu, findings);
  return findings;
}

std::string summarize_findings(const std::vector<Finding>& findings) {
  std::vector<std::string_view> problems;
  for (const Finding& finding : findings) {
    if (finding.level == Level::problem) problems.push_back(finding.subject);
  }
  if (problems.empty()) {
    const auto notes = std::ranges::count(findings, Level::note, &Finding::level);
    if (notes == 0) return "No problem was found.";
    return fmt::format("No problem was found; {} {} what is missing or hidden here.", notes,
                       notes == 1 ? "note says" : "notes say");
  }
  return fmt::format("{} {} be solved first: {}.", problems.size(),
                     problems.size() == 1 ? "problem should" : "problems should",
                     fmt::join(problems, ", "));
}

}  // namespace bench
