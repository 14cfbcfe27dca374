// SPDX-License-Identifier: Apache-2.0
// What is known about one case during a run, and the case record that results from it.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What the plan by itself states about a case, as a record without outcome or times.

CaseRecord case_facts(const Case& spec);
const ops::Work& case_work(const Case& spec);
// Tensors of the problem or of the whole network, in the order of the kernel's buffers.
std::span<const ops::Tensor> case_tensors(const Case& spec);

// Whether tensor cores can run a case on this run's device, according to the rules
// (ops/tensor_core/eligibility.hpp), as details of a case record.

// Returns "tensor_cores.arch" ("sm_90, cuda13"), "tensor_cores.eligible", "tensor_cores.reason",
// "tensor_cores.rule", "tensor_cores.alignment". For a network it states how many of its products
// are eligible; the reason lists the others. `capability`: the device's, such as "9.0"; if the
// rules do not know it, only the reason is returned. Empty if the case runs on a backend without
// such rules.
std::map<std::string, std::string> tensor_core_details(const Case& spec,
                                                       std::string_view capability);

class CaseProgress {
 public:
  explicit CaseProgress(const Case& spec) : spec_(&spec) {}

  const Case& spec() const { return *spec_; }

  // Adopts a record of an earlier run: a process that need not be measured again, or a final
  // record.
  void adopt(const ProcessRecord& record);
  void adopt(const CaseRecord& record);

  void add(ProcessRecord record);
  // Keeps the facts of the first prepared process. Of later processes only the digest of the
  // outputs matters: if one differs, the detail is kDigestVaries.
  void learn(const PreparedReply& prepared);
  // Ends the case and drops its remaining processes.
  void end(Outcome outcome, std::string reason);

  bool has_facts() const { return facts_.has_value(); }
  bool has_samples() const;
  bool measured(int process) const { return numbers_.contains(process); }
  // Returns whether as many quiet processes were measured as requested. Other processes replace
  // disturbed ones, up to most_processes() in all. Also requires that the facts are known.
  bool complete() const;
  // Counts disturbed processes as well.
  bool has_asked_processes() const {
    return static_cast<int>(numbers_.size()) >= spec_->measure.processes;
  }
  // All processes were measured, but none has a valid sample.
  bool all_void() const { return complete() && !has_samples(); }
  // The case has its outcome and needs no further measurement.
  bool decided() const { return settled_ || ended_ || complete(); }
  bool wanted(int process) const;
  // Processes still to be measured: those requested, and one for each that was disturbed.
  std::int64_t processes_left() const;
  // Maximum number of processes per case, on a machine that is never quiet.
  static int most_processes(const Case& spec);
  bool settled() const { return settled_.has_value(); }  // its record is in the earlier file
  Outcome outcome() const;                               // only for a decided case

  // Sets the flag `interrupted` if processes are missing.
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
  // Number of undisturbed processes. Recomputed with each new process, which judges all samples
  // again.
  std::int64_t quiet_processes_ = 0;
  std::optional<PreparedReply> facts_;  // without the output's values
  std::optional<Ended> ended_;
  std::optional<Outcome> settled_;
};

// Gives the cases, by id, the results of an earlier run of the same plan.
void adopt(const Report& earlier, std::vector<CaseProgress>& cases);

}  // namespace bench
