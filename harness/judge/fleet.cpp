// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/fleet.hpp"

#include "base/text.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/speed.hpp"
#include "harness/stats/outliers.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bench {
namespace {

// Facts by which each machine differs from its siblings.
constexpr std::array<std::string_view, 6> kOwnFacts = {"boot_id",  "hostname", "node",
                                                       "gpu.uuid", "run_id",   "started"};
// A level needs times of this part of the cases that are compared.
constexpr double kMinMeasuredPart = 0.5;

std::string find_detail(const EnvironmentRecord& environment, const std::string& name) {
  const auto found = environment.details.find(name);
  return found == environment.details.end() ? "" : found->second;
}

bool is_device_case(const CaseRecord& record) {
  const std::string device = record.device.empty() ? split_id(record.id).device : record.device;
  return !device.empty() && device != "cpu";
}

FleetMachine describe_node(const RunRecord& run, const std::string& node) {
  const EnvironmentRecord& environment = run.environment;
  FleetMachine machine;
  machine.name = node;
  machine.siblings = environment.machine_class;
  machine.facts = environment_facts(environment);
  machine.config = run.config_files.empty() ? run.config_name : run.config_files.front();
  if (std::string boot = find_detail(environment, "boot_id"); !boot.empty())
    machine.boots.insert(std::move(boot));
  return machine;
}

// Makes the GPU of a run from its node.
FleetMachine describe_device(FleetMachine node, const EnvironmentRecord& environment) {
  constexpr std::size_t kShownUuid = 12;  // "GPU-" and 8 digits
  const std::string uuid = find_detail(environment, "gpu.uuid");
  node.name += "/" + (uuid.empty() ? "GPU" : uuid.substr(0, kShownUuid));
  node.siblings = find_detail(environment, "gpu.name");
  return node;
}

MachineCase read_case(const CaseRecord& record, const CountedProcesses& counted) {
  MachineCase read{{},
                   record.reason.value_or(std::string(to_string(record.outcome))),
                   record.case_hash,
                   record.clock_hz};
  if (record.outcome != Outcome::ok) return read;
  for (const CountedSamples& process : all_samples(counted.of(record))) {
    const auto summary = summarise(process);
    if (!summary || summary->median.count() <= 0) continue;
    read.processes.push_back(per_iteration(summary->median, *summary));
  }
  read.reason = read.processes.empty() ? "The record has no samples." : "";
  return read;
}

}  // namespace

std::optional<std::string> machine_name(const EnvironmentRecord& environment) {
  for (const char* detail : {"node", "hostname"}) {
    if (std::string name = find_detail(environment, detail); !name.empty()) return name;
  }
  return std::nullopt;
}

void Fleet::add(FleetMachine machine) {
  FleetMachine& known = machines_[machine.name];
  machine.devices.merge(known.devices);
  machine.boots.merge(known.boots);
  for (auto& [id, entry] : machine.cases) {
    if (known_ids_.insert(id).second) ids_.push_back(id);
    MachineCase& earlier = known.cases[id];
    if (earlier.processes.empty() || !entry.processes.empty()) earlier = std::move(entry);
  }
  machine.cases = std::move(known.cases);
  known = std::move(machine);
}

Status Fleet::add(const Report& report, const std::string& file) {
  std::map<std::string, const RunRecord*> runs;
  for (const RunRecord& run : report.runs) runs[run.run_id] = &run;
  const CountedProcesses counted(report);
  for (const CaseRecord& record : report.cases) {
    const auto run = runs.find(record.run_id);
    const auto name = run == runs.end() ? std::nullopt : machine_name(run->second->environment);
    if (!name) {
      return Error{"a run does not state the name of its machine", file,
                   "measure again with this version of bench, or omit the file"};
    }
    FleetMachine node = describe_node(*run->second, *name);
    if (!is_device_case(record)) {
      node.cases[record.id] = read_case(record, counted);
    } else if (run->second->environment.details.contains("gpu.name")) {
      FleetMachine device = describe_device(node, run->second->environment);
      device.cases[record.id] = read_case(record, counted);
      node.devices.insert(device.name);
      add(std::move(device));
    } else {
      node.no_device = record.reason.value_or("no GPU");
    }
    add(std::move(node));
  }
  return Done{};
}

