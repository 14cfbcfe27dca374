// SPDX-License-Identifier: Apache-2.0
// Distributions of samples: over the processes of each case of a run, and over both sides of each
// case of a comparison.
#include "base/text.hpp"
#include "harness/report/plots.hpp"
#include "harness/result/speed.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace bench {
namespace {

constexpr std::size_t kMaxDistributions = 60;
constexpr std::size_t kMaxShownProcesses = 12;
constexpr double kProcessHeight = 5;
// Minimum and maximum length of each half of the axis, as fractions of the median. The maximum
// keeps rare outliers from compressing all other marks.
constexpr double kMinSpread = 0.03, kMaxSpread = 0.6;
// The axis reaches this much beyond the outermost mark that it must contain.
constexpr double kSpreadMargin = 1.1;

// The rows of samples_plot(), those of the cases with the longest median times first.
struct SampleRows {
  std::vector<ChartRow> rows;
  std::size_t left_out = 0;         // number of other cases with a time
  bool has_more_processes = false;  // whether a case has more processes than its row shows
};

// `y`: the middle of the line in its row.
Mark make_process_mark(const CaseRecord& record, const CountedSamples& counted, double y) {
  const ProcessRecord& process = *counted.process;
  const auto case_median = static_cast<double>(record.time->median.count());
  std::vector<double> times;  // relative to the median of the case: -0.02 is 2 % faster
  for (const Nanoseconds sample : counted.samples) {
    times.push_back(static_cast<double>(sample.count()) /
                        static_cast<double>(process.iterations_per_sample) / case_median -
                    1);
  }
  const auto at = [&](double fraction) { return *quantile(times, fraction); };
  return {fmt::format("{}\nprocess {}: median {}, quartiles {} and {}, {}", record.id,
                      process.process, format_change_tick(at(0.5)), format_change_tick(at(0.25)),
                      format_change_tick(at(0.75)), pluralise(times.size(), "sample")),
          {Stroke{{at(0.05), y}, {at(0.95), y}, "range s0 light"},
           Stroke{{at(0.25), y}, {at(0.75), y}, "box s0"},
           Symbol{Marker::circle, {at(0.5), y}, 2.5, "s1"}}};
}

// Returns the row of a case: its samples at the speed at which its time is stated.
ChartRow make_sample_row(const CaseRecord& record,
                         const std::vector<const ProcessRecord*>& processes) {
  auto at_level = record.time->at ? samples_at(processes, record.time->at->canary) : std::nullopt;
  const std::vector<CountedSamples> counted =
      at_level ? std::move(at_level->counted) : all_samples(processes);
  ChartRow row{record.id, format_time(record.time->median)};
  for (const CountedSamples& samples : counted) {
    if (row.marks.size() == kMaxShownProcesses) break;
    row.marks.push_back(make_process_mark(record, samples, row.height + kProcessHeight / 2));
    row.height += kProcessHeight;
  }
  return row;
}

// Ignores processes without a valid number of iterations.
SampleRows make_sample_rows(const Report& report) {
  std::vector<const CaseRecord*> timed;
  for (const CaseRecord& record : report.cases) {
    if (record.time && record.time->median.count() > 0) timed.push_back(&record);
  }
  std::ranges::stable_sort(timed, [](const CaseRecord* a, const CaseRecord* b) {
    return a->time->median > b->time->median;
  });
  SampleRows result;
  result.left_out = timed.size() - std::min(timed.size(), kMaxDistributions);
  timed.resize(timed.size() - result.left_out);
  std::map<std::string_view, std::vector<const ProcessRecord*>> processes;
  for (const CaseRecord* record : timed) processes[record->id];
  for (const ProcessRecord& process : report.processes) {
    const auto found = processes.find(process.id);
    const bool is_valid = process.iterations_per_sample > 0 && !process.samples.empty();
    if (found != processes.end() && is_valid) found->second.push_back(&process);
  }
  for (const CaseRecord* record : timed) {
    ChartRow row = make_sample_row(*record, processes[record->id]);
    if (row.marks.empty()) continue;
    if (processes[record->id].size() > row.marks.size()) result.has_more_processes = true;
    result.rows.push_back(std::move(row));
  }
  shorten_ids(result.rows);
  return result;
}

// Returns an axis that covers 95 % of `lows` and 95 % of `highs`, within kMinSpread and kMaxSpread.
Extent find_extent(const std::vector<double>& lows, const std::vector<double>& highs) {
  const double low = quantile(lows, 0.05).value_or(0);
  const double high = quantile(highs, 0.95).value_or(0);
  return {-std::clamp(-low * kSpreadMargin, kMinSpread, kMaxSpread),
          std::clamp(high * kSpreadMargin, kMinSpread, kMaxSpread)};
}

// Returns the end of a caption: " The axis ends at -3 % and +60 %; 2 of the times reach beyond it
// and are drawn at its end." Empty if `count` is 0.
std::string format_clipped(const RowChart& chart, std::size_t count, std::string_view kind) {
  if (count == 0) return "";
  return fmt::format(
      " The axis ends at {:+.3g} % and {:+.3g} %; {} of the {} {} beyond it and {} drawn at its "
      "end.",
      100 * chart.x.values.low, 100 * chart.x.values.high, count, kind,
      count == 1 ? "reaches" : "reach", count == 1 ? "is" : "are");
}

RowChart make_samples_chart(std::vector<ChartRow> rows) {
  RowChart chart{
      "distributions of the samples of " + pluralise(rows.size(), "case"),
      {.title = "time relative to the median of the case", .format_tick = format_change_tick},
      std::move(rows)};
  std::vector<double> lows, highs;
  for (const ChartRow& row : chart.rows) {
    for (const Mark& mark : row.marks) {
      const Extent extent = mark_extent(mark);
      lows.push_back(extent.low);
      highs.push_back(extent.high);
    }
  }
  chart.x.values = find_extent(lows, highs);
  return chart;
}

// How the plot shows one side of a comparison.
struct SideStyle {
  std::string_view name;
  std::size_t series;
  const std::vector<double> SidesRow::*times;
};
constexpr std::array<SideStyle, 2> kSideStyles = {
    {{"base", 0, &SidesRow::base}, {"candidate", 1, &SidesRow::candidate}}};

// Returns an axis that contains the medians of all rows, and usually their times.
Extent find_sides_extent(const std::vector<SidesRow>& rows) {
  std::vector<double> lows, highs;
  Extent medians{0, 0};
  for (const SidesRow& row : rows) {
    const double middle = median(row.base).value_or(1);
    const double after = median(row.candidate).value_or(middle) / middle - 1;
    medians = {std::min(medians.low, after), std::max(medians.high, after)};
    for (const SideStyle& side : kSideStyles) {
      for (const double time : row.*side.times) {
        lows.push_back(std::min(0.0, time / middle - 1));
        highs.push_back(std::max(0.0, time / middle - 1));
      }
    }
  }
  const Extent times = find_extent(lows, highs);
  return {std::min(times.low, kSpreadMargin * medians.low),
          std::max(times.high, kSpreadMargin * medians.high)};
}

// `middle`: the median of the base.
Mark make_side_mark(const SidesRow& row, const SideStyle& side, double middle,
                    std::string_view unit) {
  const std::vector<double>& times = row.*side.times;
  const auto own_median = median(times);
  const double y = 5 + 9 * static_cast<double>(side.series);
  Mark mark{fmt::format("{}\n{}: median {} of {} {}", row.id, side.name,
                        format_time_tick(own_median.value_or(0)), times.size(), unit),
            {}};
  for (const double time : times) {
    mark.shapes.push_back(Symbol{series_marker(side.series),
                                 {time / middle - 1, y},
                                 3,
                                 series_class(side.series) + " light"});
  }
  const double change = own_median.value_or(middle) / middle - 1;
  mark.shapes.push_back(Bar{{change, change}, Extent{y - 5, y + 5}, "ideal", {2, 0}});
  return mark;
}

RowChart make_sides_chart(const std::vector<SidesRow>& rows, std::string_view unit) {
  constexpr double kSidesHeight = 18;
  RowChart chart{"times of base and candidate of " + pluralise(rows.size(), "case"),
                 {.title = "time relative to the base's median",
                  .values = find_sides_extent(rows),
                  .format_tick = format_change_tick}};
  for (const SidesRow& sides : rows) {
    const double middle = median(sides.base).value_or(1);
    const double after = median(sides.candidate).value_or(middle);
    ChartRow row{sides.id, fmt::format("{:+.1f} %", 100 * (after / middle - 1)), kSidesHeight};
    for (const SideStyle& side : kSideStyles)
      row.marks.push_back(make_side_mark(sides, side, middle, unit));
    chart.rows.push_back(std::move(row));
  }
  shorten_ids(chart.rows);
  return chart;
}

}  // namespace

