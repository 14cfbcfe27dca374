// SPDX-License-Identifier: Apache-2.0
// Implements examine() of environment.hpp: one function per subject. kSubjects lists the functions.
#include "base/available_memory.hpp"
#include "base/text.hpp"
#include "harness/host/environment.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using Level = Finding::Level;
using FindingList = std::vector<Finding>;

// Maximum fraction of the time since boot that other guests may take. Above it, measurements
// visibly suffer.
constexpr double kMaxStealFraction = 0.005;
// Maximum number of runnable tasks per processor, over the last minute, for a good measurement.
constexpr double kMaxQuietLoad = 0.2;
// Available memory that is sufficient: an arena for cold caches of 1 GiB takes half of it.
constexpr Bytes kSufficientMemory{std::int64_t{2} << 30};
// Maximum perf_event_paranoid at which an unprivileged process may count its own events.
constexpr std::int64_t kMaxParanoia = 2;

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
  const auto total = parse_range_list(*online).size();
  if (static_cast<std::size_t>(cpu.logical) >= total) return;
  add(findings, Level::note, "processors", fmt::format("{} of {} may be used", cpu.logical, total),
      "`threads: all` means these; results differ in machine class from those of all processors",
      "start without taskset, numactl or a cpuset");
}

void examine_smt(const SystemRoot&, const CpuFacts& cpu, FindingList& findings) {
  if (cpu.threads_per_core.value_or(1) < 2) return;
  add(findings, Level::note, "SMT", pluralise(*cpu.threads_per_core, "thread") + " per core",
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
  const bool is_on = no_turbo ? *no_turbo == 0 : *boost != 0;
  if (!is_on) {
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
  const auto mode = text ? find_bracketed_word(*text) : std::nullopt;
  if (!mode) return;
  if (*mode == "always") {
    add(findings, Level::note, "transparent huge pages", *mode,
        "large buffers get huge pages when the kernel has some: processes may differ",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled");
  } else {
    add(findings, Level::good, "transparent huge pages", *mode);
  }
}

// Returns the steal time as a fraction of the time of all processors since boot. The steal time is
// the eighth number in the line "cpu" of /proc/stat.
std::optional<double> read_steal_fraction(const SystemRoot& root) {
  const auto text = read_text(root, "/proc/stat");
  if (!text || !text->starts_with("cpu ")) return std::nullopt;
  std::istringstream line(text->substr(4, text->find('\n') - 4));
  std::vector<std::int64_t> ticks;
  for (std::int64_t value = 0; line >> value;) ticks.push_back(value);
  constexpr std::size_t kStealIndex = 7;
  if (ticks.size() <= kStealIndex) return std::nullopt;
  // The numbers after the steal time are guest times, which user time and nice time include.
  const auto total =
      std::accumulate(ticks.begin(), ticks.begin() + kStealIndex + 1, std::int64_t{0});
  if (total == 0) return std::nullopt;
  return static_cast<double>(ticks[kStealIndex]) / static_cast<double>(total);
}

void examine_steal(const SystemRoot& root, const CpuFacts& cpu, FindingList& findings) {
  const auto fraction = read_steal_fraction(root);
  if (!fraction || !cpu.hypervisor) return;
  const std::string found = fmt::format("{:.2f} % of the time since boot", *fraction * 100);
  if (*fraction < kMaxStealFraction) {
    add(findings, Level::good, "steal", found);
  } else {
    add(findings, Level::problem, "steal", found,
        "other guests take this machine's processors: times have a long tail",
        "use dedicated processors, or more processes per case");
  }
}

// Returns the number of threads of the whole system, including this one, that run or wait for a
// processor. It is the first number of the fourth field of /proc/loadavg, such as "2/345".
std::optional<std::int64_t> parse_running_threads(std::string_view loadavg) {
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
  if (load <= kMaxQuietLoad * std::max(cpu.logical, 1)) {
    add(findings, Level::good, "load", found);
  } else if (parse_running_threads(*text) == 1) {
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
  if (*value <= kMaxParanoia) {
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
  if (*available >= kSufficientMemory) {
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
  for (const char* path : {"/.dockerenv", "/run/.containerenv"}) {
    if (!read_line(root, path) && !std::ifstream(root.path + path)) continue;
    add(findings, Level::note, "container", fmt::format("yes ({})", path),
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

// A program inherits its priority, its scheduling policy and its limits. Only findings that matter
// are listed, since the defaults are the same everywhere.
void examine_priority(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const SchedulingFacts facts = read_scheduling(root);
  if (facts.nice.value_or(0) != 0) {
    const bool is_lower = *facts.nice > 0;
    add(findings, is_lower ? Level::problem : Level::note, "priority",
        fmt::format("nice {}", *facts.nice),
        is_lower ? "workers wait for every program of normal priority: times have a long tail"
                 : "workers displace other programs: times differ from those of normal priority",
        "start without nice");
  }
  if (facts.policy.value_or("other") != "other") {
    add(findings, Level::problem, "scheduling", *facts.policy,
        "workers inherit this policy: times differ from those of the usual one",
        "start without chrt, or with: chrt --other 0");
  }
}

// A resource limit of /proc/self/limits below which something fails.
struct LimitRow {
  std::string_view name;
  std::int64_t sufficient;
  std::string_view unit;
  std::string_view consequence;
  std::string_view remedy;
};
constexpr std::int64_t kAnyLimit = std::numeric_limits<std::int64_t>::max();
constexpr std::array<LimitRow, 5> kLimits = {
    {{"Max stack size", std::int64_t{1} << 20, "bytes",
      "libraries may overflow the stack of a worker: cases crash with SIGSEGV", "ulimit -s 8192"},
     {"Max cpu time", kAnyLimit, "seconds", "the kernel ends a worker or this program after it",
      "start without `ulimit -t`"},
     {"Max address space", kAnyLimit, "bytes", "large cases and the CUDA driver find no memory",
      "start without `ulimit -v`"},
     {"Max data size", kAnyLimit, "bytes", "large cases find no memory",
      "start without `ulimit -d`"},
     {"Max file size", kAnyLimit, "bytes", "result files and profiles may become too large",
      "start without `ulimit -f`"}}};

void examine_limits(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const std::string text = read_text(root, "/proc/self/limits").value_or("");
  for (const LimitRow& row : kLimits) {
    const std::size_t begin = text.find(row.name);
    if (begin == std::string::npos) continue;
    const std::size_t value = text.find_first_not_of(' ', begin + row.name.size());
    if (value == std::string::npos) continue;
    const auto limit = parse_integer(std::string_view(text).substr(value));  // not "unlimited"
    if (!limit || *limit >= row.sufficient) continue;
    add(findings, Level::note, fmt::format("limit of {}", row.name.substr(sizeof "Max")),
        fmt::format("{} {}", *limit, row.unit), std::string(row.consequence),
        std::string(row.remedy));
  }
}

constexpr std::string_view kSilent =
    "not passed to workers: printing each execution takes longer than a short one";
constexpr std::string_view kAskForReasons = "see `bench explain` and `bench run --profile`";
constexpr std::string_view kAllCode =
    "passed to workers and recorded: other code runs in each worker";
constexpr std::string_view kAllocator =
    "passed to workers and recorded: changes how memory is allocated";

// Environment variables with a prefix, and what they do to a run.
struct VariableRow {
  std::string_view prefix;
  std::string_view consequence;
  std::string_view remedy;
};
// The first row with a variable's prefix applies to it.
constexpr std::array<VariableRow, 18> kVariables = {
    {{"OMP_", "not passed to workers: bench sets threads and pinning itself", "use `threads:`"},
     {"GOMP_", "not passed to workers: bench sets spinning and pinning itself", "use `threads:`"},
     {"KMP_", "not passed to workers: bench sets threads and pinning itself", "use `threads:`"},
     {"ONEDNN_VERBOSE", kSilent, kAskForReasons},
     {"DNNL_VERBOSE", kSilent, kAskForReasons},
     {"MKLDNN_VERBOSE", kSilent, kAskForReasons},
     {"LD_PRELOAD", kAllCode, "unset it for comparable results"},
     {"LD_AUDIT", kAllCode, "unset it for comparable results"},
     {"MALLOC_", kAllocator, "unset it for comparable results"},
     {"GLIBC_TUNABLES", kAllocator, "unset it for comparable results"},
     {"ONEDNN_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"DNNL_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"NVIDIA_TF32_OVERRIDE",
      "passed to workers and recorded: disables or enables TF32 in every library",
      "unset it, and choose with `math:`"},
     {"CUBLAS_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"CUDNN_", "passed to workers and recorded: changes what the library does",
      "unset it for comparable results"},
     {"CUDA_LAUNCH_BLOCKING", "passed to workers and recorded: each launch waits for its kernel",
      "unset it"},
     {"CUDA_INJECTION64_PATH",
      "passed to workers and recorded: a tool is attached during timing, and "
      "traces of this program contain no GPU activities",
      "unset it"},
     {"NVTX_INJECTION64_PATH", "passed to workers: a tool receives every range", "unset it"}}};

// Reads the variables from /proc/self/environ, which a recorded folder can contain.
void examine_variables(const SystemRoot& root, const CpuFacts&, FindingList& findings) {
  const std::string text = read_text(root, "/proc/self/environ").value_or("");
  std::istringstream entries(text);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    for (const VariableRow& variable : kVariables) {
      if (!entry.starts_with(variable.prefix)) continue;
      const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
      add(findings, Level::note, entry.substr(0, equals), entry.substr(equals + 1),
          std::string(variable.consequence), std::string(variable.remedy));
      break;
    }
  }
}

using SubjectFunction = void (*)(const SystemRoot&, const CpuFacts&, FindingList&);
constexpr std::array<SubjectFunction, 15> kSubjects = {
    examine_cpu,    examine_mask,       examine_smt,      examine_governor, examine_turbo,
    examine_aslr,   examine_huge_pages, examine_steal,    examine_load,     examine_paranoia,
    examine_memory, examine_isolation,  examine_priority, examine_limits,   examine_variables};

}  // namespace

std::vector<Finding> examine(const SystemRoot& root, const CpuFacts& cpu) {
  FindingList findings;
  for (const SubjectFunction examine_subject : kSubjects) examine_subject(root, cpu, findings);
  return findings;
}

Finding library_finding(const ops::LibraryReport& library, Finding::Level absence) {
  if (library.usable()) {
    return {Finding::Level::good, library.name,
            fmt::format("{} at {} ({})", library.version, library.path, library.origin)};
  }
  std::string found = library.reason;
  if (!library.path.empty()) found += " at " + library.path;
  if (!library.tried.empty()) found += fmt::format(" (tried: {})", fmt::join(library.tried, "; "));
  return {absence, library.name, std::move(found), library.consequence, library.remedy};
}

std::string summarize_findings(const std::vector<Finding>& findings) {
  std::vector<std::string_view> problems;
  for (const Finding& finding : findings) {
    if (finding.level == Level::problem) problems.push_back(finding.subject);
  }
  if (problems.empty()) {
    const auto notes = std::ranges::count(findings, Level::note, &Finding::level);
    if (notes == 0) return "No problem was found.";
    return fmt::format("No problem was found; {} what is missing or hidden here.",
                       pluralise(notes, "note says", "notes say"));
  }
  return fmt::format("{} be solved first: {}.",
                     pluralise(problems.size(), "problem should", "problems should"),
                     fmt::join(problems, ", "));
}

}  // namespace bench