namespace {

// The effects of one case, and which machines they belong to.
struct CaseEffects {
  std::vector<std::size_t> machines;  // indices
  std::vector<double> effects;
};

using SiblingMachines = std::vector<const FleetMachine*>;

// Returns the case of each machine that has a time, without those that compute something else than
// most do.
std::vector<std::pair<std::size_t, const MachineCase*>> measured_on(const SiblingMachines& machines,
                                                                    const std::string& id) {
  std::vector<std::pair<std::size_t, const MachineCase*>> measured;
  std::map<std::string_view, std::size_t> hashes;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const auto found = machines[i]->cases.find(id);
    if (found == machines[i]->cases.end() || found->second.processes.empty()) continue;
    measured.emplace_back(i, &found->second);
    ++hashes[found->second.hash];
  }
  if (hashes.size() < 2) return measured;
  const auto usual = std::ranges::max_element(hashes, {}, [](const auto& h) { return h.second; });
  std::erase_if(measured, [&](const auto& entry) { return entry.second->hash != usual->first; });
  return measured;
}

// The fastest of more processes is faster, so all machines have the same number of them: that of
// the median machine. A machine with fewer does not take part.
CaseEffects compute_effects(const SiblingMachines& machines, const std::string& id) {
  auto measured = measured_on(machines, id);
  CaseEffects found;
  if (measured.size() < kMinSiblings) return found;
  std::vector<std::size_t> counts;
  for (const auto& [machine, entry] : measured) counts.push_back(entry->processes.size());
  std::ranges::sort(counts);
  const std::size_t processes = counts[(counts.size() - 1) / 2];
  for (const auto& [machine, entry] : measured) {
    if (entry->processes.size() < processes) continue;
    const auto end = entry->processes.begin() + static_cast<std::ptrdiff_t>(processes);
    found.machines.push_back(machine);
    found.effects.push_back(std::log(*std::min_element(entry->processes.begin(), end)));
  }
  const double centre = interquartile_mean(found.effects);
  for (double& effect : found.effects) effect -= centre;
  return found;
}

class GroupJudge {
 public:
  GroupJudge(const SiblingMachines& machines, const std::vector<std::string>& ids)
      : machines_(machines) {
    for (const std::string& id : ids) add_case(id);
    group_.siblings = machines.front()->siblings;
    for (const FleetMachine* machine : machines) {
      JudgedMachine& judged = group_.machines.emplace_back();
      judged.name = machine->name;
      judged.effects.resize(group_.cases.size());
    }
  }

  SiblingGroup judge() && {
    find_effects();
    find_failures();
    judge_levels();
    if (group_.is_judged()) judge_cases();
    find_missing_devices();
    for (JudgedMachine& judged : group_.machines) decide(judged);
    compare_clocks();
    compare_facts();
    std::ranges::stable_sort(group_.machines, [](const auto& a, const auto& b) {
      if (a.verdict != b.verdict) return a.verdict < b.verdict;
      return a.slowdown.value_or(0) > b.slowdown.value_or(0);
    });
    return std::move(group_);
  }

 private:
  void add_case(const std::string& id) {
    const bool is_here = std::ranges::any_of(
        machines_, [&](const FleetMachine* machine) { return machine->cases.contains(id); });
    if (!is_here) return;
    CaseEffects effects = compute_effects(machines_, id);
    // A case that no machine can measure, for example of a missing library, does not distinguish
    // them.
    if (effects.effects.empty() && machines_.size() >= kMinSiblings) return;
    group_.cases.push_back(id);
    cases_.push_back(std::move(effects));
  }

