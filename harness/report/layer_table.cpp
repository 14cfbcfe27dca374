// SPDX-License-Identifier: Apache-2.0
#include "harness/report/layer_table.hpp"

#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"
#include "harness/result/roofline.hpp"
#include "harness/result/typed_details.hpp"
#include "harness/stats/summary.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

namespace bench {
namespace {

enum class Executor { host, device };

// Returns who executed the activity; nullopt if it is not executed work.
std::optional<Executor> find_executor(const Activity& activity) {
  if (!analysis::is_work(activity.kind) || !is_executed(activity)) return std::nullopt;
  return activity.kind == ActivityKind::primitive ? Executor::host : Executor::device;
}

using Passes = std::map<std::string, const ProfilePassRecord*>;

// Returns the passes that recorded iterations, by case id.
Passes collect_passes(const Report& report) {
  Passes passes;
  for (const ProfilePassRecord& pass : report.profile_passes) {
    if (pass.outcome == Outcome::ok && pass.iterations > 0) passes[pass.id] = &pass;
  }
  return passes;
}

double compute_ratio(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::optional<double> find_share(Nanoseconds time, std::optional<Nanoseconds> iteration) {
  if (!iteration || *iteration <= Nanoseconds(0)) return std::nullopt;
  return compute_ratio(time, *iteration);
}

void sort_by_time(std::vector<LayerRow>& rows) {
  std::ranges::stable_sort(rows, std::greater<>(), &LayerRow::time);
}

std::vector<LayerRow> make_rows(const Passes& passes, const LayerTimes& times,
                                const LayerTimes::WorkByKey& work) {
  std::vector<LayerRow> rows;
  for (const auto& [key, entry] : work) {
    const auto& [id, name] = key;
    if (!passes.contains(id) || !entry.was_executed()) continue;
    const Nanoseconds time = entry.time();
    rows.push_back(
        {id, name.empty() ? id : name, time, find_share(time, times.iteration(id)), &entry});
  }
  sort_by_time(rows);
  return rows;
}

std::string format_percentage(double fraction) { return fmt::format("{:.1f}", 100 * fraction); }

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

// Whether passes on a device waited for each step. The device is idle during the wait, which is
// then most of the cost, not the recording.
bool awaits_steps(const Passes& passes) {
  return std::ranges::any_of(passes, [](const auto& entry) {
    const auto& details = entry.second->details;
    return details.contains("gpu.kernels") && !details.contains(kUnawaitedStepsDetail);
  });
}

// The cost compares iterations that alternated with others in the same process. The table shows
// recorded iterations, which are other ones. Each sentence therefore names its times.
std::string format_layer_headline(const Passes& passes, const LayerTimes& times,
                                  const std::vector<LayerRow>& rows) {
  const bool is_single = passes.size() == 1;
  std::string text;
  if (const auto cost = sum_profiler_times(passes)) {
    text = fmt::format(
        "Profiling changed the time of {} by {}: {} with the profiler, {} without, in the same "
        "process. ",
        is_single ? "an iteration" : fmt::format("{} iterations, one of each case,", passes.size()),
        format_overhead(*cost), format_time(cost->profiled), format_time(cost->unprofiled));
    if (awaits_steps(passes)) {
      text += "The profiler waited for each step, so the GPU was idle between steps. ";
    }
  }
  if (!is_single) {
    return text +
           "The table shows medians of the recorded iterations of each case, and their shares of "
           "an iteration of the same case.";
  }
  const auto& [id, pass] = *passes.begin();
  text += pass->iterations == 1
              ? fmt::format("The table shows the recorded iteration of {}", id)
              : fmt::format("The table shows medians of the {} recorded iterations of {}",
                            pass->iterations, id);
  const auto iteration = times.iteration(id);
  if (!iteration || *iteration <= Nanoseconds(0)) return text + ".";
  Nanoseconds sum{0};
  for (const LayerRow& row : rows) sum += row.time;
  return text + fmt::format(": {}, {} % of it in the kernels below.", format_time(*iteration),
                            format_percentage(compute_ratio(sum, *iteration)));
}

std::string format_layer_rate(const LayerRow& row) {
  if (!row.work->has_work() || row.time <= Nanoseconds(0)) return std::string(kUnknown);
  return format_significant(row.work->flops() / static_cast<double>(row.time.count()));
}

using Rooflines = std::map<std::string_view, const Roofline*>;

std::string format_peak_fraction(const LayerRow& row, const Rooflines& rooflines) {
  const auto roofline = rooflines.find(row.case_id);
  if (roofline == rooflines.end() || !row.work->has_work() || row.time.count() <= 0) {
    return std::string(kUnknown);
  }
  const auto ideal = compute_partial_ideal(row.work->necessary(), *roofline->second);
  return ideal ? fmt::format("{:.0f}", 100 * compute_ratio(ideal->time, row.time))
               : std::string(kUnknown);
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
    return row.name != row.case_id && row.case_id != rows.front().case_id;
  });
}

// Returns a time in milliseconds without the unit: "1.0830".
std::string format_milliseconds(Nanoseconds time) {
  return fmt::format("{:.4f}", static_cast<double>(time.count()) / 1e6);
}

// Removes the name of the network from the layers if all rows have the same network.
void omit_network(std::vector<LayerRow>& rows) {
  const std::vector<std::string> scopes = split_scope(rows.front().name);
  const std::string network = scopes.empty() ? "" : append_scope("", scopes.front()) + ":";
  const bool is_shared = std::ranges::all_of(rows, [&](const LayerRow& row) {
    return row.name != row.case_id && row.name.starts_with(network);
  });
  if (!is_shared) return;
  for (LayerRow& row : rows) row.name.erase(0, network.size());
}

}  // namespace

