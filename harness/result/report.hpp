// SPDX-License-Identifier: Apache-2.0
// A Report: one or several result files as plain data, and its JSON forms. Everything after `run`
// works on it alone.
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
  std::vector<CaseRecord>
      cases;  // one an id, order of first appearance; of several records the last `ok` counts
  std::vector<ProfilePassRecord> profile_passes;
  std::vector<CanaryRecord> canaries;
  std::vector<EndRecord> ends;
  std::vector<std::string> warnings;  // "results.jsonl:17: damaged record ignored: ..."
};

// One line without newline; field names and units as in docs/result_file.md. Strict JSON, absent
// values left out.
std::string to_json_line(const Record& record);
Result<Record> record_from_json_line(std::string_view line);

// Text of a result file, possibly several runs or shards concatenated. A torn last line is a
// warning; another damaged line costs that line and a warning with `name:line`; another schema is
// an error. Activities (a stream: profiler/reader.hpp) and unknown kinds are kept out silently.
// Cases with process records but no case record are summarised: outcome ok, flag interrupted.
Result<Report> parse_report(std::string_view text, const std::string& name);

// The whole as one JSON document (product.md section 4): {"schema", "runs", "processes", "cases",
// "profile_passes", "canaries", "ends"}.
std::string to_json_document(const Report& report);
// The same with `profile_summary`, a JSON object as text.
std::string to_json_document(const Report& report, std::string_view profile_summary);

}  // namespace bench
