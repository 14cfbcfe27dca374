// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/json_writer.hpp"
#include "base/markup.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "profiler/analysis/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
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

std::array<std::string, 5> cells_of(const AuditRow& row) {
  return {row.check, row.expected, row.found, std::string(to_string(row.verdict)), row.reason};
}

constexpr std::array<std::string_view, 5> kHeadings = {"check", "expected", "found", "verdict",
                                                       "reason"};

std::string format_audit_markdown(const ProfileAudit& audit, std::optional<std::size_t> /*width*/) {
  std::string text = escape_markdown(describe_audit(audit)) + "\n\n|";
  for (const std::string_view heading : kHeadings) text += fmt::format(" {} |", heading);
  text += "\n|---|--:|--:|---|---|\n";
  for (const AuditRow& row : audit.rows) {
    text += '|';
    for (const std::string& cell : cells_of(row))
      text += fmt::format(" {} |", escape_markdown(cell));
    text += '\n';
  }
  return text;
}

// RFC 4180.
std::string quote_csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string format_audit_csv(const ProfileAudit& audit, std::optional<std::size_t> /*width*/) {
  std::string text = fmt::format("{}\n", fmt::join(kHeadings, ","));
  for (const AuditRow& row : audit.rows) {
    std::string line;
    for (const std::string& cell : cells_of(row))
      line += (line.empty() ? "" : ",") + quote_csv(escape_controls(cell));
    text += line + "\n";
  }
  return text;
}

// A value without blanks, so that awk finds it by its number.
std::string join_words(std::string text) {
  std::ranges::replace(text, ' ', '_');
  return text.empty() ? std::string("-") : escape_controls(text);
}

std::string format_audit_space(const ProfileAudit& audit, std::optional<std::size_t> /*width*/) {
  std::string text = fmt::format("{}\n", fmt::join(kHeadings, " "));
  for (const AuditRow& row : audit.rows) {
    std::string line;
    for (const std::string& cell : cells_of(row))
      line += (line.empty() ? "" : " ") + join_words(cell);
    text += line + "\n";
  }
  return text;
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

struct AuditFormat {
  std::string_view name;
  std::string (*format)(const ProfileAudit& audit, std::optional<std::size_t> width);
};
constexpr std::array<AuditFormat, 5> kAuditFormats = {{{"table", format_audit_table},
                                                       {"space", format_audit_space},
                                                       {"csv", format_audit_csv},
                                                       {"json", format_audit_json},
                                                       {"markdown", format_audit_markdown}}};

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
  std::vector<std::string_view> names;
  for (const AuditFormat& row : kAuditFormats) {
    if (row.name == format) return row.format(audit, width);
    names.push_back(row.name);
  }
  return Error{fmt::format("unknown format {}", quote(format)), "--format",
               expectation(format, names)};
}

}  // namespace bench
