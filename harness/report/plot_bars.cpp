// SPDX-License-Identifier: Apache-2.0
// Bar charts: the layers of a network, and a profile by layer or operator.
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
          fmt::format("{}\n{} in {} layer{}, {} of all layers", entry.id, format_time(entry.time),
                      entry.multiplicity, entry.multiplicity == 1 ? "" : "s",
                      format_percent(entry.share)),
          to_nanoseconds(entry.time), std::nullopt};
  if (!entry.ideal || !entry.efficiency) return bar;
  bar.ideal = to_nanoseconds(*entry.ideal) * static_cast<double>(entry.multiplicity);
  bar.text += fmt::format("\nideal {}, efficiency {}", format_time_tick(*bar.ideal),
                          format_percent(*entry.efficiency));
  return bar;
}

Bar profile_bar(const TimeRow& row, std::optional<std::int64_t> iterations) {
  const std::string share = row.share ? format_percent(*row.share) : std::string(kUnknown);
  const Nanoseconds time = row.total / iterations.value_or(1);
  std::string text = row.name + '\n' + format_time(time);
  if (iterations) text += " per iteration";
  text += fmt::format(", {} of the wall time", share);
  // The remainder, which no activity covers, has no count.
  if (row.count > 0) {
    text += fmt::format("\n{} in {} activit{}", format_time(row.total), row.count,
                        row.count == 1 ? "y" : "ies");
    if (iterations) {
      text += fmt::format(" of {} iteration{}", *iterations, *iterations == 1 ? "" : "s");
    }
  }
  return {row.name, share, std::move(text), to_nanoseconds(time), std::nullopt};
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

std::optional<std::int64_t> profiled_iterations(const std::vector<ProfilePassRecord>& passes) {
  std::unordered_map<std::string_view, std::int64_t> iterations;  // by case: of all its passes
  for (const ProfilePassRecord& pass : passes) {
    if (pass.outcome == Outcome::ok && pass.iterations > 0) iterations[pass.id] += pass.iterations;
  }
  if (iterations.empty()) return std::nullopt;
  const std::int64_t number = iterations.begin()->second;
  const bool is_common = std::ranges::all_of(
      iterations, [&](const auto& recorded) { return recorded.second == number; });
  return is_common ? std::optional(number) : std::nullopt;
}

Plot profile_plot(std::string name, std::string title, const std::vector<TimeRow>& rows,
                  std::optional<std::int64_t> iterations) {
  std::vector<Bar> bars;
  for (const TimeRow& row : rows) {
    if (bars.size() == kMaxBars / 2) break;
    bars.push_back(profile_bar(row, iterations));
  }
  if (bars.empty()) {
    return make_absent_plot(std::move(name), std::move(title),
                            "The profile contains none of these.");
  }
  std::string caption = iterations
                            ? fmt::format("Time per iteration, the mean of {} recorded iteration{}",
                                          *iterations, *iterations == 1 ? "" : "s")
                            : "Total time of all recorded iterations";
  caption +=
      " of the profiling pass, which is separate from the timing; the number is the share of the "
      "wall time.";
  caption += format_left_out(rows.size() - bars.size(), "shorter row");
  return make_plot(std::move(name), std::move(title), caption, [&](double width) {
    return draw_bars(bars, width, fmt::format("profile: time of {} rows", bars.size()));
  });
}

}  // namespace bench