void IterationWork::add_name(const Activity& activity, TimesByName& names) {
  const std::string_view implementation = activity.attributes.text(Attribute::implementation);
  if (!implementation.empty()) names[std::string(implementation)] += *activity.duration;
}

void IterationWork::add_launch(const Activity& activity) {
  const std::string_view op = activity.attributes.text(Attribute::op);
  const std::string_view primitive = activity.attributes.text(Attribute::primitive);
  const bool is_beside_it = !primitive.empty() && primitive != op;  // a reorder before the operator
  if (!is_beside_it) add_name(activity, launched_);
}

void IterationWork::add(const Activity& activity, std::int64_t iteration,
                        ActivityWorkModel& works) {
  const bool is_host = find_executor(activity) == Executor::host;
  Times& times = iterations_[iteration];
  (is_host ? times.host : times.device) += *activity.duration;
  TimesByName& names = is_host ? host_implementations_ : device_implementations_;
  add_name(activity, names);
  const auto flops = activity.attributes.integer(Attribute::flops);
  if (!flops) return;
  flops_ += static_cast<double>(*flops);
  has_work_ = true;
  if (const auto described = works.work(activity)) {
    const std::int64_t necessary = necessary_flops(described->work);
    necessary_.flops = saturating_sum(necessary_.flops, necessary);
    necessary_.bytes_read = saturating_sum(necessary_.bytes_read, described->work.traffic().count);
  }
}

bool IterationWork::is_on_device() const {
  return std::ranges::any_of(
      iterations_, [](const auto& entry) { return entry.second.device > Nanoseconds(0); });
}

Nanoseconds IterationWork::time() const {
  const bool on_device = is_on_device();
  std::vector<Nanoseconds> times;
  for (const auto& [number, entry] : iterations_)
    times.push_back(on_device ? entry.device : entry.host);
  return median(times).value_or(Nanoseconds(0));
}

double IterationWork::flops() const { return flops_ / static_cast<double>(iterations_.size()); }

ops::Work IterationWork::necessary() const {
  const auto count = static_cast<std::int64_t>(iterations_.size());
  ops::Work work = necessary_;
  work.flops /= count;
  work.bytes_read /= count;
  return work;
}

std::string IterationWork::implementation() const {
  const bool on_device = is_on_device();
  const TimesByName& own = on_device && !device_implementations_.empty() ? device_implementations_
                                                                         : host_implementations_;
  const TimesByName& names = own.empty() ? launched_ : own;
  if (names.empty()) return "";
  const auto longest =
      std::ranges::max_element(names, {}, [](const auto& entry) { return entry.second; });
  return names.size() == 1 ? longest->first
                           : fmt::format("{} +{}", longest->first, names.size() - 1);
}

