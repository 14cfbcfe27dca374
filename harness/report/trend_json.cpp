// SPDX-License-Identifier: Apache-2.0
// Trends as JSON.
#include "harness/report/trend_text.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace bench {
namespace {

using TrendJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kKindNames = {"step", "gradual", "accepted"};
constexpr std::array<std::string_view, 2> kBasisNames = {"fast_quarter", "median"};

template <class T>
void put_if_known(TrendJson& object, const char* name, const std::optional<T>& value) {
  if (value) object[name] = *value;
}

TrendJson run_json(const TrendRun& run) {
  TrendJson object = {{"run_id", run.run_id}, {"time", run.time}, {"epoch", run.epoch}};
  if (!run.commit.empty()) object["commit"] = run.commit;
  object["reason"] = run.reason;
  put_if_known(object, "anchor", run.anchor);
  return object;
}

TrendJson points_json(const ShownTrend& shown) {
  TrendJson array = TrendJson::array();
  const std::vector<TrendPoint>& points = shown.trend().points;
  for (std::size_t i = shown.first(); i < points.size(); ++i) {
    TrendJson object = run_json(points[i].run);
    object["time_ns"] = std::exp(points[i].log_time);
    if (points[i].effect) object["change"] = std::expm1(*points[i].effect);
    array.push_back(std::move(object));
  }
  return array;
}

TrendJson changes_json(const ShownTrend& shown) {
  TrendJson array = TrendJson::array();
  for (const TrendChange& change : shown.changes()) {
    const TrendRun& run = shown.trend().points[change.point].run;
    TrendJson object = {{"kind", kKindNames[static_cast<std::size_t>(change.kind)]},
                        {"run_id", run.run_id},
                        {"time", run.time}};
    if (!run.commit.empty()) object["commit"] = run.commit;
    object["epoch"] = run.epoch;
    object["change"] = std::expm1(change.effect);
    put_if_known(object, "p_value", change.p_value);
    object["with"] = TrendJson::array();
    for (const Change& difference : change.with) {
      TrendJson& entry = object["with"].emplace_back(TrendJson{{"field", difference.field}});
      put_if_known(entry, "from", difference.from);
      put_if_known(entry, "to", difference.to);
    }
    array.push_back(std::move(object));
  }
  return array;
}

TrendJson creeps_json(const CaseTrend& trend) {
  TrendJson array = TrendJson::array();
  for (const Creep& creep : trend.creeps) {
    const TrendRun& run = trend.points[creep.since].run;
    TrendJson object = {{"since_run_id", run.run_id}, {"since", run.time}};
    put_if_known(object, "anchor", run.anchor);
    object["runs"] = creep.runs;
    object["change"] = std::expm1(creep.effect);
    array.push_back(std::move(object));
  }
  return array;
}

TrendJson skipped_json(const CaseTrend& trend) {
  TrendJson array = TrendJson::array();
  for (const SkippedRun& skipped : trend.skipped) {
    TrendJson object = run_json(skipped.run);
    object["not_compared"] = skipped.reason;
    array.push_back(std::move(object));
  }
  return array;
}

TrendJson case_json(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  TrendJson object = {{"id", trend.id},
                      {"machine_class", trend.machine_class},
                      {"path", trend.path},
                      {"state", name_of(shown.state())},
                      {"basis", kBasisNames[static_cast<std::size_t>(trend.basis)]},
                      {"first_ns", std::exp(shown.reference_level())},
                      {"last_ns", std::exp(trend.present_level())},
                      {"change", std::expm1(shown.total_effect())}};
  put_if_known(object, "spread", trend.spread);
  object["change_points"] = changes_json(shown);
  object["creep"] = creeps_json(trend);
  if (trend.pending) {
    object["pending"] = {{"runs", trend.pending->runs},
                         {"change", std::expm1(trend.pending->effect)}};
  }
  object["runs"] = points_json(shown);
  object["not_compared"] = skipped_json(trend);
  return object;
}

}  // namespace

std::string trends_json(std::span<const ShownTrend> shown) {
  TrendJson document = {{"cases", TrendJson::array()}};
  for (const ShownTrend& entry : shown) document["cases"].push_back(case_json(entry));
  return document.dump(2, ' ', false, TrendJson::error_handler_t::replace) + "\n";
}

}  // namespace bench
