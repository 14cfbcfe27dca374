// SPDX-License-Identifier: Apache-2.0
#include "harness/report/replay.hpp"

#include "base/json_writer.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace bench {
namespace {

double time_ratio(Nanoseconds part, Nanoseconds whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Two decimals, or two digits of what these would show as zero.
std::string format_time_ratio(Nanoseconds part, Nanoseconds whole) {
  constexpr double kMinTwoDecimals = 0.1;
  const double ratio = time_ratio(part, whole);
  return ratio >= kMinTwoDecimals ? fmt::format("{:.2f}", ratio) : fmt::format("{:.2g}", ratio);
}

std::string format_replayed_sums(const Replay& replay, const ReplaySums& sums) {
  if (sums.original.count() <= 0)
    return "Nothing is replayed: the result has no time of a case that the program executed.";
  const std::string by_medians =
      sums.original_medians.count() <= 0
          ? ""
          : fmt::format(", or {} times as long as by the median of each primitive",
                        format_time_ratio(sums.replayed, sums.original_medians));
  return fmt::format(
      "Replayed, {} {} where the program took {}: {} times as long{}. They are {} of the {} "
      "that it spent in primitives.",
      pluralise(sums.executions, "execution takes", "executions take"), format_time(sums.replayed),
      format_time(sums.original), format_time_ratio(sums.replayed, sums.original), by_medians,
      format_part(sums.original, replay.primitives), format_time(replay.primitives));
}

// Shows the implementation once if both are the same.
std::string format_implementations(const ReplayedCase& row) {
  if (row.implementation.empty() || row.implementation == row.original_implementation)
    return row.original_implementation;
  return fmt::format("{} -> {}", row.original_implementation, row.implementation);
}

TextRow replay_row(const ReplayedCase& row, const Replay& replay, const IdShortener& ids) {
  TextRow cells{{{row.id, Tone::plain, ids.forms(row.id)},
                 {fmt::to_string(row.executions)},
                 {format_time(row.original)},
                 {format_part(row.original, replay.primitives)},
                 {format_time(row.original_median)}},
                ""};
  cells.cells.push_back({row.replayed ? format_time(*row.replayed) : std::string(kUnknown)});
  cells.cells.push_back({row.replayed && row.original_median.count() > 0
                             ? format_time_ratio(*row.replayed, row.original_median)
                             : std::string(kUnknown)});
  cells.cells.push_back({format_implementations(row)});
  cells.note = row.reason;
  return cells;
}

}  // namespace

ReplaySums sum_replay(const Replay& replay) {
  ReplaySums sums;
  for (const ReplayedCase& row : replay.cases) {
    if (!row.replayed) continue;
    sums.executions += row.executions;
    const auto add = [&](Nanoseconds& sum, Nanoseconds part) {
      sum = Nanoseconds(
          saturating_sum(sum.count(), saturating_product(part.count(), row.executions)));
    };
    sums.original = saturating_sum(sums.original, row.original);
    add(sums.original_medians, row.original_median);
    add(sums.replayed, *row.replayed);
  }
  return sums;
}

std::string format_replay(const Replay& replay, std::size_t width, Colour colour) {
  constexpr std::size_t kMinReplayedId = 16;
  const ReplaySums sums = sum_replay(replay);
  std::string text = wrap(format_replayed_sums(replay, sums), width, 0);
  const std::vector<TextColumn> columns = {
      {"case", Align::left, kMinReplayedId, 0},   {"runs", Align::right, std::nullopt, 0},
      {"program", Align::right, std::nullopt, 0}, {"share", Align::right, std::nullopt, 2},
      {"median", Align::right, std::nullopt, 0},  {"replayed", Align::right, std::nullopt, 0},
      {"ratio", Align::right, std::nullopt, 0},   {"implementation", Align::left, 8, 3}};
  std::vector<std::string_view> ids;
  Nanoseconds known{0}, without_time{0};
  for (const ReplayedCase& row : replay.cases) {
    ids.push_back(row.id);
    known += row.original;
    if (!row.replayed) without_time += row.original;
  }
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const ReplayedCase& row : replay.cases) rows.push_back(replay_row(row, replay, shortener));
  if (!rows.empty()) text += "\n" + render_table(columns, std::move(rows), width, colour);
  std::string rest =
      "program: all executions together; median: one of them; ratio: replayed to median.";
  if (replay.refused > 0)
    rest += fmt::format(" No case repeats {}, {} of the time.",
                        pluralise(replay.refused, "distinct primitive"),
                        format_part(replay.primitives - known, replay.primitives));
  if (without_time.count() > 0)
    rest += fmt::format(" The result has no time of {} of the time.",
                        format_part(without_time, replay.primitives));
  return text + wrap(rest, width, 0);
}

std::string replay_json(const Replay& replay) {
  const ReplaySums sums = sum_replay(replay);
  return json_object([&](JsonWriter& writer) {
           writer.required("primitives_ns", replay.primitives);
           writer.required("refused", static_cast<std::int64_t>(replay.refused));
           writer.required("executions", sums.executions);
           writer.required("program_ns", sums.original);
           writer.required("program_medians_ns", sums.original_medians);
           writer.required("replayed_ns", sums.replayed);
           writer.required_list("cases", replay.cases, [](JsonWriter& row, const ReplayedCase& c) {
             row.required("case", c.id);
             row.required("executions", c.executions);
             row.required("program_ns", c.original);
             row.required("program_median_ns", c.original_median);
             row.optional("replayed_ns", c.replayed);
             if (!c.reason.empty()) row.required("reason", c.reason);
             row.required("program_implementation", c.original_implementation);
             row.required("implementation", c.implementation);
           });
         }) +
         '\n';
}

}  // namespace bench
