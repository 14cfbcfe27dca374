// SPDX-License-Identifier: Apache-2.0
// Bar charts: the layers of a network, and a profile by layer or operator.
#include "base/text.hpp"
#include "harness/report/case_sum.hpp"
#include "harness/report/plots.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace bench {
namespace {

constexpr std::size_t kMaxBars = 40;
constexpr double kBarHeight = 12;

struct TimeBar {
  std::string label;
  std::string value;
  std::string text;             // all facts, which the page shows when the reader points at the bar
  double length = 0;            // nanoseconds
  std::optional<double> ideal;  // ideal time in nanoseconds
  std::optional<Extent> interval = std::nullopt;  // that contains the true length
};

// What is beyond the ideal time is lighter: it could be gained.
ChartRow make_bar_row(const TimeBar& bar) {
  constexpr Extent kWholeBar{0, kBarHeight};
  const double ideal = std::min(bar.ideal.value_or(bar.length), bar.length);
  Mark mark{bar.text, {Bar{{0, ideal}, kWholeBar, "s0"}}};
  if (ideal < bar.length) mark.shapes.push_back(Bar{{ideal, bar.length}, kWholeBar, "s0 light"});
  if (bar.interval) {
    const auto [low, high] = *bar.interval;
    mark.shapes.push_back(Stroke{{low, kBarHeight / 2}, {high, kBarHeight / 2}, "range ideal"});
  }
  if (bar.ideal)
    mark.shapes.push_back(
        Bar{{*bar.ideal, *bar.ideal}, Extent{-2, kBarHeight + 2}, "ideal", {3, 0}});
  return {bar.label, bar.value, kBarHeight, {std::move(mark)}};
}

RowChart make_bar_chart(const std::vector<TimeBar>& bars, std::string label) {
  double longest = 1;
  RowChart chart{std::move(label), {.title = "time", .format_tick = format_time_tick}};
  for (const TimeBar& bar : bars) {
    const double end = bar.interval ? bar.interval->high : bar.length;
    longest = std::max({longest, bar.length, bar.ideal.value_or(0), end});
    chart.rows.push_back(make_bar_row(bar));
  }
  chart.x.values = {0, longest};
  return chart;
}

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

double to_nanoseconds(Nanoseconds time) { return static_cast<double>(time.count()); }

void set_ideal(TimeBar& bar, Nanoseconds ideal, double efficiency) {
  bar.ideal = to_nanoseconds(ideal);
  bar.text += fmt::format("\nideal {}, efficiency {}", format_time_tick(*bar.ideal),
                          format_percent(efficiency));
}

TimeBar layer_bar(const NetworkSummary::Entry& entry) {
  const std::string label = format_layer_names(entry.layers, entry.direction);
  TimeBar bar{label.empty() ? entry.id : label, format_percent(entry.share),
              fmt::format("{}\n{} in {}, {} of all layers", entry.id, format_time(entry.time),
                          pluralise(entry.multiplicity, "layer"), format_percent(entry.share)),
              to_nanoseconds(entry.time), std::nullopt};
  if (entry.ideal && entry.efficiency) {
    set_ideal(bar, saturated_product(*entry.ideal, entry.multiplicity), *entry.efficiency);
  }
  return bar;
}

// `whole`: the time of all cases of the sum.
TimeBar case_bar(const SummedCase& entry, std::string label, Nanoseconds whole) {
  const CaseRecord& record = *entry.record;
  std::string text = fmt::format("{}\n{}", record.id, format_time(entry.median));
  if (!record.layers.empty()) {
    text += " in " + pluralise(entry.multiplicity, "layer");
  } else if (entry.multiplicity > 1) {
    text += ", " + format_multiplicity(entry);
  }
  if (whole > Nanoseconds(0)) {
    text += fmt::format(", {} of all cases",
                        format_percent(to_nanoseconds(entry.median) / to_nanoseconds(whole)));
  }
  TimeBar bar{std::move(label), format_time(entry.median), std::move(text),
              to_nanoseconds(entry.median), std::nullopt};
  if (entry.ideal) set_ideal(bar, *entry.ideal, record.roofline->efficiency);
  if (record.time->low && record.time->high) {
    bar.interval = {to_nanoseconds(saturated_product(*record.time->low, entry.multiplicity)),
                    to_nanoseconds(saturated_product(*record.time->high, entry.multiplicity))};
  }
  return bar;
}

// Returns the labels of the cases: layers if all are of one network, else ids.
std::vector<std::string> case_labels(const std::vector<SummedCase>& cases) {
  const auto& network = cases.front().record->network;
  const bool has_one_network =
      network && std::ranges::all_of(cases, [&](const SummedCase& entry) {
        return entry.record->network == network && !entry.record->layers.empty();
      });
  std::vector<std::string_view> ids;
  for (const SummedCase& entry : cases) ids.push_back(entry.record->id);
  const IdShortener shortener(ids);
  std::vector<std::string> labels;
  for (const SummedCase& entry : cases) {
    labels.push_back(has_one_network
                         ? format_layer_names(entry.record->layers, entry.record->direction)
                         : shortener.shortest(entry.record->id));
  }
  return labels;
}

std::string cases_caption(const CaseSum& sum, const std::vector<SummedCase>& shown) {
  std::string caption = fmt::format("Each bar is the time of a case{}", format_cache_mode(sum));
  const auto is_repeated = [](const SummedCase& entry) { return entry.multiplicity > 1; };
  const auto repeated = std::ranges::find_if(sum.cases, is_repeated);
  if (repeated != sum.cases.end() && !repeated->record->network) {
    caption += ", times the number of its executions";
  } else if (sum.networks > 0 || repeated != sum.cases.end()) {
    caption += ", times the number of layers that are this case";
  }
  caption += ".";
  if (std::ranges::any_of(shown,
                          [](const SummedCase& e) { return e.record->time->low.has_value(); }))
    caption += " The thin line at its end is the interval of its median.";
  caption += std::ranges::any_of(shown, [](const SummedCase& e) { return e.ideal.has_value(); })
                 ? " The dark tick is the time at the machine's ceiling; the light part could be "
                   "gained."
                 : " Ideal times: n/a: no ceilings, run `bench peak`.";
  return caption + format_left_out(sum.cases.size() - shown.size(), "shorter case");
}

// Returns the rows' labels: names, with the case if several cases have rows.
std::vector<std::string> profile_labels(const std::vector<LayerRow>& rows) {
  const bool has_one_case = std::ranges::all_of(
      rows, [&](const LayerRow& row) { return row.case_id == rows.front().case_id; });
  std::vector<std::string> labels;
  for (const LayerRow& row : rows) {
    const bool is_complete = has_one_case || row.name == row.case_id;
    labels.push_back(is_complete ? row.name : fmt::format("{}, {}", row.name, row.case_id));
  }
  return labels;
}

TimeBar profile_bar(const LayerRow& row, std::string label) {
  const std::string share = row.share ? format_percent(*row.share) : std::string(kUnknown);
  std::string text = fmt::format("{}\n{}, {} of an iteration\n{}", row.name, format_time(row.time),
                                 share, row.case_id);
  return {std::move(label), share, std::move(text), to_nanoseconds(row.time), std::nullopt};
}

}  // namespace

