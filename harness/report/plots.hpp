// SPDX-License-Identifier: Apache-2.0
// The plots of reports. Pure functions: each draws its picture in two widths, one for a screen and
// one for a phone. A plot without data says in one sentence why.
#pragma once

#include "harness/judge/comparison.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/svg.hpp"
#include "harness/store/baseline_file.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Plot {
  std::string name;     // name of its file: "roofline"
  std::string title;    // heading
  std::string caption;  // how to read it
  std::string wide, narrow;
  std::string absent;  // why there is no picture; empty if there is one
};

inline constexpr double kWidePlot = 880;
inline constexpr double kNarrowPlot = 340;

// Returns " 3 more cases are not drawn." for the end of a caption; empty if none is left out.
std::string format_left_out(std::size_t count, std::string_view kind);

using DrawPlot = std::function<std::string(double width)>;
Plot make_plot(std::string name, std::string title, std::string caption, const DrawPlot& draw);
Plot absent_plot(std::string name, std::string title, std::string reason);

// Rows with a label each and one common horizontal axis. Narrow charts put the label above its row.
class RowChart {
 public:
  struct Shape {
    std::size_t rows = 0;
    double row_height = 14;  // height of the marks, without the label
    Scale::Kind kind = Scale::Kind::linear;
    Extent values;
    std::string (*tick)(double value) = plain_tick;
    std::string axis = {};  // what the axis shows
  };
  RowChart(double width, const Shape& shape, std::string_view label);

  Svg& svg() { return svg_; }
  const Scale& x() const { return x_; }
  double top(std::size_t row) const;
  double middle(std::size_t row) const { return top(row) + height_ / 2; }
  // Writes `value` at the right end. Long labels are cut in the middle.
  void label(std::size_t row, std::string_view text, std::string_view value);
  // A horizontal range, cut at the edges of the axis.
  void range(double y, Extent values, std::string_view classes);
  std::string finish() &&;

 private:
  double width_, height_, pitch_, label_width_;
  bool is_narrow_;
  Svg svg_;
  Scale x_;
};

// Draws grid, ticks and titles of two axes.
struct AxisTitle {
  std::string text;
  std::string (*tick)(double value);
  std::vector<double> ticks = {};  // empty: round values
};
void draw_axes(Svg& svg, const Scale& x, const Scale& y, const AxisTitle& across,
               const AxisTitle& upwards);

// All plots of a run, in the order of the page. Never empty: absent plots are in it, too.
std::vector<Plot> run_plots(const RunView& view);
std::vector<Plot> gate_plots(const GateFile& gate);
std::vector<Plot> comparison_plots(const Comparison& comparison);
std::vector<Plot> history_plots(const std::vector<BaselineHistory>& histories);

Plot roofline_plot(const std::vector<CaseRecord>& cases);
Plot layers_plot(const NetworkSummary& network, const std::vector<CaseRecord>& cases);
Plot samples_plot(const Report& report);
// One plot per parameter that the cases sweep.
std::vector<Plot> sweep_plots(const std::vector<CaseRecord>& cases);
Plot profile_plot(std::string name, std::string title, const std::vector<TimeRow>& rows);

// One row of a forest plot: an effect with its interval, as fractions of the base's time.
struct ForestRow {
  std::string id;
  std::string verdict;
  std::size_t series = 0;  // colour and shape of the verdict
  double effect = 0;
  std::optional<double> low, high;
};
Plot forest_plot(const std::vector<ForestRow>& rows, double delta);

// Times of both sides of a case, in nanoseconds per iteration.
struct SidesRow {
  std::string id;
  std::vector<double> base, candidate;
};
Plot sides_plot(const std::vector<SidesRow>& rows, std::string_view unit);

Plot history_plot(const std::vector<BaselineHistory>& histories);

}  // namespace bench
