// SPDX-License-Identifier: Apache-2.0
#include "harness/report/layer_table.hpp"

#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/roofline.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// Returns the member of Layer that sums the times of such activities, or nullopt if the activity is
// not executed work.
std::optional<Nanoseconds LayerTimes::Layer::*> time_member(const Activity& activity) {
  switch (activity.kind) {
    case ActivityKind::primitive: {
      const std::string_view phase = activity.attributes.text(Attribute::phase);
      if (!phase.empty() && phase != "exec") return std::nullopt;
      return &LayerTimes::Layer::host;
    }
    case ActivityKind::kernel:
    case ActivityKind::memcpy:
    case ActivityKind::memset:
      return &LayerTimes::Layer::device;
    default:
      return std::nullopt;
  }
}

// One row of the table, with times per iteration.
struct LayerRow {
  const std::string* id = nullptr;
  std::string layer;
  const LayerTimes::Layer* times = nullptr;
  std::int64_t iterations = 1;
  Nanoseconds time{0};
};

using Passes = std::map<std::string, const ProfilePassRecord*>;

// Returns the passes that recorded iterations, by case id. If a case has several, the last one
// counts.
Passes collect_passes(const Report& report) {
  Passes passes;
  for (const ProfilePassRecord& pass : report.profile_passes) {
    if (pass.outcome == Outcome::ok && pass.iterations > 0) passes[pass.id] = &pass;
  }
  return passes;
}

std::vector<LayerRow> make_layer_rows(const Passes& passes, const LayerTimes& times) {
  std::vector<LayerRow> rows;
  for (const auto& [key, layer] : times.layers()) {
    const auto pass = passes.find(key.first);
    if (pass == passes.end()) continue;
    const std::int64_t iterations = pass->second->iterations;
    rows.push_back({&key.first, key.second.empty() ? key.first : key.second, &layer, iterations,
                    layer.time() / iterations});
  }
  std::ranges::stable_sort(rows, std::greater<>(), &LayerRow::time);
  return rows;
}

// Returns the sum of the times of one iteration of every profiled case.
Nanoseconds sum_iteration_times(const Passes& passes) {
  Nanoseconds whole{0};
  for (const auto& [id, pass] : passes) {
    if (pass->wall) whole += *pass->wall / pass->iterations;
  }
  return whole;
}