  void find_effects() {
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      for (std::size_t i = 0; i < cases_[c].machines.size(); ++i)
        group_.machines[cases_[c].machines[i]].effects[c] = std::expm1(cases_[c].effects[i]);
    }
  }

  void find_failures() {
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      if (2 * cases_[c].machines.size() <= machines_.size()) continue;
      for (std::size_t i = 0; i < machines_.size(); ++i) {
        if (group_.machines[i].effects[c]) continue;
        const auto found = machines_[i]->cases.find(group_.cases[c]);
        group_.machines[i].failures[c] =
            found == machines_[i]->cases.end() ? "The result does not have this case."
            : !found->second.reason.empty()
                ? found->second.reason
                : "It has fewer processes than the siblings, or computes something else.";
      }
    }
  }

  void find_missing_devices() {
    const auto with_device = std::ranges::count_if(
        machines_, [](const FleetMachine* machine) { return !machine->devices.empty(); });
    if (2 * with_device <= std::ssize(machines_)) return;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      if (machines_[i]->devices.empty()) group_.machines[i].no_device = machines_[i]->no_device;
    }
  }

  void judge_levels() {
    std::vector<std::size_t> measured;
    std::vector<double> levels;
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      std::vector<double> effects;
      for (const auto& effect : group_.machines[i].effects) {
        if (effect) effects.push_back(std::log1p(*effect));
      }
      const auto needed = kMinMeasuredPart * static_cast<double>(group_.cases.size());
      if (effects.empty() || static_cast<double>(effects.size()) < needed) continue;
      measured.push_back(i);
      levels.push_back(interquartile_mean(effects));
    }
    group_.compared = levels.size();
    const Outliers outliers = find_outliers(levels, kLevelAlpha);
    group_.spread = outliers.deviation;
    for (std::size_t i = 0; i < measured.size(); ++i)
      group_.machines[measured[i]].slowdown = std::expm1(levels[i] - outliers.centre);
    for (const std::size_t i : outliers.high) slow_.insert(measured[i]);
    for (const std::size_t i : outliers.low) fast_.insert(measured[i]);
    find_detectable(outliers);
  }

  void find_detectable(const Outliers& outliers) {
    if (group_.compared < kMinSiblings) {
      group_.not_judged_reason =
          machines_.size() < kMinSiblings
              ? fmt::format("at least {} are needed", kMinSiblings)
              : fmt::format(
                    "only {} of them have times of the same cases, and at least {} are needed",
                    group_.compared, kMinSiblings);
      return;
    }
    // If nothing was found, one of the machines could have been the slow one.
    const std::size_t siblings = std::min(outliers.siblings, group_.compared - 1);
    const auto distance =
        detectable_outlier(siblings, outliers.deviation, kLevelAlpha, kPromisedPower);
    if (distance) group_.detectable = std::max(std::expm1(*distance), kMinSlowdown);
    const bool keeps_promise = group_.detectable && *group_.detectable <= kPromisedSlowdown;
    if (keeps_promise) return;
    group_.not_judged_reason = fmt::format(
        "{} siblings differ by {:.1f} %, so that only a machine that is {:.0f} % slower "
        "would be found",
        group_.compared, 100 * outliers.deviation, 100 * group_.detectable.value_or(0));
  }

  void judge_cases() {
    // With one case, its effects are the levels.
    if (cases_.size() < 2) return;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      const Outliers outliers =
          find_outliers(cases_[c].effects, kCasesAlpha / static_cast<double>(cases_.size()));
      for (const std::size_t i : outliers.high) {
        if (std::expm1(cases_[c].effects[i] - outliers.centre) < kMinSlowdown) continue;
        group_.machines[cases_[c].machines[i]].slow_cases.push_back(c);
      }
    }
    for (JudgedMachine& judged : group_.machines) {
      std::ranges::sort(judged.slow_cases, std::greater(),
                        [&](std::size_t c) { return *judged.effects[c]; });
    }
  }

  void decide(JudgedMachine& judged) {
    const auto index = static_cast<std::size_t>(&judged - group_.machines.data());
    const double slowdown = judged.slowdown.value_or(0);
    using enum MachineVerdict;
    // A slow machine that is found in spite of the noise is one, although others could be missed.
    if (slow_.contains(index) && slowdown >= kMinSlowdown) {
      judged.verdict = slow;
    } else if (!judged.slow_cases.empty()) {
      judged.verdict = slow_in_cases;
    } else if (!judged.failures.empty() || !judged.no_device.empty()) {
      judged.verdict = failed;
    } else if (fast_.contains(index) && slowdown <= -kMinSlowdown) {
      judged.verdict = fast;
    } else if (group_.is_judged() && judged.slowdown) {
      judged.verdict = normal;
    }
  }

  void compare_clocks() {
    std::vector<std::optional<double>> clocks;
    std::vector<double> known;
    for (const FleetMachine* machine : machines_) {
      std::vector<double> own;
      for (const auto& [id, entry] : machine->cases) {
        if (entry.clock_hz) own.push_back(static_cast<double>(*entry.clock_hz));
      }
      clocks.push_back(median(own));
      if (clocks.back()) known.push_back(*clocks.back());
    }
    const auto middle = median(known);
    if (!middle || *middle <= 0) return;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      if (clocks[i]) group_.machines[i].clock = *clocks[i] / *middle;
    }
  }

  // States what differs about a machine that is not normal, from what most siblings have.
  void compare_facts() {
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    for (const FleetMachine* machine : machines_) {
      for (const auto& [name, value] : machine->facts) ++counts[name][value];
    }
    std::map<std::string, std::string> usual;
    for (const auto& [name, values] : counts) {
      const auto most =
          std::ranges::max_element(values, {}, [](const auto& v) { return v.second; });
      if (2 * most->second > machines_.size()) usual[name] = most->first;
    }
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      JudgedMachine& judged = group_.machines[i];
      const bool is_unremarkable = judged.verdict == MachineVerdict::normal;
      if (is_unremarkable || machines_.size() < 3) continue;
      std::map<std::string, std::string> own;
      for (const auto& [name, value] : usual) {
        const auto found = machines_[i]->facts.find(name);
        if (found != machines_[i]->facts.end()) own.insert(*found);
      }
      for (Change& change : run_changes(usual, own)) {
        const bool is_own = std::ranges::find(kOwnFacts, change.field) != kOwnFacts.end();
        if (!is_own && change.to) judged.differences.push_back(std::move(change));
      }
    }
  }

  const SiblingMachines& machines_;
  std::vector<CaseEffects> cases_;  // by case of the group
  std::set<std::size_t> slow_, fast_;
  SiblingGroup group_;
};

}  // namespace

