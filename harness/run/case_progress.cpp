// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_progress.hpp"

#include "base/data_type.hpp"
#include "harness/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace bench {
namespace {

const ops::Work& work_of(const Case& spec) {
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) return problem->work;
  return std::get<std::shared_ptr<const ops::Network>>(spec.work)->work;
}

bool has_flag(const CaseRecord& record, Flag flag) {
  return std::find(record.flags.begin(), record.flags.end(), flag) != record.flags.end();
}

// What the plan alone says about a case.
CaseRecord planned_record(const Case& spec) {
  CaseRecord record;
  record.id = spec.id;
  record.op = spec.key.op;
  record.direction = ops::direction_names()[static_cast<std::size_t>(spec.key.direction)];
  record.dtype = info(spec.key.dtype).name;
  record.device = spec.key.device;
  record.backend = spec.key.backend;
  record.source = Place{spec.place.file, spec.place.line, 0}.text();
  record.case_hash = spec.hash;
  record.work = work_of(spec);
  if (spec.memberships.empty()) return record;
  record.network = spec.memberships.front().network;
  record.layers = spec.memberships.front().layers;
  record.multiplicity = static_cast<int>(record.layers.size());
  if (spec.memberships.size() == 1) return record;
  for (const Membership& membership : spec.memberships) {
    record.networks.push_back({membership.network, membership.layers});
  }
  return record;
}

}  // namespace

void CaseProgress::adopt(const ProcessRecord& record) { add(record); }

void CaseProgress::adopt(const CaseRecord& record) {
  const bool unfinished = record.outcome == Outcome::ok && has_flag(record, Flag::interrupted);
  const bool unserved = record.outcome == Outcome::skipped && record.reason &&
                        record.reason->starts_with(kBudgetReason);
  if (!unfinished && !unserved) settled_ = record.outcome;
}

void CaseProgress::add(ProcessRecord record) {
  if (!numbers_.insert(record.process).second) return;
  processes_.push_back(std::move(record));
}

void CaseProgress::learn(const PreparedReply& prepared) {
  if (facts_) return;
  facts_ = prepared;
  facts_->output = {};
}

void CaseProgress::end(Outcome outcome, std::string reason) {
  ended_ = Ended{outcome, std::move(reason)};
}

bool CaseProgress::complete() const {
  return has_facts() && static_cast<int>(numbers_.size()) >= spec_->measure.processes;
}

bool CaseProgress::wanted(int process) const {
  if (decided() || process >= spec_->measure.processes) return false;
  if (!measured(process)) return true;
  // Its facts were lost with the run that measured all its processes: it is prepared once more.
  return process == spec_->measure.processes - 1 &&
         static_cast<int>(numbers_.size()) >= spec_->measure.processes;
}

Outcome CaseProgress::outcome() const {
  if (settled_) return *settled_;
  return ended_ ? ended_->outcome : Outcome::ok;
}

CaseRecord CaseProgress::record(const std::string& run_id) const {
  CaseRecord record = planned_record(*spec_);
  record.run_id = run_id;
  if (facts_) {
    record.implementation = facts_->implementation;
    record.memory = facts_->memory;
    if (!facts_->check.empty()) record.check = facts_->check;
    record.details.insert(facts_->details.begin(), facts_->details.end());
  }
  if (ended_) {
    record.outcome = ended_->outcome;
    record.reason = ended_->reason;
    return record;
  }
  std::vector<const ProcessRecord*> processes;
  for (const ProcessRecord& process : processes_) processes.push_back(&process);
  complete_case(record, processes, spec_->measure.precision);
  if (static_cast<int>(numbers_.size()) < spec_->measure.processes) {
    record.details["processes"] =
        fmt::format("{} of {}", numbers_.size(), spec_->measure.processes);
    if (!has_flag(record, Flag::interrupted)) record.flags.push_back(Flag::interrupted);
  }
  return record;
}

}  // namespace bench
