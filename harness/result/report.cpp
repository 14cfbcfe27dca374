// SPDX-License-Identifier: Apache-2.0
// Converts result files to a Report: collects the lines in order, then summarises cases without a
// case record from their processes.
#include "harness/result/report.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/lines.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/json_reader.hpp"
#include "harness/result/report_builder.hpp"
#include "harness/result/result_text.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace bench {
namespace {

// Limits the warnings for a binary file, in which every line is malformed.
constexpr std::size_t kMaxWarnings = 20;

constexpr std::string_view kRecordStart = "{\"record\":";

class RecordCollector {
 public:
  explicit RecordCollector(const std::string& name) : name_(name) {}

  // `incomplete_line`: whether the line is the last one of the text and has no newline.
  Status add_line(std::string_view line, std::size_t number, bool incomplete_line) {
    if (is_blank(line)) return Done{};
    ++lines_;
    auto parsed = parse_line(line, document_);
    if (parsed.ok()) return add_parsed(std::move(*parsed), number);
    if (incomplete_line) {
      looks_incomplete_ |= line.starts_with(kRecordStart.substr(0, line.size()));
      warn(number, "incomplete last line ignored");
      return Done{};
    }
    return salvage(line, number, parsed.error());
  }

  Result<ReportBuilder> finish() {
    if (lines_ > 0 && recognised_ == 0 && !(lines_ == 1 && looks_incomplete_)) {
      return Error{"not a result file: it contains no run record", name_,
                   "name a file that `bench run` wrote"};
    }
    if (recognised_ > 0 && !builder_.has_run())
      builder_.warn(name_ + ": no run record: the program and machine of the run are unknown");
    if (dropped_warnings_ > 0)
      builder_.warn(fmt::format("{}: {} more warnings", name_, dropped_warnings_));
    return std::move(builder_);
  }

 private:
  void warn(std::size_t number, std::string_view text) {
    if (builder_.warnings() < kMaxWarnings) {
      builder_.warn(fmt::format("{}:{}: {}", name_, number, text));
    } else {
      ++dropped_warnings_;
    }
  }

  // Adds the complete record at the end of a malformed line. Such a line occurs if the file of a
  // killed shard, which ends in an incomplete line, is concatenated with the next shard's file.
  Status salvage(std::string_view line, std::size_t number, const Error& error) {
    const std::size_t with_space = line.rfind("{\"record\": ");
    const std::size_t without_space = line.rfind("{\"record\":\"");
    std::size_t start = with_space;
    if (with_space == std::string_view::npos ||
        (without_space != std::string_view::npos && without_space > with_space))
      start = without_space;
    if (start != std::string_view::npos && start > 0) {
      auto parsed = parse_line(line.substr(start), document_);
      if (parsed.ok()) {
        warn(number, "incomplete record before another one ignored");
        return add_parsed(std::move(*parsed), number);
      }
    }
    warn(number, fmt::format("malformed record ignored: {}", error.what));
    return Done{};
  }

  Status add_parsed(Line line, std::size_t number) {
    if (auto* record = std::get_if<Record>(&line)) {
      ++recognised_;
      builder_.add(std::move(*record));
    }
    if (const auto* other = std::get_if<OtherSchema>(&line)) {
      return Error{fmt::format("schema `{}`, expected `{}`", other->schema, kResultSchema),
                   fmt::format("{}:{}", name_, number),
                   "read it with the version of bench that wrote it"};
    }
    return Done{};
  }

  const std::string& name_;
  ReportBuilder builder_;
  JsonDocument document_;       // the parsed current line
  std::size_t lines_ = 0;       // lines that are not blank
  std::size_t recognised_ = 0;  // lines that are records of a Report
  std::size_t dropped_warnings_ = 0;
  bool looks_incomplete_ = false;
};

bool is_document(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{' &&
         !text.substr(start).starts_with("{\"record\"");
}

}  // namespace

Result<ReportBuilder> parse_records(std::string_view text, const std::string& name) {
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
    BENCH_RETURN_IF_ERROR(collector.add_line(line.text, line.number, line.incomplete_line));
  return collector.finish();
}

Result<Report> parse_report(std::string_view text, const std::string& name) {
  BENCH_ASSIGN_OR_RETURN(ReportBuilder builder, parse_records(text, name));
  return std::move(builder).report();
}

namespace {

// Returns the ids of the runs that another run of the report resumed.
std::unordered_set<std::string_view> resumed_runs(const Report& report) {
  std::unordered_set<std::string_view> resumed;
  for (const RunRecord& run : report.runs) {
    if (run.resumes) resumed.insert(*run.resumes);
  }
  return resumed;
}

}  // namespace

bool has_unfinished_run(const Report& report) {
  std::unordered_set<std::string_view> ended = resumed_runs(report);
  for (const EndRecord& end : report.ends) ended.insert(end.run_id);
  return !std::ranges::all_of(report.runs,
                              [&](const RunRecord& run) { return ended.contains(run.run_id); });
}

std::int64_t count_unreached_cases(const Report& report) {
  const std::unordered_set<std::string_view> resumed = resumed_runs(report);
  std::int64_t count = 0;
  for (const EndRecord& end : report.ends) {
    // A case that the budget leaves out has a record.
    if (end.interrupted && !resumed.contains(end.run_id))
      count += std::max<std::int64_t>(end.not_measured, 0);
  }
  return count;
}

std::string beside_sentence(const std::vector<std::string>& others) {
  if (others.empty()) return "";
  return fmt::format("Times may be too long: {} of bench ran on this machine at the same time: {}.",
                     others.size() == 1 ? "another measurement" : "other measurements",
                     fmt::join(others, "; "));
}

Result<Report> read_report(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_result_text(path));
  return parse_report(text, path);
}

std::string to_json_line(const Record& record) {
  return std::visit([](const auto& kind) { return format_json(kind); }, record);
}

namespace {

// Writes a network summary as the console prints it. It is derived from the cases.
void summary_fields(JsonWriter& writer, const NetworkSummary& summary) {
  BENCH_MEMBERS(writer, summary, network, (network_id, "id", kOptional), (cache, kOptional),
                (network_time, "network_ns"));
  if (summary.layers_total > 0) {
    BENCH_MEMBERS(writer, summary, (layers_time, "layers_ns"), layers_measured, layers_total);
  }
  BENCH_MEMBERS(writer, summary, (missing, kOptional), covered_work, (lacks, kOptional), rest);
}

void document_fields(JsonWriter& writer, const Report& report) {
  writer.constant("schema", kResultSchema);
  BENCH_MEMBERS(writer, report, runs, processes, cases, (profile_passes, kOptional), ends);
  writer.list("networks", summarise_networks(report), summary_fields);
}

constexpr JsonStyle kDocumentStyle{.indent = 2};

}  // namespace

std::string to_json_document(const Report& report) {
  return json_object([&](JsonWriter& writer) { document_fields(writer, report); }, kDocumentStyle) +
         "\n";
}

std::string to_json_document(const Report& report, std::string_view profile_summary) {
  const auto summary = parse_json(profile_summary);
  return json_object(
             [&](JsonWriter& writer) {
               document_fields(writer, report);
               if (summary) writer.required("profile_summary", summary->root());
             },
             kDocumentStyle) +
         "\n";
}

}  // namespace bench
