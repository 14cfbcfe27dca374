// SPDX-License-Identifier: Apache-2.0
// The cases of a run as Markdown and as CSV.
#include "base/markup.hpp"
#include "base/text.hpp"
#include "harness/report/format.hpp"
#include "harness/report/regret.hpp"
#include "harness/report/run_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bench {
namespace {

// GitHub rejects a longer step summary completely.
constexpr std::size_t kMaxMarkdownBytes = 1 << 20;
constexpr std::size_t kMarkdownReserve = 256;  // for the sentence about omitted cases

// Returns a table with the rows that fit into `max_bytes`, and how many are left out.
std::string leading_rows(const Table& table, std::size_t max_bytes) {
  std::string text = markdown_heading(table.columns);
  std::size_t shown = 0;
  for (const TableRow& row : table.rows) {
    const std::string line = markdown_row(table.columns, row);
    if (text.size() + line.size() + kMarkdownReserve > max_bytes) break;
    text += line;
    ++shown;
  }
  if (shown < table.rows.size()) {
    text += fmt::format("\n{} left out; use `--format csv` for all of them.\n",
                        pluralise(table.rows.size() - shown, "more case is", "more cases are"));
  }
  return text;
}

// Returns what the libraries' choices cost in tuned cases, with its notes. Empty if no case has
// `tune`, or if there is no space for it; a CSV has these columns too.
std::string markdown_choices(const Report& report, std::size_t max_bytes) {
  const std::vector<const CaseRecord*> tuned = find_tuned_cases(report);
  std::string below;
  if (!tuned.empty()) {
    below += fmt::format("\n{} {}\n", markdown_sentence(choice_columns_note()),
                         markdown_code(choice_command(tuned)));
  }
  const std::vector<std::string> notes = choice_notes(report);
  for (const std::string& note : notes) {
    const std::string_view gap = &note == &notes.front() ? "\n" : "";
    below += fmt::format("{}- {}\n", gap, markdown_sentence(note));
  }
  const Table table = choice_table(tuned);
  const std::size_t used = below.size() + markdown_heading(table.columns).size();
  if (below.empty() || used + kMarkdownReserve > max_bytes) return "";
  if (tuned.empty()) return below;
  return "\n" + leading_rows(table, max_bytes - below.size()) + below;
}

// Returns the unit of a column's raw values; empty for text.
std::string_view column_unit(const CaseColumn& column) {
  switch (column.quantity) {
    case analysis::Quantity::none:
      break;
    case analysis::Quantity::time:
      return "ns";
    case analysis::Quantity::flop:
      return "FLOP";
    case analysis::Quantity::flop_rate:
      return "FLOP/s";
    case analysis::Quantity::byte:
      return "B";
    case analysis::Quantity::byte_rate:
      return "B/s";
    case analysis::Quantity::share:
      return "1";
    case analysis::Quantity::ratio:
      return "FLOP/B";  // the intensity is the only ratio of two units
    case analysis::Quantity::item_rate:
      return "items/s";
  }
  return "";
}

CaseColumns all_case_columns() {
  CaseColumns columns;
  for (const CaseColumn& column : case_columns()) columns.push_back(&column);
  return columns;
}

std::string wide_csv(const CaseColumns& columns, const Report& report) {
  std::string text = csv_heading(columns) + "\n";
  for (const CaseRecord& record : report.cases) text += csv_line(columns, record) + "\n";
  return text;
}

// Returns one line per known value, a form that statistics programs can group and pivot. Each line
// repeats the columns that identify the case.
std::string long_csv(const CaseColumns& columns, const Report& report) {
  const CaseColumns identity = identity_columns();
  CaseColumns facts;
  for (const CaseColumn* column : columns) {
    if (column->role == CaseColumn::Role::fact) facts.push_back(column);
  }
  std::string text = csv_heading(identity) + ",quantity,unit,value\n";
  for (const CaseRecord& record : report.cases) {
    const std::string identity_cells = csv_line(identity, record);
    for (const CaseColumn* column : facts) {
      const CaseValue cell = column->value(record);
      if (!analysis::is_known(cell)) continue;
      text += fmt::format("{},{},{},", identity_cells, column->name, column_unit(*column));
      analysis::append_csv(cell, text);
      text += '\n';
    }
  }
  return text;
}

}  // namespace

std::string run_sentence(const RunView& view) {
  const std::vector<CaseRecord>& cases = view.report.cases;
  const auto measured = std::ranges::count_if(
      cases, [](const CaseRecord& record) { return record.time.has_value(); });
  std::map<std::string_view, std::size_t> counts;
  for (const CaseRecord& record : cases) {
    if (record.outcome != Outcome::ok) ++counts[to_string(record.outcome)];
    for (const Flag flag : record.flags) ++counts[to_string(flag)];
  }
  std::string text = fmt::format("{} of {} {} a time", measured, pluralise(cases.size(), "case"),
                                 measured == 1 ? "has" : "have");
  std::string_view separator = ": ";
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, name);
    separator = ", ";
  }
  if (view.cases_in_run > cases.size()) {
    text += fmt::format("; {} not selected",
                        pluralise(view.cases_in_run - cases.size(), "more case of the run is",
                                  "more cases of the run are"));
  }
  if (const std::int64_t unreached = count_unreached_cases(view.report); unreached > 0)
    text += fmt::format("; the run was stopped before {}", pluralise(unreached, "more case"));
  const std::string unfinished = unfinished_run_sentence(view.report);
  return text + (unfinished.empty() ? "." : ". " + unfinished);
}

std::string run_markdown(const RunView& view, const ConsoleOptions& /*console*/) {
  const CaseColumns columns =
      view.columns.empty() ? default_case_columns(view.report.cases) : view.columns;
  const std::string lead = lead_sentences(view.report);
  std::string text = fmt::format("**{}{}{}**\n\n", markdown_sentence(lead), lead.empty() ? "" : " ",
                                 markdown_sentence(run_sentence(view)));
  const auto space = [&] { return kMaxMarkdownBytes - std::min(kMaxMarkdownBytes, text.size()); };
  text += leading_rows(case_table(columns, view.report.cases), space());
  // As in the text format, the columns that the user chose are the only table.
  if (view.columns.empty()) text += markdown_choices(view.report, space());
  return text;
}

std::string run_csv(const RunView& view, const ConsoleOptions& /*console*/) {
  const CaseColumns columns = view.columns.empty() ? all_case_columns() : view.columns;
  return view.rows == RunView::Rows::per_case ? wide_csv(columns, view.report)
                                              : long_csv(columns, view.report);
}

}  // namespace bench
