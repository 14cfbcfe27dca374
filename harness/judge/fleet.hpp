// SPDX-License-Identifier: Apache-2.0
// Finds the slow machine, or the slow GPU, of a fleet on which the same suite was measured. Pure
// functions.
//
// Siblings are machines of one machine class, or GPUs with one name. A case on a machine has the
// time of its fastest process, as measured: disturbances make processes slower, not faster, and a
// time at equal speed of the machine would hide a slow machine. The logarithms of these times minus
// their interquartile mean over the siblings are the effects of a case; the interquartile mean of a
// machine's effects is its level. Outliers (harness/stats/outliers.hpp) of the levels are slow in
// general, outliers of the effects of one case are slow in this case.
// docs/decisions/0080 has the simulation behind the constants.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/change.hpp"
#include "harness/result/report.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Significance levels of the outliers among the levels, and among the effects of all cases
// together. With them, at most 1 of 1,000 simulated healthy fleets has a slow machine.
inline constexpr double kLevelAlpha = 3e-4;
inline constexpr double kCasesAlpha = 3e-4;
// A smaller slowdown never makes a machine slow: healthy machines may differ by so much.
inline constexpr double kMinSlowdown = 0.02;
// A fleet is judged if this slowdown of one machine would be found with this probability.
inline constexpr double kPromisedSlowdown = 0.05;
inline constexpr double kPromisedPower = 0.95;

// The time of a case on one machine.
struct MachineCase {
  std::vector<double> processes;         // nanoseconds per iteration, one per process; may be empty
  std::string reason;                    // why there is no time; empty if there is one
  std::string hash;                      // identifies what the case computes; may be empty
  std::optional<std::int64_t> clock_hz;  // clock of a device
};

// A node without its GPUs, or one GPU.
struct FleetMachine {
  std::string name;      // name of the node, or of the node and its GPU: "node7/GPU-3a4b5c6d"
  std::string siblings;  // machine class, or name of the GPU
  // Properties of the machine; of several runs, those of the last one.
  std::map<std::string, std::string> facts;
  std::string config;                  // the configuration that was measured; may be empty
  std::set<std::string> devices = {};  // names of the GPUs of a node that were measured
  std::string no_device = {};          // why the cases for a GPU found none; may be empty
  std::set<std::string> boots;         // which starts of the machine were measured, as far as known
  std::map<std::string, MachineCase> cases;  // by id
};

// Returns the name of the machine of a run: what BENCH_NODE or Slurm called the node, else the host
// name. nullopt if the record has neither.
std::optional<std::string> machine_name(const EnvironmentRecord& environment);

// The machines of several reports.
class Fleet {
 public:
  // Adds the cases of a report, whose runs must all be of one machine. A later report of a machine
  // replaces the cases that it has a time of. Returns an error without a machine's name.
  Status add(const Report& report, const std::string& file);
  // Adds a machine, or cases to a machine of this name.
  void add(FleetMachine machine);
  // By name.
  const std::map<std::string, FleetMachine>& machines() const { return machines_; }
  // All ids in the order of their first appearance.
  const std::vector<std::string>& cases() const { return ids_; }

 private:
  std::map<std::string, FleetMachine> machines_;
  std::vector<std::string> ids_;
  std::set<std::string> known_ids_;
};

// slow: in general, or in some cases only. failed: a case has no time here, but on most siblings.
// fast: an outlier in the other direction. not_judged: too few siblings or too much noise.
BENCH_ENUM(MachineVerdict, slow, (slow_in_cases, "slow in cases"), failed, fast, normal,
           (not_judged, "not judged"));

struct JudgedMachine {
  std::string name;
  MachineVerdict verdict = MachineVerdict::not_judged;
  std::optional<double> slowdown;               // level: 0.05 takes 5 % more time
  std::vector<std::optional<double>> effects;   // like `slowdown`, by case of the group
  std::vector<std::size_t> slow_cases;          // indices of cases; the slowest first
  std::map<std::size_t, std::string> failures;  // case that most siblings measured -> reason
  std::string no_device;        // why it has no GPU although most siblings have one; may be empty
  std::optional<double> clock;  // clock of its device, relative to the siblings' median
  std::vector<Change> differences;  // from most of its siblings
};

// Machines that are compared with each other.
struct SiblingGroup {
  std::string siblings;
  std::vector<std::string> cases;       // ids
  std::vector<JudgedMachine> machines;  // by verdict, the slowest first
  std::size_t compared = 0;             // machines with a level
  double spread = 0;                    // standard deviation of the levels of healthy machines
  std::optional<double> detectable;     // the slowdown that is found with kPromisedPower
  std::string not_judged_reason;        // empty if the group was judged
  bool is_judged() const { return not_judged_reason.empty(); }
  bool has_effects() const;  // whether any machine has an effect of a case
};

struct FleetVerdict {
  std::string config;                 // the configuration of the first machine; may be empty
  std::vector<SiblingGroup> groups;   // the largest first
  std::vector<std::string> warnings;  // about the records
  std::size_t count(MachineVerdict verdict) const;
  std::size_t machines() const;
  bool is_judged() const;  // whether each group was judged
};

FleetVerdict judge_fleet(const Fleet& fleet);

}  // namespace bench
