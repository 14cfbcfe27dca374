// SPDX-License-Identifier: Apache-2.0
// Tracks one case during a run: its measured processes, its facts, and its case record.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/result/report.hpp"
#include "harness/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns what the plan states about a case, as a record without times and with the outcome ok.
CaseRecord case_facts(const Case& spec);
// Returns whether tensor cores can compute a case, according to the rules
// (ops/tensor_core/eligibility.hpp), as details of a case record: "tensor_cores.arch" ("sm_90,
// cuda13"), "tensor_cores.eligible", "tensor_cores.reason", "tensor_cores.rule" and
// "tensor_cores.alignment". For a network, states how many of its products are eligible; the reason
// lists the others. `capability`: compute capability of the device, such as "9.0". If the rules do
// not support the capability, returns only the reason. Empty if the rules do not apply to the
// case's backend.
std::map<std::string, std::string> tensor_core_details(const Case& spec,
                                                       std::string_view capability);
// Returns the finding that tensor cores were missed: the rules state that the case is eligible, but
// `used`, a text of format_verdict(), states that its kernels did not use them. Names what would
// take them: "not used (counter), although eligible: use `layout: nhwc`". Returns nullopt for any
// other answer, and for a network.
std::optional<std::string> missed_tensor_cores(const Case& spec, std::string_view capability,
                                               const std::string& used);

// The detail of a case whose choice could not be repeated after `--resume`.
inline constexpr const char* kResumedChoiceDetail = "resumed_choice";

class CaseProgress {
 public:
  explicit CaseProgress(const Case& spec) : spec_(&spec) {}

  const Case& spec() const { return *spec_; }

  // Adopts a record of an earlier run: a process that need not be measured again, or a case record,
  // which is ignored if its case is unfinished.
  void adopt(const ProcessRecord& record);
  void adopt(const CaseRecord& record);

  // Adds a measured process. Ignores a process whose number was already added.
  void add(ProcessRecord record);
  // Keeps the facts of the first prepared process. Later processes only provide their output
  // digests: if one differs, the digest becomes kDigestVaries. Returns a message if the process
  // does not repeat the choice of an earlier run, whose processes then ran another kernel. The
  // record says so too, in the detail kResumedChoiceDetail.
  std::optional<std::string> learn(const PreparedReply& prepared);
  // Ends the case and drops its remaining processes.
  void end(Outcome outcome, std::string reason);
  // As above. The record names the kernel that failed, if the failure does.
  void end(ErrorReply failure);

  bool has_facts() const { return facts_.has_value(); }
  // Returns whether the kernel is not the library's first choice, whose result was wrong.
  bool has_rejected_engines() const;
  // Returns what the first prepared process has chosen by measuring, or a process of an earlier
  // run; empty if it chose nothing.
  const std::string& choices() const { return facts_ ? facts_->choices : earlier_choices_; }
  // Returns whether the record of an earlier process states these choices.
  bool has_recorded(const std::string& choices) const;
  bool has_samples() const;
  bool is_measured(int process) const { return process_numbers_.contains(process); }
  // Returns whether the facts are known and as many processes were measured as requested.
  bool is_complete() const { return has_facts() && has_requested_processes(); }
  bool has_requested_processes() const {
    return static_cast<int>(process_numbers_.size()) >= spec_->measure.processes;
  }
  // Returns whether all processes were measured, but none has a valid sample.
  bool has_only_discarded_samples() const { return is_complete() && !has_samples(); }
  // Returns whether the case has its outcome and needs no further measurement.
  bool is_decided() const { return earlier_outcome_ || ended_ || is_complete(); }
  // Returns whether the run has to prepare or measure this process of the case.
  bool needs_process(int process) const;
  // Returns the number of processes still to be measured.
  std::int64_t remaining_processes() const;
  std::span<const ProcessRecord> processes() const { return processes_; }
  // Returns whether the earlier run already has the final record of the case.
  bool has_earlier_outcome() const { return earlier_outcome_.has_value(); }
  // Requires that the case is decided.
  Outcome outcome() const;

  // Returns the case record, with its time at this level of speed (complete_case()). Sets the flag
  // `interrupted` if processes are missing.
  CaseRecord record(const std::string& run_id, std::optional<SpeedLevel> level) const;

 private:
  const Case* spec_;
  std::vector<ProcessRecord> processes_;
  std::set<int> process_numbers_;
  std::optional<PreparedReply> facts_;  // without the output's values
  std::string earlier_choices_;         // processes of an earlier run made them
  std::optional<ErrorReply> ended_;
  std::optional<Outcome> earlier_outcome_;
};

// Returns whether a later run need not measure the case again.
bool is_finished(const CaseRecord& record);

// Passes the records of an earlier run of the same plan to the cases with the same ids. A process
// of an unfinished case counts only if `continues` returns true. Returns the number of those that
// do not count.
std::size_t adopt(const Report& earlier, const std::function<bool(const ProcessRecord&)>& continues,
                  std::vector<CaseProgress>& cases);

}  // namespace bench
