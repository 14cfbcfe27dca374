// SPDX-License-Identifier: Apache-2.0
// Writes trends as JSON.
#include "base/json_fields.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/trend_text.hpp"

#include <cmath>

namespace bench {
namespace {

void write_run(JsonWriter& writer, const TrendRun& run) {
  BENCH_MEMBERS(writer, run, run_id, time, epoch, (commit, kOptional), reason, anchor);
}

void write_point(JsonWriter& writer, const TrendPoint& point) {
  write_run(writer, point.run);
  writer.required("time_ns", std::exp(point.log_time));
  if (point.effect) writer.required("change", std::expm1(*point.effect));
}

void write_differences(JsonWriter& writer, const std::vector<Change>& differences) {
  writer.required_list("with", differences, [](JsonWriter& entry, const Change& difference) {
    BENCH_MEMBERS(entry, difference, field, from, to);
  });
}

void write_change(JsonWriter& writer, const TrendChange& change, const TrendRun& run) {
  writer.required("kind", change.kind);
  BENCH_MEMBERS(writer, run, run_id, time, (commit, kOptional), epoch);
  writer.required("change", std::expm1(change.effect));
  writer.optional("p_value", change.p_value);
  write_differences(writer, change.with);
  write_cause(writer, change.cause);
}

void write_creep(JsonWriter& writer, const Creep& creep, const TrendRun& since) {
  BENCH_MEMBERS(writer, since, (run_id, "since_run_id"), (time, "since"), anchor);
  writer.required("runs", creep.runs);
  writer.required("change", std::expm1(creep.effect));
  write_cause(writer, creep.cause);
}

void write_case(JsonWriter& writer, const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  writer.required("id", trend.id);
  writer.required("machine_class", trend.machine_class);
  writer.required("path", trend.path);
  writer.required("state", to_string(shown.state()));
  writer.required("basis", trend.basis);
  writer.required("first_ns", std::exp(shown.reference_level()));
  writer.required("last_ns", std::exp(shown.present_level()));
  writer.required("change", std::expm1(shown.total_effect()));
  writer.optional("spread", trend.spread);
  writer.required_list("change_points", shown.changes(),
                       [&](JsonWriter& entry, const TrendChange& change) {
                         write_change(entry, change, trend.points[change.point].run);
                       });
  writer.required_list("creep", trend.creeps, [&](JsonWriter& entry, const Creep& creep) {
    write_creep(entry, creep, trend.points[creep.since].run);
  });
  writer.group("pending", trend.pending, [](JsonWriter& entry, const auto& pending) {
    entry.required("runs", pending.runs);
    entry.required("change", std::expm1(pending.effect));
    entry.required("certainty", pending.certainty);
    entry.optional("sigmas", pending.sigmas);
    write_differences(entry, pending.with);
    write_cause(entry, pending.cause);
  });
  writer.required("not_searched", trend.unsearched());
  writer.required_list("runs", std::span(trend.points).subspan(shown.first_point()), write_point);
  writer.required_list("not_compared", trend.skipped,
                       [](JsonWriter& entry, const SkippedRun& skipped) {
                         write_run(entry, skipped.run);
                         entry.required("not_compared", skipped.reason);
                       });
}

}  // namespace

std::string trends_json(std::span<const ShownTrend> shown) {
  return printed_json(
      [&](JsonWriter& writer) { writer.required_list("cases", shown, write_case); });
}

}  // namespace bench