Plot samples_plot(const Report& report) {
  const SampleRows shown = make_sample_rows(report);
  if (shown.rows.empty()) {
    return make_absent_plot("samples", "Samples over processes",
                            "No case has samples, so there is no distribution to show.");
  }
  std::string caption =
      "One line per process: the thin line spans 5 % to 95 % of its samples, the thick one the "
      "quartiles, the dot is its median. Samples are shown as long as they would have been at the "
      "speed of the machine at which the time at the right is stated. Lines of a case that do not "
      "overlap mean that processes differ.";
  const RowChart chart = make_samples_chart(shown.rows);
  caption += format_clipped(chart, count_beyond_axis(chart).marks, "lines");
  caption += " The longest cases come first; --filter selects others.";
  if (shown.has_more_processes)
    caption += fmt::format(" Only the first {} processes of a case are drawn.", kMaxShownProcesses);
  caption += format_left_out(shown.left_out, "shorter case");
  return make_plot("samples", "Samples over processes", caption, chart);
}

Plot sides_plot(const std::vector<SidesRow>& rows, std::string_view unit) {
  std::vector<SidesRow> shown;
  for (const SidesRow& row : rows) {
    const bool is_complete = !row.base.empty() && !row.candidate.empty();
    if (is_complete && median(row.base) > 0) shown.push_back(row);
  }
  const std::size_t left_out = shown.size() - std::min(shown.size(), kMaxDistributions);
  shown.resize(shown.size() - left_out);
  if (shown.empty()) {
    return make_absent_plot(
        "sides", "Base and candidate",
        "No case has times on both sides, so there are no distributions to show.");
  }
  const RowChart chart = make_sides_chart(shown, unit);
  return make_plot(
      "sides", "Base and candidate",
      fmt::format(
          "Blue circles are {} of the base, orange squares of the candidate; the dark ticks "
          "are their medians.{}{}",
          unit, format_clipped(chart, count_beyond_axis(chart).shapes, unit),
          format_left_out(left_out, "further case")),
      chart);
}

}  // namespace bench
