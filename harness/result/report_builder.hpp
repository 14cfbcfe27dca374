// SPDX-License-Identifier: Apache-2.0
// Puts records together to a Report as they come: from a file that is parsed, or from a run that is
// still writing its file.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench {

class ReportBuilder {
 public:
  // Of several records of one case the last whose outcome is `ok` counts, or the last if none is.
  void add(Record record);
  void warn(std::string text) { report_.warnings.push_back(std::move(text)); }
  std::size_t warnings() const { return report_.warnings.size(); }
  bool is_empty() const { return records_ == 0; }
  bool has_run() const { return !report_.runs.empty(); }

  // Returns what was added so far. Cases with samples but without a case record are summarised: outcome ok,
  // flag interrupted.
  Report report() const;

 private:
  void add(RunRecord run) { report_.runs.push_back(std::move(run)); }
  void add(ProcessRecord process) { report_.processes.push_back(std::move(process)); }
  void add(ProfilePassRecord pass) { report_.profile_passes.push_back(std::move(pass)); }
  void add(CanaryRecord canary) { report_.canaries.push_back(std::move(canary)); }
  void add(EndRecord end) { report_.ends.push_back(std::move(end)); }
  void add(CaseRecord record);

  Report report_;
  std::size_t records_ = 0;
  std::unordered_map<std::string, std::size_t> index_;             // id -> place in report_.cases
  std::unordered_map<std::string, std::size_t> last_case_record_;  // id -> processes before it
};

// The same as parse_report(), for a run that goes on with the file.
Result<ReportBuilder> parse_records(std::string_view text, const std::string& name);

}  // namespace bench
