// SPDX-License-Identifier: Apache-2.0
// Facts about this machine for the run record and `doctor`. A fact that cannot be read is omitted,
// never invented.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The root from which facts are read: the real /proc and /sys, or a recorded folder in tests.
struct SystemRoot {
  std::string path;  // "" for the real one
};

struct CpuFacts {
  std::string vendor, model;
  std::optional<int> family, model_number, stepping;
  std::vector<std::string> isa;  // names relevant to dispatch: "avx2", "avx512f", "avx512_vnni",
                                 // "avx512_bf16", "amx_tile", ...
  int logical = 0;               // processors this process may use (inherited mask)
  std::optional<int> physical_cores, sockets, threads_per_core, numa_nodes;
  std::map<std::string, Bytes> caches;  // "L1d", "L2", "L3": size of one instance
  std::optional<Bytes> last_level;      // total over all last-level instances that the mask reaches
  bool hypervisor = false;
};

CpuFacts read_cpu(const SystemRoot& root);
// The identity of machines whose times can be compared (docs/baselines.md): ISA, vendor, family,
// model, stepping, name, cores, SMT, NUMA, caches, hypervisor, compiler and flags, schema.
std::string machine_class(const CpuFacts& cpu);
EnvironmentRecord read_environment(const SystemRoot& root, const CpuFacts& cpu);

// One line of `doctor`: the finding, its consequence, and a remedy if there is one.
struct Finding {
  enum class Level { good, note, problem };
  Level level;
  std::string subject;  // "ASLR", "oneDNN", "governor"
  std::string found;
  std::string consequence;  // may be empty
  std::string remedy;       // may be empty
};
std::vector<Finding> examine(const SystemRoot& root, const CpuFacts& cpu);
// Returns a sentence with the problems, or with the number of notes if there is no problem.
std::string summarize_findings(const std::vector<Finding>& findings);

}  // namespace bench
