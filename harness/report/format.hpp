// SPDX-License-Identifier: Apache-2.0
// The formats of `bench report`, for the cases of a run and for a gate, which have the same names.
// To add a format, write a file with its functions and add its rows to the two tables in
// format.cpp.
#pragma once

#include "harness/report/case_table.hpp"
#include "harness/report/console.hpp"
#include "harness/report/gate_report.hpp"
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

// A format of the files that every gate writes into its folder.
struct GateFormat {
  std::string_view name;  // value of --format of `bench report`
  std::string_view file;  // "gate.md"
  std::string (*write)(const GateFile& gate, const KitPaths& kits);
};
std::span<const GateFormat> gate_formats();
// Returns the format with this name, or nullptr. For Google Benchmark, which has two files, returns
// the candidate's.
const GateFormat* find_gate_format(std::string_view name);

std::string gate_json(const GateFile& gate, const KitPaths& kits);
std::string gate_markdown(const GateFile& gate, const KitPaths& kits);
std::string gate_csv(const GateFile& gate, const KitPaths& kits);
std::string gate_junit(const GateFile& gate, const KitPaths& kits);
std::string gate_open_metrics(const GateFile& gate, const KitPaths& kits);
// Google Benchmark's schema for its compare.py: one file per side.
std::string gate_google_benchmark_base(const GateFile& gate, const KitPaths& kits);
std::string gate_google_benchmark_candidate(const GateFile& gate, const KitPaths& kits);

// Returns one sentence with the counts of flags and of outcomes other than ok: "58 of 61 cases have
// a time: 3 noisy, 3 skipped."
std::string run_sentence(const RunView& view);

}  // namespace bench
