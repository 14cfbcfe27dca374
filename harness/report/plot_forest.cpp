// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "harness/report/plots.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr std::size_t kMaxForestRows = 100;
constexpr double kForestRowHeight = 14;
// Each half of the axis reaches at least and at most this effect.
constexpr double kMinEffect = 0.03, kMaxEffect = 3;
// Each half has at least this fraction of the other half's length, so that the word above it fits.
constexpr double kMinHalf = 1.0 / 5;

Extent forest_extent(const std::vector<ForestRow>& rows, double delta) {
  double low = -std::max(kMinEffect, 1.5 * delta);
  double high = -low;
  for (const ForestRow& row : rows) {
    low = std::min({low, row.effect * 1.15, row.low.value_or(0) * 1.05});
    high = std::max({high, row.effect * 1.15, row.high.value_or(0) * 1.05});
  }
  low = std::max(low, -kMaxEffect);
  high = std::min(high, kMaxEffect);
  return {std::min(low, -kMinHalf * high), std::max(high, -kMinHalf * low)};
}

// Returns a sentence with the number of effects and intervals that the axis cuts. Empty if there is
// none.
std::string format_beyond_axis(const RowChart& chart) {
  const std::size_t count = count_beyond_axis(chart).marks;
  if (count == 0) return "";
  return fmt::format(
      " The axis ends at {:+.0f} %; {} beyond it and {} drawn at its end. Each mark's own text "
      "has the whole value.",
      100 * kMaxEffect,
      pluralise(count, "effect or interval reaches", "effects or intervals reach"),
      count == 1 ? "is" : "are");
}

std::string format_forest_row(const ForestRow& row) {
  std::string text = fmt::format("{}\n{}: {:+.1f} %", row.id, row.verdict, 100 * row.effect);
  if (row.low && row.high) {
    text += fmt::format(", interval {:+.1f} % to {:+.1f} %", 100 * *row.low, 100 * *row.high);
  }
  return text;
}

ChartRow make_forest_row(const ForestRow& row) {
  constexpr double kMiddle = kForestRowHeight / 2;
  Mark mark{format_forest_row(row), {}};
  if (row.low && row.high) {
    mark.shapes.push_back(
        Stroke{{*row.low, kMiddle}, {*row.high, kMiddle}, "range " + series_class(row.series)});
  }
  mark.shapes.push_back(series_symbol(row.series, {row.effect, kMiddle}, 4.5));
  return {row.id, fmt::format("{:+.1f} %", 100 * row.effect), kForestRowHeight, {std::move(mark)}};
}

RowChart make_forest_chart(const std::vector<ForestRow>& rows, double delta) {
  RowChart chart{"effects with intervals of " + pluralise(rows.size(), "case"),
                 {.values = forest_extent(rows, delta), .format_tick = format_change_tick}};
  chart.division = AxisDivision{0, "faster", "slower", delta};
  for (const ForestRow& row : rows) chart.rows.push_back(make_forest_row(row));
  shorten_ids(chart.rows);
  return chart;
}

}  // namespace

Plot forest_plot(const std::vector<ForestRow>& rows, double delta, std::size_t max_rows) {
  if (rows.empty()) {
    return make_absent_plot("forest", "Effects",
                            "No case could be compared, so there are no effects to show.");
  }
  const std::size_t count = std::min({rows.size(), max_rows, kMaxForestRows});
  const std::vector<ForestRow> shown(rows.begin(),
                                     rows.begin() + static_cast<std::ptrdiff_t>(count));
  std::string caption = fmt::format(
      "Each mark is the change of a case's time with its interval. Changes inside the grey "
      "band, +-{:.3g} %, do not count. Orange squares are slower, green triangles faster, blue "
      "circles neither, purple diamonds undecided.",
      100 * delta);
  const RowChart chart = make_forest_chart(shown, delta);
  caption += format_beyond_axis(chart);
  caption += format_left_out(rows.size() - shown.size(), "further case");
  return make_plot("forest", "Effects", caption, chart);
}