bool SiblingGroup::has_effects() const {
  return std::ranges::any_of(machines, [](const JudgedMachine& machine) {
    return std::ranges::any_of(machine.effects,
                               [](const auto& effect) { return effect.has_value(); });
  });
}

std::size_t FleetVerdict::count(MachineVerdict verdict) const {
  std::size_t found = 0;
  for (const SiblingGroup& group : groups)
    found += static_cast<std::size_t>(
        std::ranges::count(group.machines, verdict, &JudgedMachine::verdict));
  return found;
}

std::size_t FleetVerdict::machines() const {
  std::size_t found = 0;
  for (const SiblingGroup& group : groups) found += group.machines.size();
  return found;
}

bool FleetVerdict::is_judged() const {
  return std::ranges::all_of(groups, &SiblingGroup::is_judged);
}

FleetVerdict judge_fleet(const Fleet& fleet) {
  std::map<std::string_view, SiblingMachines> groups;
  FleetVerdict verdict;
  if (!fleet.machines().empty()) verdict.config = fleet.machines().begin()->second.config;
  for (const auto& [name, machine] : fleet.machines()) {
    groups[machine.siblings].push_back(&machine);
    if (machine.boots.size() > 1) {
      verdict.warnings.push_back(
          fmt::format("The results of {} are of {} starts of the system; they count as one "
                      "machine. If they are "
                      "different machines, set BENCH_NODE on each.",
                      name, machine.boots.size()));
    }
  }
  for (const auto& [siblings, machines] : groups)
    verdict.groups.push_back(GroupJudge(machines, fleet.cases()).judge());
  std::ranges::stable_sort(verdict.groups, std::greater(),
                           [](const SiblingGroup& group) { return group.machines.size(); });
  return verdict;
}

}  // namespace bench
