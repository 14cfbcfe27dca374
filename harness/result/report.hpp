// SPDX-License-Identifier: Apache-2.0
// A Report: the records of one or several result files, and its JSON forms. All commands that
// evaluate a run work on a Report.
#pragma once

#include "base/result.hpp"
#include "harness/result/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Contains each run once, and of each case only what counts, so that readers need no selection of
// their own.
struct Report {
  std::vector<RunRecord> runs;
  // Those of the runs whose case records count.
  std::vector<ProcessRecord> processes;
  // One per id, in the order of first appearance. If an id has several records, the last one with
  // the outcome `ok` counts, or the last one if none is ok.
  std::vector<CaseRecord> cases;
  std::vector<ProfilePassRecord> profile_passes;  // one per id, chosen like its case record
  std::vector<EndRecord> ends;
  std::vector<std::string> warnings;  // "results.jsonl:17: malformed record ignored: ..."
};

// Returns whether a run has no end: it was killed, or it still measures. A run that another one
// resumed does not count.
bool has_unfinished_run(const Report& report);
// Returns the number of cases that stopped runs did not reach, so that they have no record. Cases
// of a run that another one resumed do not count.
std::int64_t count_unreached_cases(const Report& report);

// Returns a sentence that names the other measurements beside which one ran; empty without any.
std::string beside_sentence(const std::vector<std::string>& others);

// Returns one line of JSON without a newline. docs/result_file.md defines field names and units.
// Unknown values are omitted.
std::string to_json_line(const Record& record);
// Returns an error also for kinds of records that a Report does not contain.
Result<Record> record_from_json_line(std::string_view line);

// Parses a result file, possibly several concatenated runs or shards. `name`: the file's name for
// messages. Skips malformed lines with a warning that starts with `name:line`; the last line may be
// incomplete. Returns an error for another schema. Skips activities (profiler/reader.hpp reads
// them) and unknown kinds silently, such as the `canary` of older files. Summarises cases that have
// process records but no case record: outcome ok, flag interrupted.
Result<Report> parse_report(std::string_view text, const std::string& name);
// Reads and parses the report of a path; "-" is standard input.
Result<Report> read_report(const std::string& path);

// Returns the complete report as one JSON document (docs/report.schema.json): {"schema", "runs",
// "processes", "cases", "profile_passes", "ends", "networks"}.
std::string to_json_document(const Report& report);
// Returns the same document with the field `profile_summary`, whose value is JSON text.
std::string to_json_document(const Report& report, std::string_view profile_summary);

}  // namespace bench