Plot cases_plot(const Report& report) {
  const CaseSum sum = sum_cases(report, SumOf::timed);
  if (sum.cases.empty()) {
    return make_absent_plot("cases", "Time by case",
                            "No case has a time, so there is no picture of the times.");
  }
  std::vector<SummedCase> shown = sum.cases;
  std::ranges::stable_sort(shown, std::greater<>(), &SummedCase::median);
  shown.resize(std::min(shown.size(), kMaxOpeningRows));
  const std::vector<std::string> labels = case_labels(shown);
  const Nanoseconds whole = sum.median();
  std::vector<TimeBar> bars;
  for (std::size_t i = 0; i < shown.size(); ++i)
    bars.push_back(case_bar(shown[i], labels[i], whole));
  return make_plot("cases", "Time by case", cases_caption(sum, shown),
                   make_bar_chart(bars, "time of " + pluralise(bars.size(), "case")));
}

Plot layers_plot(const NetworkSummary& network) {
  const std::string name = fmt::format("layers-{}-{}", network.network, network.cache);
  const std::string title = fmt::format("Layers of {}{}{}", network.network,
                                        network.cache.empty() ? "" : ", cache ", network.cache);
  if (network.top.empty()) {
    return make_absent_plot(name, title,
                            "The run measured no layers of this network; add `measure: [layers, "
                            "network]` to its configuration.");
  }
  std::vector<TimeBar> bars;
  bool has_ideal = false;
  for (const NetworkSummary::Entry& entry : network.top) {
    if (bars.size() == kMaxBars) break;
    bars.push_back(layer_bar(entry));
    has_ideal = has_ideal || bars.back().ideal.has_value();
  }
  std::string caption =
      "Each bar is the time of a distinct layer, times the number of layers that are the same "
      "case; the number is its share of all layers";
  caption += has_all_layers(network) ? "." : " that were measured, which are not all.";
  caption += has_ideal ? " The dark tick is the ideal time by the roofline."
                       : " Ideal times: n/a: no ceilings, run `bench peak`.";
  caption += format_left_out(network.top.size() - bars.size(), "shorter layer");
  return make_plot(name, title, caption,
                   make_bar_chart(bars, "time of " + pluralise(bars.size(), "layer")));
}

Plot profile_plot(std::string name, std::string title, const std::vector<LayerRow>& rows,
                  std::string_view unit) {
  std::vector<TimeBar> bars;
  const std::vector<std::string> labels = profile_labels(rows);
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxBars / 2); ++i)
    bars.push_back(profile_bar(rows[i], labels[i]));
  if (bars.empty()) {
    return make_absent_plot(std::move(name), std::move(title),
                            "The profile contains none of these.");
  }
  std::string caption = fmt::format(
      "Time of each {} in one iteration: the median of the recorded iterations of the profiling "
      "pass, which is separate from the timing. The number is its share of an iteration of the "
      "same case.",
      unit);
  caption += format_left_out(rows.size() - bars.size(), "shorter row");
  return make_plot(std::move(name), std::move(title), caption,
                   make_bar_chart(bars, "profile: time of " + pluralise(bars.size(), "row")));
}

Plot shares_plot(std::string name, std::string title, std::string caption,
                 const std::vector<ShareRow>& rows) {
  if (rows.empty()) {
    return make_absent_plot(std::move(name), std::move(title),
                            "The profile has no times, so there is no picture of them.");
  }
  std::vector<TimeBar> bars;
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxOpeningRows); ++i) {
    const ShareRow& row = rows[i];
    const std::string share = row.share ? format_percent(*row.share) : std::string(kUnknown);
    bars.push_back({row.name, share,
                    fmt::format("{}\n{}, {}", row.name, format_time(row.time), share),
                    to_nanoseconds(row.time), std::nullopt});
  }
  caption += format_left_out(rows.size() - bars.size(), "shorter row");
  return make_plot(std::move(name), std::move(title), std::move(caption),
                   make_bar_chart(bars, "time of " + pluralise(bars.size(), "row")));
}

}  // namespace bench
