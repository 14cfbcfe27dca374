// SPDX-License-Identifier: Apache-2.0
// The file to which `run` and `gate` write their records.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "harness/result/report_builder.hpp"
#include "harness/run/run.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Appends to the result file, and gathers the records for the report at the end.
class FileSink final : public RecordSink {
 public:
  explicit FileSink(RecordFile file, ReportBuilder earlier = {})
      : file_(std::move(file)), records_(std::move(earlier)) {}
  Status append(const Record& record) override { return append(record, to_json_line(record)); }
  // The same for a caller that has the record's line already.
  Status append(const Record& record, std::string_view line) {
    BENCH_RETURN_IF_ERROR(file_.append(line));
    records_.add(record);
    return Done{};
  }
  // Appends a record of another schema (a gate's), which is not part of the report.
  Status append_line(std::string_view line) { return file_.append(line); }
  // Not kept for the report: a profile is read as a stream.
  Status append_activity(std::string_view line) override { return file_.append(line); }
  const std::string& path() const { return file_.path(); }
  const ReportBuilder& records() const { return records_; }

 private:
  RecordFile file_;
  ReportBuilder records_;
};

// Different for each run of this user.
std::string make_run_id(Env& env);

}  // namespace bench
