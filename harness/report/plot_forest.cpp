// SPDX-License-Identifier: Apache-2.0
#include "harness/report/plots.hpp"
#include "harness/report/short_id.hpp"
#include "harness/stats/median.hpp"

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
std::string format_beyond_axis(const std::vector<ForestRow>& rows, double delta) {
  const Extent axis = forest_extent(rows, delta);
  const auto is_beyond = [&](const ForestRow& row) {
    const auto [low, high] =
        std::minmax({row.effect, row.low.value_or(row.effect), row.high.value_or(row.effect)});
    return low < axis.low || high > axis.high;
  };
  const auto count = std::ranges::count_if(rows, is_beyond);
  if (count == 0) return "";
  return fmt::format(
      " The axis ends at {:+.0f} %; {} beyond it and {} drawn at its end. Each mark's own text "
      "has the whole value.",
      100 * kMaxEffect,
      count == 1 ? "1 effect or interval reaches"
                 : fmt::format("{} effects or intervals reach", count),
      count == 1 ? "is" : "are");
}

std::string format_forest_row(const ForestRow& row) {
  std::string text = fmt::format("{}\n{}: {:+.1f} %", row.id, row.verdict, 100 * row.effect);
  if (row.low && row.high) {
    text += fmt::format(", interval {:+.1f} % to {:+.1f} %", 100 * *row.low, 100 * *row.high);
  }
  return text;
}

std::string draw_forest(const std::vector<ForestRow>& rows, double delta, double width) {
  std::vector<std::string_view> names;
  for (const ForestRow& row : rows) names.push_back(row.id);
  const IdShortener ids(names);
  RowChart::Shape shape;
  shape.row_heights.assign(rows.size(), kForestRowHeight);
  shape.values = forest_extent(rows, delta);
  shape.format_tick = format_change_tick;
  RowChart chart(width, shape, fmt::format("effects with intervals of {} cases", rows.size()));
  chart.draw_directions(0, "faster", "slower");
  const double bottom = chart.top(rows.size() - 1) + kForestRowHeight;
  const double begin = chart.x().position(-delta);
  chart.svg().rect({begin, 36}, {chart.x().position(delta) - begin, bottom - 34}, "band");
  chart.svg().line({chart.x().position(0), 34}, {chart.x().position(0), bottom}, "axis");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ForestRow& row = rows[i];
    chart.draw_label(i, ids.shortest(row.id), fmt::format("{:+.1f} %", 100 * row.effect));
    const double y = chart.middle(i);
    chart.svg().open_mark(format_forest_row(row));
    if (row.low && row.high) {
      chart.draw_range(y, {*row.low, *row.high}, "range " + series_class(row.series));
    }
    chart.svg().marker(series_marker(row.series), {chart.x().position(row.effect), y}, 4.5,
                       series_class(row.series));
    chart.svg().close_mark();
  }
  return std::move(chart).finish();
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
  caption += format_beyond_axis(shown, delta);
  caption += format_left_out(rows.size() - shown.size(), "further case");
  return make_plot("forest", "Effects", caption,
                   [&](double width) { return draw_forest(shown, delta, width); });
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

// Draws one row: runs to the right, time upwards, with a band behind every other epoch. `max_runs`:
// the largest number of runs in a row.
void draw_history(RowChart& chart, std::size_t row, const BaselineHistory& history,
                  std::size_t max_runs) {
  const std::vector<double> medians = history_medians(history);
  const double middle = median(medians).value_or(1);
  const auto [lowest, highest] = std::ranges::minmax(medians);
  // Half of the smallest range that the row's height covers, so that a quiet history looks flat.
  const double min_half_range = std::max(0.05 * middle, 1e-3);
  const Scale y(
      Scale::Kind::linear,
      {std::min(lowest, middle - min_half_range), std::max(highest, middle + min_half_range)},
      {chart.top(row) + kHistoryRowHeight - 5, chart.top(row) + 5});
  const double step = chart.x().position(2) - chart.x().position(1);
  std::string points;
  const std::size_t offset = max_runs - medians.size();  // aligns the last runs of all rows
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const double x = chart.x().position(static_cast<double>(offset + i + 1));
    if (history.records[i].epoch % 2 != 0) {
      chart.svg().rect({x - step / 2, chart.top(row)}, {step, kHistoryRowHeight}, "band");
    }
    points += svg_point({x, y.position(medians[i])});
  }
  chart.svg().polyline(points, "curve s0");
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const BaselineRecord& record = history.records[i];
    const bool opens_epoch = i > 0 && record.epoch != history.records[i - 1].epoch;
    const std::size_t series = opens_epoch ? 3 : 0;
    chart.svg().open_mark(format_run_point(record, medians[i]));
    chart.svg().marker(
        series_marker(series),
        {chart.x().position(static_cast<double>(offset + i + 1)), y.position(medians[i])}, 3.5,
        series_class(series));
    chart.svg().close_mark();
  }
}

std::string draw_histories(const HistoryRows& histories, double width) {
  std::size_t max_runs = 1;
  std::vector<std::string_view> names;
  for (const BaselineHistory* history : histories) {
    max_runs = std::max(max_runs, history->records.size());
    names.push_back(history->records.back().measured.id);
  }
  const IdShortener ids(names);
  RowChart::Shape shape;
  shape.row_heights.assign(histories.size(), kHistoryRowHeight);
  shape.values = {0.5, static_cast<double>(max_runs) + 0.5};
  shape.format_tick = [](double value) {
    return value == std::floor(value) ? format_plain_tick(value) : std::string();
  };
  shape.axis = "stored runs, the latest at the right";
  RowChart chart(width, shape, fmt::format("stored runs of {} cases", histories.size()));
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const BaselineRecord& last = histories[i]->records.back();
    chart.draw_label(i, ids.shortest(last.measured.id),
                     format_time_tick(median_iteration(last.measured).value_or(0)));
    draw_history(chart, i, *histories[i], max_runs);
  }
  return std::move(chart).finish();
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
  return make_plot("history", "History", caption,
                   [&](double width) { return draw_histories(shown, width); });
}

}  // namespace bench
