// SPDX-License-Identifier: Apache-2.0
// Distributions of samples: over the processes of each case of a run, and over both sides of each
// case of a comparison.
#include "base/text.hpp"
#include "harness/report/plots.hpp"
#include "harness/result/speed.hpp"
#include "harness/stats/median.hpp"

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

// Quantiles of one process relative to the median of its case: -0.02 is 2 % faster.
struct ProcessBox {
  int process = 0;
  std::size_t samples = 0;
  double q5 = 0, q25 = 0, q50 = 0, q75 = 0, q95 = 0;
};

// The boxes of one case.
struct CaseBoxes {
  const CaseRecord* record = nullptr;
  std::vector<ProcessBox> boxes;  // at most kMaxShownProcesses
  std::size_t processes = 0;      // number of processes with samples
};

// The cases that samples_plot() shows, and the number of other cases with a time.
struct ShownCases {
  std::vector<CaseBoxes> cases;
  std::size_t left_out = 0;
};

// `case_median`: nanoseconds per iteration.
ProcessBox make_process_box(const CountedSamples& counted, double case_median) {
  const ProcessRecord& process = *counted.process;
  std::vector<double> times;
  for (const Nanoseconds sample : counted.samples) {
    times.push_back(static_cast<double>(sample.count()) /
                        static_cast<double>(process.iterations_per_sample) / case_median -
                    1);
  }
  return {process.process,        times.size(),          *quantile(times, 0.05),
          *quantile(times, 0.25), *quantile(times, 0.5), *quantile(times, 0.75),
          *quantile(times, 0.95)};
}

// Returns the boxes of a case: its samples at the speed at which its time is stated. Ignores
// processes without a valid number of iterations.
CaseBoxes make_case_boxes(const CaseRecord& record, std::vector<const ProcessRecord*> processes) {
  std::erase_if(processes, [](const ProcessRecord* process) {
    return process->iterations_per_sample <= 0 || process->samples.empty();
  });
  auto at_level = record.time->at ? samples_at(processes, record.time->at->canary) : std::nullopt;
  const std::vector<CountedSamples> counted =
      at_level ? std::move(at_level->counted) : all_samples(processes);
  const auto case_median = static_cast<double>(record.time->median.count());
  CaseBoxes entry{&record, {}, processes.size()};
  for (const CountedSamples& samples : counted)
    entry.boxes.push_back(make_process_box(samples, case_median));
  if (entry.boxes.size() > kMaxShownProcesses) entry.boxes.resize(kMaxShownProcesses);
  return entry;
}

// Returns the cases with the longest median times, longest first.
ShownCases collect_case_boxes(const Report& report) {
  std::vector<const CaseRecord*> timed;
  for (const CaseRecord& record : report.cases) {
    if (record.time && record.time->median.count() > 0) timed.push_back(&record);
  }
  std::ranges::stable_sort(timed, [](const CaseRecord* a, const CaseRecord* b) {
    return a->time->median > b->time->median;
  });
  const std::size_t left_out = timed.size() - std::min(timed.size(), kMaxDistributions);
  timed.resize(timed.size() - left_out);
  std::map<std::string_view, std::vector<const ProcessRecord*>> processes;
  for (const CaseRecord* record : timed) processes[record->id];
  for (const ProcessRecord& process : report.processes) {
    const auto found = processes.find(process.id);
    if (found != processes.end()) found->second.push_back(&process);
  }
  std::vector<CaseBoxes> all;
  for (const CaseRecord* record : timed) {
    CaseBoxes entry = make_case_boxes(*record, processes[record->id]);
    if (!entry.boxes.empty()) all.push_back(std::move(entry));
  }
  return {std::move(all), left_out};
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

Extent find_box_extent(const std::vector<CaseBoxes>& all) {
  std::vector<double> lows, highs;
  for (const CaseBoxes& entry : all) {
    for (const ProcessBox& box : entry.boxes) {
      lows.push_back(box.q5);
      highs.push_back(box.q95);
    }
  }
  return find_extent(lows, highs);
}

std::string format_box(const CaseRecord& record, const ProcessBox& box) {
  return fmt::format("{}\nprocess {}: median {}, quartiles {} and {}, {} samples", record.id,
                     box.process, format_change_tick(box.q50), format_change_tick(box.q25),
                     format_change_tick(box.q75), box.samples);
}

// `y`: the middle of the line in its row.
Mark make_box_mark(const CaseRecord& record, const ProcessBox& box, double y) {
  return {format_box(record, box),
          {Stroke{{box.q5, y}, {box.q95, y}, "range s0 light"},
           Stroke{{box.q25, y}, {box.q75, y}, "box s0"},
           Symbol{Marker::circle, {box.q50, y}, 2.5, "s1"}}};
}

ChartRow make_boxes_row(const CaseBoxes& entry) {
  ChartRow row{entry.record->id, format_time(entry.record->time->median)};
  for (const ProcessBox& box : entry.boxes) {
    row.marks.push_back(make_box_mark(*entry.record, box, row.height + kProcessHeight / 2));
    row.height += kProcessHeight;
  }
  return row;
}

RowChart make_samples_chart(const std::vector<CaseBoxes>& all) {
  RowChart chart{fmt::format("distributions of the samples of {} cases", all.size()),
                 {.title = "time relative to the median of the case",
                  .values = find_box_extent(all),
                  .format_tick = format_change_tick}};
  for (const CaseBoxes& entry : all) chart.rows.push_back(make_boxes_row(entry));
  shorten_ids(chart.rows);
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
  RowChart chart{fmt::format("times of base and candidate of {} cases", rows.size()),
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
  const auto [all, left_out] = collect_case_boxes(report);
  if (all.empty()) {
    return make_absent_plot("samples", "Samples over processes",
                            "No case has samples, so there is no distribution to show.");
  }
  std::string caption =
      "One line per process: the thin line spans 5 % to 95 % of its samples, the thick one the "
      "quartiles, the dot is its median. Samples are shown as long as they would have been at the "
      "speed of the machine at which the time at the right is stated. Lines of a case that do not "
      "overlap mean that processes differ.";
  const RowChart chart = make_samples_chart(all);
  caption += format_clipped(chart, count_beyond_axis(chart).marks, "lines");
  caption += " The longest cases come first; --filter selects others.";
  const bool has_more = std::ranges::any_of(
      all, [](const CaseBoxes& entry) { return entry.processes > entry.boxes.size(); });
  if (has_more)
    caption += fmt::format(" Only the first {} processes of a case are drawn.", kMaxShownProcesses);
  caption += format_left_out(left_out, "shorter case");
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
