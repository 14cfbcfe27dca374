// SPDX-License-Identifier: Apache-2.0
// FileSink: the result file to which `run` and `gate` append their records.
#pragma once

#include "base/file.hpp"
#include "harness/result/report_builder.hpp"
#include "harness/run/run.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Appends records to the result file, and keeps them in memory for the report at the end.
class FileSink final : public RecordSink {
 public:
  explicit FileSink(RecordFile file, ReportBuilder earlier = {})
      : file_(std::move(file)), records_(std::move(earlier)) {}
  Status append(const Record& record) override { return append(record, to_json_line(record)); }
  // Appends a record whose JSON line the caller already has.
  Status append(const Record& record, std::string_view line) {
    BENCH_RETURN_IF_ERROR(file_.append(line));
    records_.add(record);
    return Done{};
  }
  // Appends a record of another schema (a gate's), which is not part of the report.
  Status append_line(std::string_view line) { return file_.append(line); }
  // Does not keep the activity in memory, since readers of a profile process it as a stream.
  Status append_activity(std::string_view line) override { return file_.append(line); }
  const std::string& path() const { return file_.path(); }
  const ReportBuilder& records() const { return records_; }

 private:
  RecordFile file_;
  ReportBuilder records_;
};

}  // namespace bench
