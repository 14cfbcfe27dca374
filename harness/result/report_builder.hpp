// SPDX-License-Identifier: Apache-2.0
// Builds a Report from single records, while a file is parsed or while a run writes its file.
#pragma once

#include "harness/result/report.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench {

// Returns a record with the fields that follow from the case id: operator, direction, data type,
// backend and device.
CaseRecord make_record(const std::string& id);

class ReportBuilder {
 public:
  // If a case has several records, the last one with the outcome `ok` counts, or the last one if
  // none is ok.
  void add(Record record);
  void warn(std::string text) { report_.warnings.push_back(std::move(text)); }
  std::size_t warnings() const { return report_.warnings.size(); }
  bool is_empty() const { return records_ == 0; }
  bool has_run() const { return !report_.runs.empty(); }

  // Returns the records so far that count (keep_counted_records()). Summarises cases with samples
  // but without a case record: outcome ok, flag interrupted.
  Report report() const&;
  Report report() &&;

 private:
  void add(RunRecord run) { report_.runs.push_back(std::move(run)); }
  void add(ProcessRecord process) { report_.processes.push_back(std::move(process)); }
  void add(ProfilePassRecord pass) { report_.profile_passes.push_back(std::move(pass)); }
  void add(EndRecord end) { report_.ends.push_back(std::move(end)); }
  void add(CaseRecord record);

  Report report_;
  std::size_t records_ = 0;
  std::unordered_map<std::string, std::size_t> index_;  // case id -> index in report_.cases
  // Case id -> number of process records before the id's last case record.
  std::unordered_map<std::string, std::size_t> processes_before_last_case_;
};

// Parses like parse_report(), for a run that appends further records to the file.
Result<ReportBuilder> parse_records(std::string_view text, const std::string& name);

// Adds cases that a killed run measured but did not summarise. Private to this folder.
//
// Adds a case (outcome ok, flag interrupted) for each id with samples but no case record. Replaces
// the case record of an id if none is ok and samples follow the last one. Uses the processes of the
// last run with that id and of the runs that it resumes. For each process number, the last record
// counts. `processes_before_last_case`: as in ReportBuilder.
void add_interrupted_cases(
    Report& report, const std::unordered_map<std::string, std::size_t>& processes_before_last_case);

// Removes records that do not count, so that each reader counts the others once, whatever was
// concatenated. Private to this folder.
//
// Keeps the first `run` and `end` of each run, and of each case the processes of its record
// (CountedProcesses) and one profiling pass: the last `ok`, or the last one. Keeps all processes of
// an id without a case.
void keep_counted_records(Report& report);

}  // namespace bench
