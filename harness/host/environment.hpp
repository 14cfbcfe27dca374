// SPDX-License-Identifier: Apache-2.0
// Reads properties of this machine for the run record and `doctor`. Omits properties that cannot be
// read.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "harness/result/record.hpp"
#include "ops/found_library.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The folder that contains /proc and /sys. Tests use a recorded folder.
struct SystemRoot {
  std::string path;  // "": the real root
};

// Properties of the processor. An optional is nullopt if the system does not report the value.
struct CpuFacts {
  std::string vendor, model;
  std::optional<int> family, model_number, stepping;
  // The instruction sets by which libraries select code: "avx2", "avx512f", "amx_tile" and others.
  std::vector<std::string> isa;
  int logical = 0;  // number of logical processors that this process may use (inherited mask)
  std::optional<int> physical_cores, sockets, threads_per_core, numa_nodes;
  std::map<std::string, Bytes> caches;  // size of one instance, by name: "L1d", "L2", "L3"
  std::optional<Bytes> last_level;      // total size of the last-level caches of these processors
  bool hypervisor = false;              // whether this is a virtual machine
};

CpuFacts read_cpu(const SystemRoot& root);
// Returns the machine class: machines of equal class have comparable times (docs/baselines.md). The
// class contains a hash of the properties of the processor and of build_facts().
// read_environment() records all of them.
std::string machine_class(const CpuFacts& cpu);
// What compiled this program: "gcc-12", and its options that may change the speed
// (cmake/BenchFlagsOfSpeed.cmake).
struct BuildFacts {
  std::string_view compiler, flags;
};
BuildFacts build_facts();
EnvironmentRecord read_environment(const SystemRoot& root, const CpuFacts& cpu);

// One line of `doctor`: what was found, its consequence, and a remedy.
struct Finding {
  BENCH_MEMBER_ENUM(Level, good, note, problem);
  Level level;
  std::string subject;           // "ASLR", "oneDNN", "governor"
  std::string found;             // the state that was found
  std::string consequence = {};  // may be empty
  std::string remedy = {};       // may be empty
};
// Returns the finding about a library. `absence`: its level if the library cannot be used.
Finding library_finding(const ops::LibraryReport& library, Finding::Level absence);
// Returns the findings about the processor, the system's settings and the environment variables.
std::vector<Finding> examine(const SystemRoot& root, const CpuFacts& cpu);
// Returns a sentence that lists the problems, or gives the number of notes if there are no
// problems.
std::string summarize_findings(const std::vector<Finding>& findings);

}  // namespace bench