namespace {

constexpr std::size_t kMaxHistories = 60;
constexpr double kHistoryRowHeight = 40;

std::vector<double> history_medians(const BaselineHistory& history) {
  std::vector<double> medians;
  for (const BaselineRecord& record : history.records) {
    medians.push_back(median_iteration(record.measured).value_or(0));
  }
  return medians;
}

std::string format_run_point(const BaselineRecord& record, double nanoseconds) {
  std::string text = fmt::format("{}\n{}: {}, epoch {}", record.measured.id, record.time,
                                 format_time_tick(nanoseconds), record.epoch);
  if (!record.commit.empty()) text += fmt::format("\ncommit {}", record.commit);
  if (!record.reason.empty()) text += fmt::format("\n{}", record.reason);
  return text;
}

// Returns a row: runs to the right, time upwards, with a band behind every other epoch. `max_runs`:
// the largest number of runs in a row.
ChartRow make_history_row(const BaselineHistory& history, std::size_t max_runs) {
  const std::vector<double> medians = history_medians(history);
  const double middle = median(medians).value_or(1);
  const auto [lowest, highest] = std::ranges::minmax(medians);
  // Half of the smallest range that the row's height covers, so that a quiet history looks flat.
  const double min_half_range = std::max(0.05 * middle, 1e-3);
  const std::size_t offset = max_runs - medians.size();  // aligns the last runs of all rows
  Mark background;
  Curve curve{{}, "curve s0"};
  std::vector<Mark> runs;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const BaselineRecord& record = history.records[i];
    const auto x = static_cast<double>(offset + i + 1);
    if (record.epoch % 2 != 0)
      background.shapes.push_back(Bar{{x - 0.5, x + 0.5}, std::nullopt, "band"});
    curve.points.push_back({x, medians[i]});
    const bool opens_epoch = i > 0 && record.epoch != history.records[i - 1].epoch;
    runs.push_back({format_run_point(record, medians[i]),
                    {series_symbol(opens_epoch ? 3 : 0, {x, medians[i]}, 3.5)}});
  }
  background.shapes.push_back(std::move(curve));
  runs.insert(runs.begin(), std::move(background));
  const BaselineRecord& last = history.records.back();
  return {last.measured.id, format_time_tick(median_iteration(last.measured).value_or(0)),
          kHistoryRowHeight, std::move(runs),
          Extent{std::min(lowest, middle - min_half_range),
                 std::max(highest, middle + min_half_range)}};
}

// Returns the text of a tick between two runs as empty.
std::string format_run_tick(double value) {
  return value == std::floor(value) ? format_plain_tick(value) : std::string();
}

RowChart make_history_chart(const HistoryRows& histories) {
  std::size_t max_runs = 1;
  for (const BaselineHistory* history : histories)
    max_runs = std::max(max_runs, history->records.size());
  RowChart chart{"stored runs of " + pluralise(histories.size(), "case"),
                 {.title = "stored runs, the latest at the right",
                  .values = {0.5, static_cast<double>(max_runs) + 0.5},
                  .format_tick = format_run_tick}};
  for (const BaselineHistory* history : histories)
    chart.rows.push_back(make_history_row(*history, max_runs));
  shorten_ids(chart.rows);
  return chart;
}

}  // namespace

Plot history_plot(const HistoryRows& histories, std::size_t max_rows) {
  HistoryRows shown;
  std::size_t with_runs = 0;
  for (const BaselineHistory* history : histories) {
    if (history->records.empty()) continue;
    ++with_runs;
    if (shown.size() < std::min(max_rows, kMaxHistories)) shown.push_back(history);
  }
  if (shown.empty()) {
    return make_absent_plot("history", "History",
                            "The store has no runs; `bench baseline save` adds one.");
  }
  std::string caption =
      "Each row is a case; each mark is an accepted run, slower runs higher, with at least "
      "+-5 % from top to bottom. Grey stripes separate epochs; a purple diamond opens an epoch.";
  caption += format_left_out(with_runs - shown.size(), "further case");
  return make_plot("history", "History", caption, make_history_chart(shown));
}

}  // namespace bench