Status LayerTimes::consume(const Activity& activity) {
  const auto iteration = activity.attributes.integer(Attribute::iteration);
  if (!iteration || !activity.duration || activity.case_id.empty()) return Done{};
  if (activity.kind == ActivityKind::range && activity.name == "iteration") {
    iterations_[activity.case_id].push_back(*activity.duration);
  } else if (find_executor(activity)) {
    layers_[{activity.case_id, activity.scope}].add(activity, *iteration, works_);
    const std::string type(analysis::operation_type(activity));
    operators_[{activity.case_id, type}].add(activity, *iteration, works_);
  } else if (activity.kind == ActivityKind::operation) {
    layers_[{activity.case_id, activity.scope}].add_launch(activity);
    const std::string type(analysis::operation_type(activity));
    operators_[{activity.case_id, type}].add_launch(activity);
  }
  return Done{};
}

std::optional<Nanoseconds> LayerTimes::iteration(const std::string& case_id) const {
  const auto found = iterations_.find(case_id);
  return found == iterations_.end() ? std::nullopt : median(found->second);
}

std::vector<LayerRow> layer_rows(const Report& report, const LayerTimes& times) {
  return make_rows(collect_passes(report), times, times.layers());
}

std::vector<LayerRow> operator_rows(const Report& report, const LayerTimes& times) {
  std::vector<LayerRow> rows = make_rows(collect_passes(report), times, times.operators());
  std::map<std::string, Nanoseconds> inside;
  for (const LayerRow& row : rows) inside[row.case_id] += row.time;
  for (const auto& [id, sum] : inside) {
    const auto iteration = times.iteration(id);
    if (!iteration || *iteration <= sum) continue;
    rows.push_back({id, kOutsidePrimitives, *iteration - sum,
                    find_share(*iteration - sum, iteration), nullptr});
  }
  sort_by_time(rows);
  return rows;
}

std::string layer_table(const Report& report, const LayerTimes& times,
                        const ConsoleOptions& options) {
  const Passes passes = collect_passes(report);
  std::vector<LayerRow> layers = layer_rows(report, times);
  if (layers.empty()) return "";
  const bool has_case_column = needs_case_column(layers);
  omit_network(layers);
  const Rooflines rooflines = collect_rooflines(report);
  std::vector<TextColumn> columns = {{"layer", Align::left, kMinId - 10, 0},
                                     {"ms", Align::right, std::nullopt, 0},
                                     {"share %", Align::right, std::nullopt, 0},
                                     {"GFLOP/s", Align::right, std::nullopt, 2}};
  if (!rooflines.empty()) columns.push_back({"% peak", Align::right, std::nullopt, 1});
  columns.push_back({"implementation", Align::left, 14, 3});
  if (has_case_column) columns.push_back({"case", Align::left, kMinId, 4});
  std::vector<std::string_view> ids;
  for (const LayerRow& row : layers) ids.push_back(row.case_id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const LayerRow& layer : layers) {
    if (rows.size() == options.top_layers) break;
    const TextCell id{layer.case_id, Tone::plain, shortener.forms(layer.case_id)};
    TextRow row{{layer.name == layer.case_id ? id : TextCell{layer.name},
                 {format_milliseconds(layer.time)},
                 {format_or_unknown(layer.share, format_percentage)},
                 {format_layer_rate(layer)}},
                ""};
    if (!rooflines.empty()) row.cells.push_back({format_peak_fraction(layer, rooflines)});
    const std::string implementation = layer.work->implementation();
    row.cells.push_back({implementation.empty() ? std::string(kUnknown) : implementation});
    if (has_case_column) row.cells.push_back(id);
    rows.push_back(std::move(row));
  }
  std::string text = wrap(format_layer_headline(passes, times, layers), options.width, 0) + '\n' +
                     render_table(columns, rows, options.width, options.colour);
  if (rows.size() < layers.size())
    text += fmt::format("and {} more\n", layers.size() - rows.size());
  return text;
}

}  // namespace bench
