// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_progress.hpp"

#include "harness/result/device_samples.hpp"
#include "harness/result/exact_facts.hpp"
#include "harness/result/quiet.hpp"
#include "harness/result/summary.hpp"
#include "harness/run/case_facts.hpp"
#include "harness/run/case_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bench {

void CaseProgress::adopt(const ProcessRecord& record) { add(record); }

void CaseProgress::adopt(const CaseRecord& record) {
  const bool unfinished = record.outcome == Outcome::ok && has_flag(record, Flag::interrupted);
  if (!unfinished && !is_unmeasured(record)) settled_ = record.outcome;
}

void CaseProgress::add(ProcessRecord record) {
  if (!numbers_.insert(record.process).second) return;
  processes_.push_back(std::move(record));
  quiet_processes_ = count_quiet_processes();
}

void CaseProgress::learn(const PreparedReply& prepared) {
  if (!facts_) {
    facts_ = prepared;
    facts_->output = {};
    return;
  }
  // Digests differ if threads add in another order. The check has found the values within the
  // tolerance.
  const auto first = facts_->details.find(kOutputDigestDetail);
  const auto digest = prepared.details.find(kOutputDigestDetail);
  if (first == facts_->details.end() || digest == prepared.details.end()) return;
  if (first->second != digest->second) first->second = kDigestVaries;
}

void CaseProgress::end(Outcome outcome, std::string reason) {
  ended_ = Ended{outcome, std::move(reason)};
}

int CaseProgress::most_processes(const Case& spec) {
  constexpr int kMaxTimesAsked = 2;
  return kMaxTimesAsked * spec.measure.processes;
}

std::vector<const ProcessRecord*> CaseProgress::processes() const {
  std::vector<const ProcessRecord*> processes;
  for (const ProcessRecord& process : processes_) processes.push_back(&process);
  return processes;
}

std::int64_t CaseProgress::count_quiet_processes() const {
  const std::vector<const ProcessRecord*> measured = processes();
  const std::optional<QuietSummary> quiet = judge_samples(measured).quiet;
  return quiet ? quiet->processes : std::ssize(numbers_);
}

bool CaseProgress::has_enough_processes() const {
  if (!has_asked_processes()) return false;
  return std::ssize(numbers_) >= most_processes(*spec_) ||
         quiet_processes_ >= spec_->measure.processes;
}

std::int64_t CaseProgress::processes_left() const {
  if (decided()) return 0;
  const std::int64_t possible = most_processes(*spec_) - std::ssize(numbers_);
  return std::clamp<std::int64_t>(spec_->measure.processes - quiet_processes_, 0, possible);
}

bool CaseProgress::complete() const { return has_facts() && has_enough_processes(); }

bool CaseProgress::has_samples() const {
  return std::ranges::any_of(processes_,
                             [](const ProcessRecord& process) { return !process.samples.empty(); });
}

bool CaseProgress::wanted(int process) const {
  if (decided() || process >= most_processes(*spec_)) return false;
  const bool is_asked_for = process < spec_->measure.processes;
  if (!measured(process)) return is_asked_for || (has_asked_processes() && !has_enough_processes());
  // The facts were lost with the run that measured all processes, so the case is prepared once
  // more.
  return process == spec_->measure.processes - 1 && has_enough_processes();
}

Outcome CaseProgress::outcome() const {
  if (settled_) return *settled_;
  if (ended_) return ended_->outcome;
  return all_void() ? Outcome::failed : Outcome::ok;
}

CaseRecord CaseProgress::record(const std::string& run_id) const {
  CaseRecord record = case_facts(*spec_);
  record.run_id = run_id;
  if (facts_) {
    record.implementation = facts_->implementation;
    record.memory = facts_->memory;
    if (!facts_->check.empty()) record.check = facts_->check;
    record.details.insert(facts_->details.begin(), facts_->details.end());
    std::erase_if(record.details,
                  [](const auto& detail) { return detail.first.starts_with(kSetupDetail); });
  }
  if (ended_) {
    record.outcome = ended_->outcome;
    record.reason = ended_->reason;
    return record;
  }
  const std::vector<const ProcessRecord*> measured = processes();
  complete_case(record, measured, spec_->measure.precision);
  if (all_void()) {
    record.outcome = Outcome::failed;
    record.reason = record.voided ? void_text(*record.voided) : "no process has a sample";
    record.flags.clear();
    return record;
  }
  if (!has_asked_processes()) {
    record.details["processes"] =
        fmt::format("{} of {}", numbers_.size(), spec_->measure.processes);
    if (!has_flag(record, Flag::interrupted)) record.flags.push_back(Flag::interrupted);
  }
  return record;
}

void adopt(const Report& earlier, std::vector<CaseProgress>& cases) {
  std::map<std::string, CaseProgress*> by_id;
  for (CaseProgress& progress : cases) by_id.emplace(progress.spec().id, &progress);
  const auto adopt_all = [&](const auto& records) {
    for (const auto& record : records) {
      if (const auto found = by_id.find(record.id); found != by_id.end()) {
        found->second->adopt(record);
      }
    }
  };
  adopt_all(earlier.processes);
  adopt_all(earlier.cases);
}

}  // namespace bench
