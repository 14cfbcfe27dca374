// SPDX-License-Identifier: Apache-2.0
// The plots of reports. Pure functions: each draws its picture in two widths, one for a screen and
// one for a phone. A plot without data has a sentence with the reason instead.
#pragma once

#include "base/chart.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/layer_table.hpp"
#include "harness/store/baseline_file.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Plot {
  std::string name;          // name of its file: "roofline"
  std::string title;         // heading
  std::string caption;       // how to read it
  std::string wide, narrow;  // the picture as SVG in two widths
  std::string absent;        // why there is no picture; empty if there is one
};

// Widths of the pictures in SVG units.
inline constexpr double kWidePlot = 880;
inline constexpr double kNarrowPlot = 340;

// Returns the end of a caption: " 3 further cases are not drawn." for the kind "further case".
// Empty if `count` is 0.
std::string format_left_out(std::size_t count, std::string_view kind);

// Shortens the labels of rows, which are ids of cases, to their shortest forms.
void shorten_ids(std::vector<ChartRow>& rows);

// Returns the picture as SVG with this width.
using DrawPlot = std::function<std::string(double width)>;
Plot make_plot(std::string name, std::string title, std::string caption, const DrawPlot& draw);
Plot make_plot(std::string name, std::string title, std::string caption, const RowChart& chart);
Plot make_plot(std::string name, std::string title, std::string caption, const PlaneChart& chart);
// Makes a plot without a picture.
Plot make_absent_plot(std::string name, std::string title, std::string reason);

// Returns all plots of a run, in the order of the page. Never empty, since plots without a picture
// are included.
std::vector<Plot> run_plots(const RunView& view);
std::vector<Plot> gate_plots(const GateFile& gate);
std::vector<Plot> comparison_plots(const Comparison& comparison);
std::vector<Plot> history_plots(const std::vector<BaselineHistory>& histories);

// The most rows of a picture that opens a page, so that the findings are on the first screen, too.
inline constexpr std::size_t kMaxOpeningRows = 12;
inline constexpr std::size_t kAllRows = std::numeric_limits<std::size_t>::max();

// The time of each case of a sum over the run (case_sum.hpp), the longest first, with its ceiling.
Plot cases_plot(const Report& report);
Plot roofline_plot(const std::vector<CaseRecord>& cases);
Plot layers_plot(const NetworkSummary& network);
Plot samples_plot(const Report& report);
// The throughput and the latency of networks and of cases with streams: two plots against `streams`
// and two against `batch`, each if cases differ in that parameter alone. May be empty.
std::vector<Plot> serving_plots(const std::vector<CaseRecord>& cases);
// One plot per parameter that the cases sweep.
std::vector<Plot> sweep_plots(const std::vector<CaseRecord>& cases);
// `unit`: what a row is, for the caption: "layer".
Plot profile_plot(std::string name, std::string title, const std::vector<LayerRow>& rows,
                  std::string_view unit);

// A part of a whole: its time and its share.
struct ShareRow {
  std::string name;
  Nanoseconds time{0};
  std::optional<double> share;
};
// Bars of the first rows. The end of the caption says how many more there are.
Plot shares_plot(std::string name, std::string title, std::string caption,
                 const std::vector<ShareRow>& rows);

// One row of a forest plot: an effect with its interval, as fractions of the base's time.
struct ForestRow {
  std::string id;
  std::string verdict;
  std::size_t series = 0;  // colour and shape of the verdict
  double effect = 0;
  std::optional<double> low, high;
};
// `delta`: effects within +-delta do not count; the plot marks this range. `max_rows`: the most
// rows to draw, the first ones.
Plot forest_plot(const std::vector<ForestRow>& rows, double delta, std::size_t max_rows = kAllRows);

// Times of both sides of a case, in nanoseconds per iteration.
struct SidesRow {
  std::string id;
  std::vector<double> base, candidate;
};
// `unit`: what a time is, for the caption: "medians of duets".
Plot sides_plot(const std::vector<SidesRow>& rows, std::string_view unit);

// `histories`: the rows in their order.
using HistoryRows = std::vector<const BaselineHistory*>;
Plot history_plot(const HistoryRows& histories, std::size_t max_rows = kAllRows);

}  // namespace bench
