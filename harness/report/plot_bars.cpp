// SPDX-License-Identifier: Apache-2.0
// Bar charts: the layers of a network, and a profile by layer or operator.
#include "base/plural.hpp"
#include "base/text.hpp"
#include "harness/report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace bench {
namespace {

constexpr std::size_t kMaxBars = 40;
constexpr double kBarHeight = 12;

struct Bar {
  std::string label;
  std::string value;
  std::string text;             // all facts, which the page shows when the reader points at the bar
  double length = 0;            // nanoseconds
  std::optional<double> ideal;  // ideal time in nanoseconds
};

std::string draw_bars(const std::vector<Bar>& bars, double width, std::string_view label) {
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max({longest, bar.length, bar.ideal.value_or(0)});
  RowChart::Shape shape;
  shape.row_heights.assign(bars.size(), kBarHeight);
  shape.values = {0, std::max(longest, 1.0)};
  shape.format_tick = format_time_tick;
  shape.axis = "time";
  RowChart chart(width, shape, label);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    chart.draw_label(i, bars[i].label, bars[i].value);
    const double begin = chart.x().position(0);
    chart.svg().open_mark(bars[i].text);
    chart.svg().rect({begin, chart.top(i)},
                     {chart.x().position(bars[i].length) - begin, kBarHeight}, "s0");
    if (bars[i].ideal) {
      const double x = chart.x().position(*bars[i].ideal);
      chart.svg().rect({x - 1.5, chart.top(i) - 2}, {3, kBarHeight + 4}, "ideal");
    }
    chart.svg().close_mark();
  }
  return std::move(chart).finish();
}

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

double to_nanoseconds(Nanoseconds time) { return static_cast<double>(time.count()); }

// Returns the first layer and the number of other layers that are the same case: "layer1.0.conv2
// +2".
std::string layer_label(const NetworkSummary::Entry& entry) {
  if (entry.layers.empty()) return entry.id;
  return entry.layers.size() == 1
             ? entry.layers.front()
             : fmt::format("{} +{}", entry.layers.front(), entry.layers.size() - 1);
}

Bar layer_bar(const NetworkSummary::Entry& entry) {
  Bar bar{layer_label(entry), format_percent(entry.share),
          fmt::format("{}\n{} in {}, {} of all layers", entry.id, format_time(entry.time),
                      pluralise(entry.multiplicity, "layer"), format_percent(entry.share)),
          to_nanoseconds(entry.time), std::nullopt};
  if (!entry.ideal || !entry.efficiency) return bar;
  bar.ideal = to_nanoseconds(*entry.ideal) * static_cast<double>(entry.multiplicity);
  bar.text += fmt::format("\nideal {}, efficiency {}", format_time_tick(*bar.ideal),
                          format_percent(*entry.efficiency));
  return bar;
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

Bar profile_bar(const LayerRow& row, std::string label) {
  const std::string share = row.share ? format_percent(*row.share) : std::string(kUnknown);
  std::string text = fmt::format("{}\n{}, {} of an iteration\n{}", row.name, format_time(row.time),
                                 share, row.case_id);
  return {std::move(label), share, std::move(text), to_nanoseconds(row.time), std::nullopt};
}

}  // namespace

Plot layers_plot(const NetworkSummary& network) {
  const std::string name = fmt::format("layers-{}-{}", network.network, network.cache);
  const std::string title = fmt::format("Layers of {}{}{}", network.network,
                                        network.cache.empty() ? "" : ", cache ", network.cache);
  if (network.top.empty()) {
    return make_absent_plot(name, title,
                            "The run measured no layers of this network; add `measure: [layers, "
                            "network]` to its configuration.");
  }
  std::vector<Bar> bars;
  bool has_ideal = false;
  for (const NetworkSummary::Entry& entry : network.top) {
    if (bars.size() == kMaxBars) break;
    bars.push_back(layer_bar(entry));
    has_ideal = has_ideal || bars.back().ideal.has_value();
  }
  std::string caption =
      "Each bar is the time of a distinct layer, times the number of layers that are the same "
      "case; the number is its share of all layers.";
  caption += has_ideal ? " The dark tick is the ideal time by the roofline."
                       : " Ideal times: n/a: no ceilings, run `bench peak`.";
  caption += format_left_out(network.top.size() - bars.size(), "shorter layer");
  return make_plot(name, title, caption, [&](double width) {
    return draw_bars(bars, width, fmt::format("time of {} layers", bars.size()));
  });
}

Plot profile_plot(std::string name, std::string title, const std::vector<LayerRow>& rows,
                  std::string_view unit) {
  std::vector<Bar> bars;
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
  return make_plot(std::move(name), std::move(title), caption, [&](double width) {
    return draw_bars(bars, width, fmt::format("profile: time of {} rows", bars.size()));
  });
}

}  // namespace bench
