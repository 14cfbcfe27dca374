// SPDX-License-Identifier: Apache-2.0
// A Report: one or several result files as plain data, and its JSON forms. Everything after `run`
// works only on a Report.
#pragma once

#include "base/result.hpp"
#include "harness/result/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct Report {
  std::vector<RunRecord> runs;
  std::vector<ProcessRecord> processes;
  // One per id, in the order of first appearance. Of several records, the last `ok` counts.
  std::vector<CaseRecord> cases;
  std::vector<ProfilePassRecord> profile_passes;
  std::vector<CanaryRecord> canaries;
  std::vector<EndRecord> ends;
  std::vector<std::string> warnings;  // "results.jsonl:17: malformed record ignored: ..."
};

// Returns one line without a newline. Field names and units are those of docs/result_file.md.
// Strict JSON without missing values.
std::string to_json_line(const Record& record);
Result<Record> record_from_json_line(std::string_view line);

// Parses a result file, possibly several concatenated runs or shards. An incomplete last line gives
// a warning. Another malformed line is skipped with a warning that has `name:line`. Another schema
// is an error. Activities (a stream: profiler/reader.hpp) and unknown kinds are skipped silently.
// Cases with process records but no case record are summarised: outcome ok, flag interrupted.
Result<Report> parse_report(std::string_view text, const std::string& name);

// Returns the complete report as one JSON document (product.md section 4): {"schema", "runs",
// "processes", "cases", "profile_passes", "canaries", "ends"}.
std::string to_json_document(const Report& report);
// The same plus `profile_summary`, which is a JSON object as text.
std::string to_json_document(const Report& report, std::string_view profile_summary);

}  // namespace bench
