// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/json_writer.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/analysis/small_table.hpp"
#include "profiler/analysis/table_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace bench {
namespace {

std::string describe_cost(const ProfileAudit& audit) {
  if (!audit.cost) return "; what tracing cost is unknown.";
  const bool is_all = audit.cost->extent == ProfileAudit::Cost::Extent::all;
  const double part = audit.cost->part;
  if (part < 0.001) {
    return is_all ? "; tracing cost less than 0.1 % of the time."
                  : "; the known part of tracing cost less than 0.1 % of the time.";
  }
  return fmt::format("; tracing cost {}{:.1f} % of the time.", is_all ? "" : "at least ",
                     100 * part);
}

std::string describe_completeness(const ProfileAudit& audit) {
  const auto& known = *audit.completeness;
  return fmt::format("{} of {} {}", format_with_commas(known.found),
                     format_with_commas(known.expected), known.what);
}

// Returns the first row with the verdict, and how many have it.
std::pair<const AuditRow*, std::size_t> find_rows(const ProfileAudit& audit, AuditVerdict verdict) {
  const AuditRow* first = nullptr;
  std::size_t count = 0;
  for (const AuditRow& row : audit.rows) {
    if (row.verdict != verdict) continue;
    if (first == nullptr) first = &row;
    ++count;
  }
  return {first, count};
}

std::string describe_faults(std::string_view beginning, const ProfileAudit& audit,
                            AuditVerdict verdict) {
  const auto [row, count] = find_rows(audit, verdict);
  const std::string more =
      count > 1 ? fmt::format(" ({})", pluralise(count - 1, "more check fails", "more checks fail"))
                : std::string();
  return fmt::format("{}: {}{}.", beginning, row->reason, more);
}

bool is_failing(const AuditRow& row) {
  return row.verdict == AuditVerdict::doubtful || row.verdict == AuditVerdict::broken;
}

std::string audit_table(const std::vector<AuditRow>& rows, std::optional<std::size_t> width) {
  std::vector<TextColumn> columns = {{.heading = "check"},
                                     {.heading = "expected", .align = Align::right},
                                     {.heading = "found", .align = Align::right},
                                     {.heading = "verdict"}};
  std::vector<TextRow> lines;
  for (const AuditRow& row : rows) {
    const auto text = [](const std::string& value) {
      return TextCell{value.empty() ? std::string(kUnknown) : value};
    };
    lines.push_back(
        {{{row.check}, text(row.expected), text(row.found), {std::string(to_string(row.verdict))}},
         row.reason});
  }
  constexpr std::size_t kNoLimit = 10'000;
  return render_table(columns, std::move(lines), width.value_or(kNoLimit), Colour::off);
}

std::string wrapped(const std::string& text, std::optional<std::size_t> width) {
  std::string lines = width ? wrap(text, *width, 0) : text;
  if (!lines.ends_with('\n')) lines += '\n';
  return lines;
}

std::string format_audit_table(const ProfileAudit& audit, std::optional<std::size_t> width) {
  return wrapped(describe_audit(audit), width) + "\n" + audit_table(audit.rows, width);
}

// As the rows of a query in this format.
std::string format_audit_rows(const ProfileAudit& audit, const analysis::TableFormat& format) {
  using analysis::number_only_column, analysis::Quantity, analysis::text_only_column;
  static const std::array kColumns = {text_only_column("check", "check"),
                                      number_only_column("expected", "expected", Quantity::none),
                                      number_only_column("found", "found", Quantity::none),
                                      text_only_column("verdict", "verdict"),
                                      text_only_column("reason", "reason")};
  analysis::TableShape shape;
  if (format.audience == analysis::TableFormat::Audience::people)
    shape.notes = {describe_audit(audit)};
  for (const analysis::Column& column : kColumns)
    shape.columns.push_back({&column, std::string(column.heading), 0});
  std::ostringstream out;
  const auto writer = format.make(shape, out);
  writer->begin();
  for (const AuditRow& row : audit.rows) {
    const auto cell = [](const std::string& text) {
      return text.empty() ? analysis::Cell() : analysis::Cell(text);
    };
    writer->row({cell(row.check), cell(row.expected), cell(row.found),
                 std::string(to_string(row.verdict)), cell(row.reason)});
  }
  writer->end({});
  return std::move(out).str();
}

}  // namespace

inline void fields(JsonWriter& writer, const AuditRow& row) {
  writer.required("check", row.check);
  writer.optional("expected", row.expected);
  writer.optional("found", row.found);
  writer.required("verdict", to_string(row.verdict));
  writer.optional("reason", row.reason);
}

inline void fields(JsonWriter& writer, const ProfileAudit& audit) {
  writer.required("verdict", to_string(audit.verdict()));
  writer.required("answer", describe_audit(audit));
  if (audit.cost) writer.required("tracing_cost", audit.cost->part);
  writer.required("checks", audit.rows);
}

namespace {

std::string format_audit_json(const ProfileAudit& audit, std::optional<std::size_t> /*width*/) {
  return fmt::format("{{\"audit\":{}}}\n", audit_json(audit));
}

// Formats in which an audit is more than rows.
struct AuditFormat {
  std::string_view name;
  std::string (*format)(const ProfileAudit& audit, std::optional<std::size_t> width);
};
constexpr std::array<AuditFormat, 2> kOwnFormats = {
    {{"table", format_audit_table}, {"json", format_audit_json}}};

}  // namespace

std::string audit_json(const ProfileAudit& audit) {
  return json_object([&](JsonWriter& writer) { fields(writer, audit); },
                     {.indent = 0, .reals = JsonReals::with_fraction});
}

std::string describe_audit(const ProfileAudit& audit) {
  const AuditVerdict verdict = audit.verdict();
  if (verdict == AuditVerdict::broken)
    return describe_faults("The profile is broken", audit, verdict);
  if (verdict == AuditVerdict::doubtful)
    return describe_faults("The profile is doubtful", audit, verdict);
  if (audit.completeness) {
    return fmt::format("The profile is complete: {}{}", describe_completeness(audit),
                       describe_cost(audit));
  }
  // Logs and tables of other tools have nothing that proves it. The reasons are in the whole table.
  return fmt::format(
      "No check found a fault; whether the profile is complete is unknown (--audit){}",
      audit.cost ? describe_cost(audit) : ".");
}

std::string format_verdict(const ProfileAudit& audit, std::optional<std::size_t> width) {
  std::string text = wrapped(describe_audit(audit), width);
  std::vector<AuditRow> failing;
  std::ranges::copy_if(audit.rows, std::back_inserter(failing), is_failing);
  return failing.empty() ? text : text + "\n" + audit_table(failing, width);
}

Result<std::string> format_audit(const ProfileAudit& audit, std::string_view format,
                                 std::optional<std::size_t> width) {
  BENCH_ASSIGN_OR_RETURN(const analysis::TableFormat* const chosen,
                         analysis::find_table_format(format));
  const auto* const own = std::ranges::find(kOwnFormats, format, &AuditFormat::name);
  return own != kOwnFormats.end() ? own->format(audit, width) : format_audit_rows(audit, *chosen);
}

}  // namespace bench
