// SPDX-License-Identifier: Apache-2.0
#include "harness/host/environment.hpp"

#include "base/available_memory.hpp"
#include "harness/host/system_files.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Recorded on a virtual machine with 2 cores.
const SystemRoot kRecorded{BENCH_SOURCE_DIR "/harness/host/testdata/icelake_vm"};

// A folder with files of /proc and /sys that a test specifies.
class MadeRoot {
 public:
  MadeRoot() {
    std::string pattern = (std::filesystem::temp_directory_path() / "bench-root-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~MadeRoot() { std::filesystem::remove_all(path_); }
  MadeRoot(const MadeRoot&) = delete;
  MadeRoot& operator=(const MadeRoot&) = delete;
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = path_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  SystemRoot root() const { return {path_}; }

 private:
  std::string path_;
};

std::map<std::string, Finding> by_subject(const std::vector<Finding>& findings) {
  std::map<std::string, Finding> result;
  for (const Finding& finding : findings) result.emplace(finding.subject, finding);
  return result;
}

TEST(ReadCpu, ReadsARecordedMachine) {
  const CpuFacts cpu = read_cpu(kRecorded);
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_EQ(cpu.model, "Intel(R) Xeon(R) Processor @ 2.80GHz");
  EXPECT_EQ(cpu.family, 6);
  EXPECT_EQ(cpu.model_number, 106);
  EXPECT_EQ(cpu.stepping, 6);
  EXPECT_TRUE(cpu.hypervisor);
  EXPECT_EQ(cpu.logical, 2);
  EXPECT_EQ(cpu.physical_cores, 2);
  EXPECT_EQ(cpu.sockets, 1);
  EXPECT_EQ(cpu.threads_per_core, 1);
  EXPECT_EQ(cpu.numa_nodes, 1);
  EXPECT_EQ(cpu.caches.at("L1d").count, 48 << 10);
  EXPECT_EQ(cpu.caches.at("L2").count, 1280 << 10);
  EXPECT_EQ(cpu.caches.at("L3").count, 48 << 20);
  EXPECT_EQ(cpu.last_level->count, 48 << 20);
  EXPECT_THAT(cpu.isa, testing::IsSupersetOf({"avx2", "fma", "avx512f", "avx512_vnni"}));
  EXPECT_THAT(cpu.isa, testing::Not(testing::Contains("amx_tile")));
}

TEST(ReadCpu, CountsOnlyWhatTheMaskReaches) {
  MadeRoot made;
  made.write("/proc/self/status", "Cpus_allowed_list:\t0,4-5\n");
  for (int i = 0; i < 8; ++i) {
    const std::string cpu = "/sys/devices/system/cpu/cpu" + std::to_string(i);
    made.write(cpu + "/topology/thread_siblings_list",
               std::to_string(i % 4) + "," + std::to_string(i % 4 + 4));
    made.write(cpu + "/topology/physical_package_id", std::to_string(i % 2));
    made.write(cpu + "/cache/index0/level", "3");
    made.write(cpu + "/cache/index0/type", "Unified");
    made.write(cpu + "/cache/index0/size", "32M");
    made.write(cpu + "/cache/index0/shared_cpu_list", std::to_string(i % 2));
  }
  const CpuFacts cpu = read_cpu(made.root());
  EXPECT_EQ(cpu.logical, 3);
  EXPECT_EQ(cpu.physical_cores, 2);  // 0 and 4 are siblings
  EXPECT_EQ(cpu.threads_per_core, 2);
  EXPECT_EQ(cpu.sockets, 2);
  EXPECT_EQ(cpu.last_level->count, 64 << 20);  // two instances
}

TEST(ReadCpu, UnknownStaysAbsent) {
  MadeRoot made;
  const CpuFacts cpu = read_cpu(made.root());
  EXPECT_EQ(cpu.logical, 1);
  EXPECT_FALSE(cpu.family || cpu.physical_cores || cpu.numa_nodes || cpu.last_level);
  EXPECT_THAT(machine_class(cpu), testing::MatchesRegex("cpu-1c-[0-9a-f]{8}"));
}

TEST(MachineClass, IsReadableAndChangesWithWhatDecidesSpeed) {
  const CpuFacts cpu = read_cpu(kRecorded);
  const std::string name = machine_class(cpu);
  EXPECT_THAT(name, testing::MatchesRegex("icelake-server-2c-[0-9a-f]{8}"));
  EXPECT_EQ(machine_class(cpu), name);
  CpuFacts other = cpu;
  other.isa.push_back("amx_tile");
  EXPECT_NE(machine_class(other), name);
  other = cpu;
  other.caches["L3"] = {1};
  EXPECT_NE(machine_class(other), name);
  other = cpu;
  other.vendor = "AuthenticAMD";
  other.model = "AMD EPYC 7763 64-Core Processor";
  EXPECT_THAT(machine_class(other), testing::StartsWith("amd-epyc-7763-64-core-processor-2c-"));
}

TEST(ReadEnvironment, HoldsWhatIsThereAndNothingElse) {
  const EnvironmentRecord record = read_environment(kRecorded, read_cpu(kRecorded));
  EXPECT_EQ(record.cpu, "Intel(R) Xeon(R) Processor @ 2.80GHz");
  EXPECT_EQ(record.details.at("aslr"), "2");
  EXPECT_EQ(record.details.at("transparent_hugepage"), "madvise");
  EXPECT_EQ(record.details.at("cpu.hypervisor"), "yes");
  EXPECT_EQ(record.details.at("cache.L3_bytes"), "50331648");
  EXPECT_EQ(record.details.at("load_1min"), "0.05");
  EXPECT_FALSE(record.details.contains("governor"));
  EXPECT_FALSE(record.details.contains("boost"));
}

TEST(Examine, ARecordedVirtualMachine) {
  const auto findings = by_subject(examine(kRecorded, read_cpu(kRecorded)));
  EXPECT_EQ(findings.at("ASLR").level, Finding::Level::good);
  EXPECT_EQ(findings.at("load").level, Finding::Level::good);
  EXPECT_EQ(findings.at("governor").found, "not visible");
  EXPECT_EQ(findings.at("steal").level, Finding::Level::good);
  EXPECT_EQ(findings.at("virtual machine").level, Finding::Level::note);
  EXPECT_EQ(findings.at("memory").level, Finding::Level::good);
  EXPECT_FALSE(findings.contains("SMT"));
  EXPECT_FALSE(findings.contains("turbo"));
}

TEST(Examine, EveryNoiseSourceHasConsequenceAndRemedy) {
  MadeRoot made;
  const std::string cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq/";
  made.write("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : avx2 hypervisor\n");
  made.write("/proc/self/status", "Cpus_allowed_list:\t0\n");
  made.write("/sys/devices/system/cpu/online", "0-3\n");
  made.write("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,2\n");
  made.write(cpufreq + "scaling_governor", "powersave\n");
  made.write("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  made.write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  made.write("/proc/stat", "cpu  100 0 0 800 0 0 0 100 50 0\n");
  made.write("/proc/loadavg", "3.50 1 1 3/200 1\n");
  made.write("/proc/sys/kernel/perf_event_paranoid", "4\n");
  const std::string end(1, '\0');
  made.write("/proc/self/environ", "OMP_NUM_THREADS=8" + end + "HOME=/root" + end +
                                       "ONEDNN_VERBOSE=1" + end + "NVIDIA_TF32_OVERRIDE=0" + end);
  made.write("/.dockerenv", "");
  made.write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  const auto findings = by_subject(examine(made.root(), read_cpu(made.root())));
  for (const char* subject : {"processors", "SMT", "governor", "turbo", "transparent huge pages",
                              "steal", "load", "perf_event_paranoid", "CPU quota",
                              "OMP_NUM_THREADS", "ONEDNN_VERBOSE", "NVIDIA_TF32_OVERRIDE"}) {
    ASSERT_TRUE(findings.contains(subject)) << subject;
    EXPECT_NE(findings.at(subject).level, Finding::Level::good) << subject;
    EXPECT_NE(findings.at(subject).consequence, "") << subject;
    EXPECT_NE(findings.at(subject).remedy, "") << subject;
  }
  EXPECT_EQ(findings.at("steal").found, "10.00 % of the time since boot");
  EXPECT_EQ(findings.at("processors").found, "1 of 4 may be used");
  EXPECT_EQ(findings.at("OMP_NUM_THREADS").found, "8");
  EXPECT_TRUE(findings.contains("container"));
  EXPECT_FALSE(findings.contains("HOME"));
}

// The fields of /proc/self/stat from the third on, of a process whose name contains blanks.
std::string stat_of_process(int nice, int policy) {
  std::string text = "4711 (a ) b) S";
  for (int field = 4; field <= 52; ++field)
    text += fmt::format(" {}", field == 19 ? nice : field == 41 ? policy : 0);
  return text + "\n";
}

TEST(Examine, AnInheritedPriorityPolicyOrLimitIsStated) {
  MadeRoot made;
  made.write("/proc/self/stat", stat_of_process(10, 5));
  made.write("/proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max cpu time              60                   60                   seconds   \n"
             "Max file size             unlimited            unlimited            bytes     \n"
             "Max stack size            65536                65536                bytes     \n");
  const CpuFacts cpu = read_cpu(made.root());
  const auto findings = by_subject(examine(made.root(), cpu));
  EXPECT_EQ(findings.at("priority").found, "nice 10");
  EXPECT_EQ(findings.at("priority").level, Finding::Level::problem);
  EXPECT_EQ(findings.at("scheduling").found, "idle");
  EXPECT_EQ(findings.at("limit of stack size").found, "65536 bytes");
  EXPECT_EQ(findings.at("limit of cpu time").found, "60 seconds");
  EXPECT_FALSE(findings.contains("limit of file size"));
  const EnvironmentRecord record = read_environment(made.root(), cpu);
  EXPECT_EQ(record.details.at("process.nice"), "10");
  EXPECT_EQ(record.details.at("process.scheduling"), "idle");
}

TEST(Examine, TheUsualPriorityPolicyAndLimitsAreNotListed) {
  MadeRoot made;
  made.write("/proc/self/stat", stat_of_process(0, 0));
  made.write("/proc/self/limits",
             "Max cpu time              unlimited            unlimited            seconds   \n"
             "Max stack size            8388608              unlimited            bytes     \n");
  const auto findings = by_subject(examine(made.root(), read_cpu(made.root())));
  for (const char* subject : {"priority", "scheduling", "limit of stack size", "limit of cpu time"})
    EXPECT_FALSE(findings.contains(subject)) << subject;
}

TEST(Examine, ALoadOfProgramsThatHaveEndedIsNoProblem) {
  MadeRoot made;
  made.write("/proc/loadavg", "3.50 1.20 0.80 1/200 4711\n");
  const CpuFacts cpu = read_cpu(made.root());
  const auto ended = by_subject(examine(made.root(), cpu));
  EXPECT_EQ(ended.at("load").level, Finding::Level::note);
  EXPECT_EQ(ended.at("load").found, "3.50 over the last minute");
  EXPECT_EQ(ended.at("load").consequence,
            "other programs ran within the last minutes; at this moment none runs");
  made.write("/proc/loadavg", "3.50 1.20 0.80 2/200 4711\n");
  EXPECT_EQ(by_subject(examine(made.root(), cpu)).at("load").level, Finding::Level::problem);
}

TEST(Examine, TheSummaryNamesTheProblems) {
  const Finding good{Finding::Level::good, "ASLR", "on", "", ""};
  const Finding note{Finding::Level::note, "governor", "not visible", "", ""};
  const Finding load{Finding::Level::problem, "load", "3.50", "", ""};
  const Finding steal{Finding::Level::problem, "steal", "10 %", "", ""};
  EXPECT_EQ(summarize_findings({good, note}),
            "No problem was found; 1 note says what is missing or hidden here.");
  EXPECT_EQ(summarize_findings({good}), "No problem was found.");
  EXPECT_EQ(summarize_findings({note, load}), "1 problem should be solved first: load.");
  EXPECT_EQ(summarize_findings({load, good, steal}),
            "2 problems should be solved first: load, steal.");
}

TEST(AvailableMemory, TheSmallerOfMachineAndControlGroup) {
  MadeRoot made;
  EXPECT_FALSE(available_memory(made.root().path));
  made.write("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   50 kB\n");
  EXPECT_EQ(available_memory(made.root().path)->count, 50 * 1024);
  made.write("/sys/fs/cgroup/memory.max", "max\n");
  made.write("/sys/fs/cgroup/memory.current", "10\n");
  EXPECT_EQ(available_memory(made.root().path)->count, 50 * 1024);
  made.write("/sys/fs/cgroup/memory.max", "30000\n");
  EXPECT_EQ(available_memory(made.root().path)->count, 29990);
}

TEST(SystemFiles, Parsers) {
  EXPECT_THAT(parse_range_list("0-2,7\n"), ElementsAre(0, 1, 2, 7));
  EXPECT_THAT(parse_range_list("1,x,3"), ElementsAre(1));
  EXPECT_TRUE(parse_range_list("").empty());
  EXPECT_EQ(parse_cache_size("48K"), 48 << 10);
  EXPECT_EQ(parse_cache_size("2M\n"), 2 << 20);
  EXPECT_EQ(parse_cache_size("17"), 17);
  EXPECT_FALSE(parse_cache_size("K"));
  EXPECT_EQ(find_bracketed_word("always [madvise] never"), "madvise");
  EXPECT_FALSE(find_bracketed_word("always"));
  EXPECT_EQ(find_labelled_value("a : 1\nmodel name\t: x y \n", "model name"), "x y");
  EXPECT_FALSE(find_labelled_value("a : 1\n", "b"));
}

}  // namespace
}  // namespace bench
