// SPDX-License-Identifier: Apache-2.0
// What is known about one case while a run goes on, and the case record that it becomes.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bench {

class CaseProgress {
 public:
  explicit CaseProgress(const Case& spec) : spec_(&spec) {}

  const Case& spec() const { return *spec_; }

  // From an earlier run: a process that need not be measured again, or a record that is final.
  void adopt(const ProcessRecord& record);
  void adopt(const CaseRecord& record);

  void add(ProcessRecord record);
  // Facts are those of the first process that was prepared. Of the others the digest of the outputs
  // counts: where one differs, it is kDigestVaries.
  void learn(const PreparedReply& prepared);
  // Ends the case: remaining processes are dropped.
  void end(Outcome outcome, std::string reason);

  bool has_facts() const { return facts_.has_value(); }
  bool has_samples() const;
  bool measured(int process) const { return numbers_.contains(process); }
  // As many processes measured as asked for, and as many of them quiet: others take the place of
  // those that were disturbed, up to most_processes() in all. Facts known.
  bool complete() const;
  // However many of them were disturbed.
  bool has_asked_processes() const {
    return static_cast<int>(numbers_.size()) >= spec_->measure.processes;
  }
  // No process has a valid sample, though all were measured.
  bool all_void() const { return complete() && !has_samples(); }
  // The case has its outcome: nothing more is to be measured.
  bool decided() const { return settled_ || ended_ || complete(); }
  bool wanted(int process) const;
  // Processes that are still to be measured: those asked for, and one for each that was disturbed.
  std::int64_t processes_left() const;
  // So many processes measure a case at most, on a machine that is never quiet.
  static int most_processes(const Case& spec);
  bool settled() const { return settled_.has_value(); }  // its record stands in the earlier file
  Outcome outcome() const;                               // of a decided case

  // `interrupted` is flagged where processes are missing.
  CaseRecord record(const std::string& run_id) const;

 private:
  struct Ended {
    Outcome outcome;
    std::string reason;
  };

  std::vector<const ProcessRecord*> processes() const;
  std::int64_t count_quiet_processes() const;
  bool has_enough_processes() const;

  const Case* spec_;
  std::vector<ProcessRecord> processes_;
  std::set<int> numbers_;
  // Without those that were disturbed. Counted with each new process: that judges all samples.
  std::int64_t quiet_processes_ = 0;
  std::optional<PreparedReply> facts_;  // without the output's values
  std::optional<Ended> ended_;
  std::optional<Outcome> settled_;
};

// What an earlier run of the same plan has left, told to the cases of its ids.
void adopt(const Report& earlier, std::vector<CaseProgress>& cases);

}  // namespace bench
