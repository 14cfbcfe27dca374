// SPDX-License-Identifier: Apache-2.0
// Result files to a Report: lines are collected in order, then cases without a record are made up
// for from their processes.
#include "harness/result/report.hpp"

#include "base/lines.hpp"
#include "harness/result/json_reader.hpp"
#include "harness/result/synthesis.hpp"

#include <fmt/format.h>

#include <unordered_map>

namespace bench {
namespace {

// A binary file would give a warning a line.
constexpr std::size_t kMaxWarnings = 20;

constexpr std::string_view kRecordStart = "{\"record\":";

class RecordCollector {
 public:
  explicit RecordCollector(const std::string& name) : name_(name) {}

  // `torn`: the line is the text's last one and has no newline.
  Status add_line(std::string_view line, std::size_t number, bool torn) {
    if (is_blank(line)) return Done{};
    ++lines_;
    auto parsed = parse_line(line);
    if (parsed.ok()) return take(std::move(*parsed), number);
    if (torn) {
      looks_torn_ |= line.starts_with(kRecordStart.substr(0, line.size()));
      warn(number, "torn last line ignored");
      return Done{};
    }
    return salvage(line, number, parsed.error());
  }

  Result<Report> finish() {
    if (lines_ > 0 && recognised_ == 0 && !(lines_ == 1 && looks_torn_)) {
      return Error{"no result file: it holds no run record", name_,
                   "name a file that `bench run` wrote"};
    }
    if (recognised_ > 0 && report_.runs.empty())
      report_.warnings.push_back(name_ + ": no run record: what was run is not known");
    if (dropped_warnings_ > 0)
      report_.warnings.push_back(fmt::format("{}: {} more warnings", name_, dropped_warnings_));
    add_interrupted_cases(report_, last_case_record_);
    return std::move(report_);
  }

 private:
  void warn(std::size_t number, std::string_view text) {
    if (report_.warnings.size() < kMaxWarnings) {
      report_.warnings.push_back(fmt::format("{}:{}: {}", name_, number, text));
    } else {
      ++dropped_warnings_;
    }
  }

  // A killed shard ends in a torn line; concatenation puts the next shard's first record behind it.
  Status salvage(std::string_view line, std::size_t number, const Error& error) {
    const std::size_t spaced = line.rfind("{\"record\": ");
    const std::size_t dense = line.rfind("{\"record\":\"");
    std::size_t start = spaced;
    if (spaced == std::string_view::npos || (dense != std::string_view::npos && dense > spaced))
      start = dense;
    if (start != std::string_view::npos && start > 0) {
      auto parsed = parse_line(line.substr(start));
      if (parsed.ok()) {
        warn(number, "torn record before another one ignored");
        return take(std::move(*parsed), number);
      }
    }
    warn(number, fmt::format("damaged record ignored: {}", error.what));
    return Done{};
  }

  Status take(Line line, std::size_t number) {
    if (auto* record = std::get_if<Record>(&line)) {
      ++recognised_;
      std::visit([&](auto& value) { keep(std::move(value)); }, *record);
    }
    if (const auto* other = std::get_if<OtherSchema>(&line)) {
      return Error{fmt::format("schema `{}`, expected `{}`", other->schema, kResultSchema),
                   fmt::format("{}:{}", name_, number),
                   "read it with the version of bench that wrote it"};
    }
    return Done{};
  }

  void keep(RunRecord run) { report_.runs.push_back(std::move(run)); }
  void keep(ProcessRecord process) { report_.processes.push_back(std::move(process)); }
  void keep(ProfilePassRecord pass) { report_.profile_passes.push_back(std::move(pass)); }
  void keep(CanaryRecord canary) { report_.canaries.push_back(std::move(canary)); }
  void keep(EndRecord end) { report_.ends.push_back(std::move(end)); }
  // Of several records of one id the last `ok` counts, the last one when none is.
  void keep(CaseRecord record) {
    last_case_record_[record.id] = report_.processes.size();
    const auto [place, is_new] = index_.try_emplace(record.id, report_.cases.size());
    if (is_new) {
      report_.cases.push_back(std::move(record));
      return;
    }
    CaseRecord& known = report_.cases[place->second];
    if (record.outcome == Outcome::ok || known.outcome != Outcome::ok) known = std::move(record);
  }

  const std::string& name_;
  Report report_;
  std::unordered_map<std::string, std::size_t> index_;             // id -> place in report_.cases
  std::unordered_map<std::string, std::size_t> last_case_record_;  // id -> processes before it
  std::size_t lines_ = 0;
  std::size_t recognised_ = 0;
  std::size_t dropped_warnings_ = 0;
  bool looks_torn_ = false;
};

bool is_document(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{' &&
         !text.substr(start).starts_with("{\"record\"");
}

}  // namespace

Result<Report> parse_report(std::string_view text, const std::string& name) {
  RecordCollector collector(name);
  if (is_document(text)) {
    if (const auto lines = document_lines(text)) {
      std::size_t number = 0;
      for (const std::string& line : *lines)
        BENCH_RETURN_IF_ERROR(collector.add_line(line, ++number, false));
      return collector.finish();
    }
  }
  for (const NumberedLine& line : Lines(text))
    BENCH_RETURN_IF_ERROR(collector.add_line(line.text, line.number, line.torn));
  return collector.finish();
}

}  // namespace bench
