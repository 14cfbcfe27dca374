// SPDX-License-Identifier: Apache-2.0
// The formats of `bench report` for the cases of a run. To add a format, write a file with its
// function and add a row to the table in format.cpp. The formats of a gate have the same names
// (gate_report.hpp).
#pragma once

#include "harness/report/case_table.hpp"
#include "harness/report/console.hpp"
#include "harness/result/report.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class LayerTimes;  // layer_table.hpp

// What a report shows: the selected cases in their final order, and facts about the complete run.
struct RunView {
  const Report& report;
  std::string name = {};  // name of the result file, only for display
  // The networks of the complete run: a selection would make the sums of layers incomplete.
  std::vector<NetworkSummary> networks = {};
  std::size_t cases_in_run = 0;  // number of cases before the selection
  CaseColumns columns = {};      // columns that the user chose; empty: the format's defaults
  enum class Rows { per_value, per_case } rows = Rows::per_value;  // lines of a CSV
  const LayerTimes* profile = nullptr;  // nullptr if the result has no profile
  // HTML documents made from the result's profile, which a page embeds. Empty if there is no
  // profile.
  std::string timeline = {};
  std::string memory = {};  // allocations over time (memory_flow.hpp); also empty if there are none
  // Files beside the result that the report links to because it does not embed them. The paths are
  // relative to the report.
  std::vector<std::string> files_beside = {};
};

struct ReportFormat {
  std::string_view name;                         // value of --format
  std::string_view suffix;                       // suffix of the output file, with its dot
  enum class Columns { chosen, fixed } columns;  // fixed: --columns does not apply
  // Only the text format uses `console`.
  std::string (*write)(const RunView& view, const ConsoleOptions& console);
  std::string_view help;  // one line
};

std::span<const ReportFormat> report_formats();

// One function per format. Each text ends in a newline.
std::string run_markdown(const RunView& view, const ConsoleOptions& console);
std::string run_csv(const RunView& view, const ConsoleOptions& console);
std::string run_junit(const RunView& view, const ConsoleOptions& console);
std::string run_google_benchmark(const RunView& view, const ConsoleOptions& console);
std::string run_open_metrics(const RunView& view, const ConsoleOptions& console);
std::string run_page(const RunView& view, const ConsoleOptions& console);

// Returns one sentence with the counts of flags and of outcomes other than ok: "58 of 61 cases have
// a time: 3 noisy, 3 skipped."
std::string run_sentence(const RunView& view);

}  // namespace bench
