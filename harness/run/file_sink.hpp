// SPDX-License-Identifier: Apache-2.0
// Where `run` and `gate` write their records.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "harness/result/report.hpp"
#include "harness/run/run.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace bench {

// Appends to the result file and keeps the lines for the report at the end.
class FileSink final : public RecordSink {
 public:
  FileSink(RecordFile file, std::string earlier)
      : file_(std::move(file)), text_(std::move(earlier)) {}
  Status append(const Record& record) override { return append_line(to_json_line(record)); }
  // A record of another schema (a gate's), kept for reading back as well.
  Status append_line(const std::string& line) {
    BENCH_RETURN_IF_ERROR(file_.append(line));
    text_ += line + '\n';
    return Done{};
  }
  // Not for the report: a profile is read as a stream.
  Status append_activity(std::string_view line) override { return file_.append(line); }
  const std::string& path() const { return file_.path(); }
  const std::string& text() const { return text_; }

 private:
  RecordFile file_;
  std::string text_;
};

// Different for each run of this user's.
std::string make_run_id(Env& env);

}  // namespace bench
