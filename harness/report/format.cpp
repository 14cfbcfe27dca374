// SPDX-License-Identifier: Apache-2.0
// table: one row per format
#include "harness/report/format.hpp"

#include "harness/report/console.hpp"
#include "harness/report/page.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

std::string write_chosen_columns(const RunView& view, const ConsoleOptions& console) {
  // The user chose the columns, so the table omits none. Only the id may be cut.
  Table table = case_table(view.columns, view.report.cases);
  for (TableColumn& column : table.columns) {
    if (column.kind == ColumnKind::id) column = {column.heading, ColumnKind::text, 30};
  }
  return text_table(table, console.width, console.colour);
}

std::string format_run_text(const RunView& view, const ConsoleOptions& console) {
  if (!view.columns.empty()) return write_chosen_columns(view, console);
  if (view.report.cases.size() == view.cases_in_run) return console_report(view.report, console);
  const std::string networks = console_networks(view.networks, console);
  return console_table(view.report, console) + (networks.empty() ? "" : "\n" + networks);
}

std::string write_json(const RunView& view, const ConsoleOptions&) {
  return to_json_document(view.report);
}

using enum ReportFormat::Columns;

constexpr std::array<ReportFormat, 8> kFormats = {{
    {"json", ".json", fixed, write_json, "all records as one JSON document"},
    {"text", ".txt", chosen, format_run_text, "the tables that `run` prints"},
    {"html", ".html", chosen, run_page, "a page with tables and plots for any browser"},
    {"md", ".md", chosen, run_markdown, "Markdown for a comment or a step summary"},
    {"csv", ".csv", chosen, run_csv, "one line per value, with --wide one line per case"},
    {"xml", ".xml", fixed, run_junit, "JUnit for a CI server: one test per case"},
    {"gbench", ".gbench.json", fixed, run_google_benchmark, "Google Benchmark's JSON"},
    {"prom", ".prom", fixed, run_open_metrics, "OpenMetrics for Prometheus and GitLab"},
}};

constexpr std::array<GateFormat, 8> kGateFormats = {{
    {"json", "gate.json", gate_json},
    {"md", "gate.md", gate_markdown},
    {"csv", "gate.csv", gate_csv},
    {"xml", "gate.xml", gate_junit},
    {"prom", "gate.prom", gate_open_metrics},
    {"html", "gate.html", gate_page},
    {"gbench", "base.gbench.json", gate_google_benchmark_base},
    {"gbench", "candidate.gbench.json", gate_google_benchmark_candidate},
}};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

std::span<const GateFormat> gate_formats() { return kGateFormats; }

const GateFormat* find_gate_format(std::string_view name) {
  const auto found = std::find_if(kGateFormats.rbegin(), kGateFormats.rend(),
                                  [&](const GateFormat& format) { return format.name == name; });
  return found == kGateFormats.rend() ? nullptr : &*found;
}

}  // namespace bench