std::string format_percentage(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

double compute_ratio(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Times of one iteration of every profiled case, with and without the profiler. Each is the sum of
// the cases' medians from the same worker processes.
struct ProfilerTimes {
  Nanoseconds profiled{0}, unprofiled{0};
};

// Returns nullopt if a pass has no such times.
std::optional<ProfilerTimes> sum_profiler_times(const Passes& passes) {
  ProfilerTimes times;
  for (const auto& [id, pass] : passes) {
    if (!pass->profiled || !pass->unprofiled) return std::nullopt;
    times.profiled += *pass->profiled;
    times.unprofiled += *pass->unprofiled;
  }
  return times.unprofiled > Nanoseconds(0) ? std::optional(times) : std::nullopt;
}

// Returns by how much profiling changed the time: "+1.9 %".
std::string format_overhead(const ProfilerTimes& times) {
  const double percent =
      std::round(1000 * (compute_ratio(times.profiled, times.unprofiled) - 1)) / 10;
  return fmt::format("{:+.1f} %", percent + 0.0);  // the sum makes a negative zero positive
}

// The medians come from other iterations than the recorded ones, from which the table's times come.
// Each sentence therefore names its times.
std::string format_layer_headline(const Passes& passes, const std::vector<LayerRow>& rows) {
  std::string text;
  if (const auto times = sum_profiler_times(passes)) {
    text = fmt::format(
        "One profiled iteration{} takes {}. Profiling changed the time by {}: {} with the "
        "profiler, {} without, in the same process. ",
        passes.size() == 1 ? " of " + passes.begin()->first
                           : fmt::format(" of all {} cases", passes.size()),
        format_time(times->profiled), format_overhead(*times), format_time(times->profiled),
        format_time(times->unprofiled));
  }
  const Nanoseconds mean = sum_iteration_times(passes);
  Nanoseconds layers_time{0};
  for (const LayerRow& row : rows) layers_time += row.time;
  text += fmt::format("The table shows the mean of the recorded iterations{}, {}",
                      passes.size() == 1 ? "" : " of each case", format_time(mean));
  if (mean > Nanoseconds(0)) {
    text += fmt::format(", {} % of it in the kernels below",
                        format_percentage(compute_ratio(layers_time, mean)));
  }
  return text + ".";
}

std::string format_layer_rate(const LayerRow& row) {
  const Nanoseconds time = row.times->time();
  if (!row.times->has_work || time <= Nanoseconds(0)) return std::string(kUnknown);
  return format_significant(row.times->flops / static_cast<double>(time.count()));
}

using Rooflines = std::map<std::string_view, const Roofline*>;

std::string format_peak_fraction(const LayerRow& row, const Rooflines& rooflines) {
  const auto roofline = rooflines.find(*row.id);
  const Nanoseconds time = row.times->time();
  if (roofline == rooflines.end() || !row.times->has_work || time.count() <= 0) {
    return std::string(kUnknown);
  }
  const auto ideal = compute_partial_ideal(row.times->necessary, *roofline->second);
  return ideal ? fmt::format("{:.0f}", 100 * compute_ratio(ideal->time, time))
               : std::string(kUnknown);
}

std::string format_implementation(const LayerTimes::Layer& layer) {
  if (layer.implementation.empty()) return std::string(kUnknown);
  return layer.other_implementations == 0
             ? layer.implementation
             : fmt::format("{} +{}", layer.implementation, layer.other_implementations);
}

Rooflines collect_rooflines(const Report& report) {
  Rooflines rooflines;
  for (const CaseRecord& record : report.cases) {
    if (record.roofline) rooflines[record.id] = &*record.roofline;
  }
  return rooflines;
}

// Whether the table needs a column for the case: layers of different cases may have the same name.
bool needs_case_column(const std::vector<LayerRow>& rows) {
  return std::ranges::any_of(rows, [&](const LayerRow& row) {
    return row.layer != *row.id && *row.id != *rows.front().id;
  });
}

// Returns a time in milliseconds without the unit: "1.0830".
std::string format_milliseconds(Nanoseconds time) {
  return fmt::format("{:.4f}", static_cast<double>(time.count()) / 1e6);
}

// Removes the name of the network from the layers if all rows have the same network.
void omit_network(std::vector<LayerRow>& rows) {
  const std::vector<std::string> scopes = split_scope(rows.front().layer);
  const std::string network = scopes.empty() ? "" : append_scope("", scopes.front()) + ":";
  const bool is_shared = std::ranges::all_of(rows, [&](const LayerRow& row) {
    return row.layer != *row.id && row.layer.starts_with(network);
  });
  if (!is_shared) return;
  for (LayerRow& row : rows) row.layer.erase(0, network.size());
}

}  // namespace

Status LayerTimes::consume(const Activity& activity) {
  const auto member = time_member(activity);
  if (!member || !activity.duration || activity.case_id.empty()) return Done{};
  Layer& layer = layers_[{activity.case_id, activity.scope}];
  layer.*(*member) += *activity.duration;
  if (const auto flops = activity.attributes.integer(Attribute::flops)) {
    layer.flops += static_cast<double>(*flops);
    layer.has_work = true;
    if (const auto described = works_.work(activity)) {
      const std::int64_t necessary = necessary_flops(described->work);
      layer.necessary.flops = saturating_sum(layer.necessary.flops, necessary);
      layer.necessary.bytes_read =
          saturating_sum(layer.necessary.bytes_read, described->work.traffic().count);
    }
  }
  const std::string_view implementation = activity.attributes.text(Attribute::implementation);
  if (layer.implementation.empty()) {
    layer.implementation = implementation;
  } else if (!implementation.empty() && layer.implementation != implementation) {
    ++layer.other_implementations;
  }
  return Done{};
}

std::string layer_table(const Report& report, const LayerTimes& times,
                        const ConsoleOptions& options) {
  const Passes passes = collect_passes(report);
  std::vector<LayerRow> layers = make_layer_rows(passes, times);
  if (layers.empty()) return "";
  const bool has_case_column = needs_case_column(layers);
  omit_network(layers);
  const Rooflines rooflines = collect_rooflines(report);
  const Nanoseconds whole = sum_iteration_times(passes);
  std::vector<TextColumn> columns = {{"layer", Align::left, kMinId - 10, 0},
                                     {"ms", Align::right, std::nullopt, 0},
                                     {"share %", Align::right, std::nullopt, 0},
                                     {"GFLOP/s", Align::right, std::nullopt, 2}};
  if (!rooflines.empty()) columns.push_back({"% peak", Align::right, std::nullopt, 1});
  columns.push_back({"implementation", Align::left, 14, 3});
  if (has_case_column) columns.push_back({"case", Align::left, kMinId, 4});
  std::vector<std::string_view> ids;
  for (const LayerRow& row : layers) ids.push_back(*row.id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const LayerRow& layer : layers) {
    if (rows.size() == options.top_layers) break;
    const TextCell id{*layer.id, Tone::plain, shortener.forms(*layer.id)};
    TextRow row{{layer.layer == *layer.id ? id : TextCell{layer.layer},
                 {format_milliseconds(layer.time)},
                 {whole > Nanoseconds(0) ? format_percentage(compute_ratio(layer.time, whole))
                                         : std::string(kUnknown)},
                 {format_layer_rate(layer)}},
                ""};
    if (!rooflines.empty()) row.cells.push_back({format_peak_fraction(layer, rooflines)});
    row.cells.push_back({format_implementation(*layer.times)});
    if (has_case_column) row.cells.push_back(id);
    rows.push_back(std::move(row));
  }
  std::string text = wrap(format_layer_headline(passes, layers), options.width, 0) + '\n' +
                     render_table(columns, rows, options.width, options.colour);
  if (rows.size() < layers.size())
    text += fmt::format("and {} more\n", layers.size() - rows.size());
  return text;
}

}  // namespace bench
