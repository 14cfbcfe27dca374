// SPDX-License-Identifier: Apache-2.0
#include "harness/report/trend_text.hpp"

#include "base/printable.hpp"
#include "base/shell.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"
#include "harness/stats/change_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace bench {
namespace {

// Cases that the first sentences name; the table has all of them.
constexpr std::size_t kNamedCases = 3;
// Differences that a note names; the detail of a case has all of them.
constexpr std::size_t kNamedDifferences = 3;
// A line of full height covers at least 5 %, so that usual noise looks flat.
constexpr double kMinTrendRange = 0.05;
constexpr std::size_t kTrendWidth = 16;
constexpr std::size_t kMinReason = 12;
constexpr std::size_t kDateLength = 10;    // "2026-11-12"
constexpr std::size_t kMinuteLength = 16;  // "2026-11-12T08:00"

std::string date_part(const std::string& time) { return time.substr(0, kDateLength); }

std::string minute_part(const std::string& time) {
  std::string text = time.substr(0, kMinuteLength);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string format_iteration(double log_time) {
  return format_time(Nanoseconds(std::llround(std::exp(log_time))));
}

// "+4.1%"; a change that rounds to zero has no sign.
std::string signed_percent(double effect) {
  const std::string text = fmt::format("{:+.1f}%", 100 * std::expm1(effect));
  return text == "+0.0%" || text == "-0.0%" ? "0.0%" : text;
}

// "4.1 % slower".
std::string effect_words(double effect) {
  return fmt::format("{:.1f} % {}", std::abs(100 * std::expm1(effect)),
                     effect > 0 ? "slower" : "faster");
}

// "2026-11-12 (commit abc123)".
std::string run_words(const TrendRun& run) {
  if (run.commit.empty()) return date_part(run.time);
  return fmt::format("{} (commit {})", date_part(run.time), run.commit);
}

std::string count_words(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string creep_words(const CaseTrend& trend, const Creep& creep) {
  const TrendRun& run = trend.points[creep.since].run;
  const std::string since = run.anchor ? fmt::format("anchor {}", *run.anchor)
                                       : fmt::format("its first run of {}", date_part(run.time));
  return fmt::format("{} than {}, in {} without a step of {:g} % or more",
                     effect_words(creep.effect), since, count_words(creep.runs, "run"),
                     100 * TrendOptions{}.tolerance);
}

// What happened to the case, without its name: "became 4.1 % slower on 2026-11-12".
std::string event_words(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster: {
      const TrendChange& change = *shown.last_change();
      return fmt::format("became {} {} {}", effect_words(change.effect),
                         change.kind == TrendChange::Kind::gradual ? "gradually around" : "on",
                         run_words(trend.points[change.point].run));
    }
    case TrendState::creeping:
      return "is " + creep_words(trend, trend.creeps.front());
    case TrendState::pending:
      return fmt::format(
          "may have changed: its last {} {} {} than those before, too few to be "
          "certain",
          trend.pending->runs == 1 ? "run" : count_words(trend.pending->runs, "run"),
          trend.pending->runs == 1 ? "is" : "are", effect_words(trend.pending->effect));
    case TrendState::accepted: {
      const TrendChange& change = *shown.last_change();
      const TrendRun& run = trend.points[change.point].run;
      return fmt::format("is {} since epoch {}, accepted on {}: {}", effect_words(change.effect),
                         run.epoch, run_words(run), run.reason);
    }
    case TrendState::unchanged:
      return "did not change";
    case TrendState::too_few:
      return fmt::format("has too few runs for a change point, which needs {} runs of an epoch",
                         2 * kMinLevelRuns);
  }
  return "";
}

std::string since_words(std::span<const ShownTrend> shown, const TrendView& view) {
  if (view.since) return " since " + *view.since;
  std::string first;
  for (const ShownTrend& entry : shown) {
    const std::string& time = entry.trend().points.front().run.time;
    if (first.empty() || time < first) first = time;
  }
  return first.empty() ? "" : " since " + date_part(first);
}

// Names the first cases with what happened to them. Short forms of ids are for terminals.
std::string named_events(std::span<const ShownTrend> shown, const IdShortener& shortener,
                         std::size_t width) {
  std::string text;
  for (const ShownTrend& entry : shown.first(std::min(shown.size(), kNamedCases))) {
    const std::string& id = entry.trend().id;
    const std::vector<std::string> forms = shortener.forms(id);
    const bool is_complete = forms.empty() || width >= kUnlimitedWidth;
    text += fmt::format("{} {} {}", text.empty() ? "" : ";", is_complete ? id : forms.front(),
                        event_words(entry));
  }
  if (shown.size() > kNamedCases) text += fmt::format("; and {} more", shown.size() - kNamedCases);
  return text;
}

std::vector<ShownTrend> those_in(std::span<const ShownTrend> shown,
                                 std::initializer_list<TrendState> states) {
  std::vector<ShownTrend> result;
  for (const ShownTrend& entry : shown) {
    if (std::ranges::find(states, entry.state()) != states.end()) result.push_back(entry);
  }
  return result;
}

IdShortener make_shortener(std::span<const ShownTrend> shown) {
  std::vector<std::string_view> ids;
  for (const ShownTrend& entry : shown) ids.push_back(entry.trend().id);
  return IdShortener(ids);
}

// Names the first cases with what happened to them; empty without cases.
std::string sentence(std::string_view subject, std::span<const ShownTrend> named,
                     const IdShortener& shortener, std::size_t width) {
  if (named.empty()) return "";
  return wrap(fmt::format("{}:{}.", subject, named_events(named, shortener, width)), width, 0);
}

// The first sentences: one per state.
std::string format_trend_answer(std::span<const ShownTrend> shown, const TrendView& view,
                                std::size_t width) {
  const IdShortener shortener = make_shortener(shown);
  const auto changed = those_in(shown, {TrendState::slower, TrendState::faster});
  const std::string changes =
      fmt::format("{} of {} changed{}", changed.size(), count_words(shown.size(), "case"),
                  since_words(shown, view));
  std::string text = changed.empty() ? wrap(changes + ".", width, 0)
                                     : sentence(changes, changed, shortener, width);
  const auto creeping = those_in(shown, {TrendState::creeping});
  text += sentence(fmt::format("{} slowly", creeping.size() == 1
                                                ? "1 case changes"
                                                : fmt::format("{} cases change", creeping.size())),
                   creeping, shortener, width);
  text += sentence("Not certain yet", those_in(shown, {TrendState::pending}), shortener, width);
  text += sentence("Accepted", those_in(shown, {TrendState::accepted}), shortener, width);
  const std::size_t short_ones = those_in(shown, {TrendState::too_few}).size();
  if (short_ones == 0) return text;
  return text +
         wrap(fmt::format("{} too few runs: a change point needs {} runs of an epoch.",
                          short_ones == 1 ? "1 case has" : fmt::format("{} cases have", short_ones),
                          2 * kMinLevelRuns),
              width, 0);
}

std::string differences_words(const std::vector<Change>& changes, std::size_t limit) {
  if (changes.empty()) return "";
  const std::size_t count = std::min(changes.size(), limit);
  std::string text =
      "; with it: " +
      format_changes({changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(count)});
  if (changes.size() > count) text += fmt::format("; and {} more", changes.size() - count);
  return text;
}

std::string change_words(const CaseTrend& trend, const TrendChange& change, std::size_t limit) {
  const TrendRun& run = trend.points[change.point].run;
  const std::string effect = signed_percent(change.effect);
  const std::string with = differences_words(change.with, limit);
  switch (change.kind) {
    case TrendChange::Kind::step:
      return fmt::format("{} on {}{}", effect, run_words(run), with);
    case TrendChange::Kind::gradual:
      return fmt::format("{} gradually around {}{}", effect, run_words(run), with);
    case TrendChange::Kind::accepted:
      return fmt::format("{} accepted on {}, epoch {}: {}", effect, run_words(run), run.epoch,
                         run.reason);
  }
  return "";
}

// Returns "3 runs not compared: REASON", for the most frequent reason.
std::string skipped_words(const CaseTrend& trend) {
  if (trend.skipped.empty()) return "";
  std::map<std::string, std::size_t> reasons;
  for (const SkippedRun& skipped : trend.skipped) ++reasons[skipped.reason];
  const auto usual =
      std::ranges::max_element(reasons, {}, [](const auto& row) { return row.second; });
  std::string text =
      fmt::format("{} not compared: {}", count_words(trend.skipped.size(), "run"), usual->first);
  if (reasons.size() > 1) text += fmt::format("; and {} other reasons", reasons.size() - 1);
  return text;
}

std::string case_note(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  std::string note;
  const auto add = [&](const std::string& words) {
    if (!words.empty()) note += (note.empty() ? "" : ". ") + words;
  };
  for (const TrendChange& change : shown.changes())
    add(change_words(trend, change, kNamedDifferences));
  if (shown.state() == TrendState::creeping)
    add("creep: " + creep_words(trend, trend.creeps.front()));
  if (shown.state() == TrendState::pending) add(event_words(shown));
  add(skipped_words(trend));
  return note;
}

Tone state_tone(TrendState state) {
  switch (state) {
    case TrendState::slower:
      return Tone::bad;
    case TrendState::faster:
      return Tone::good;
    case TrendState::creeping:
    case TrendState::pending:
      return Tone::warning;
    case TrendState::accepted:
    case TrendState::unchanged:
    case TrendState::too_few:
      break;
  }
  return Tone::plain;
}

std::string trend_line(const ShownTrend& shown, Glyphs glyphs) {
  std::vector<double> values;
  for (std::size_t i = shown.first_point(); i < shown.trend().points.size(); ++i)
    values.push_back(shown.trend().points[i].log_time);
  return sparkline(values, {kTrendWidth, kMinTrendRange, glyphs});
}

std::string class_table(std::span<const ShownTrend> shown, const TrendView& view,
                        const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"runs", Align::right, std::nullopt, 2},
                                           {"first", Align::right, std::nullopt, 3},
                                           {"last", Align::right, std::nullopt, 1},
                                           {"change", Align::right},
                                           {"trend"}};
  const IdShortener shortener = make_shortener(shown);
  std::vector<TextRow> rows;
  for (const ShownTrend& entry : shown) {
    const CaseTrend& trend = entry.trend();
    rows.push_back({{{trend.id, Tone::plain, shortener.forms(trend.id)},
                     {std::to_string(trend.points.size() - entry.first_point())},
                     {format_iteration(entry.reference_level())},
                     {format_iteration(trend.present_level())},
                     {signed_percent(entry.total_effect()), state_tone(entry.state())},
                     {trend_line(entry, view.glyphs)}},
                    case_note(entry)});
  }
  return render_table(columns, std::move(rows), console.width, console.colour);
}

// A command for copying, which is never folded.
std::string next_command(std::string_view announcement, const std::string& command) {
  return fmt::format("\n{}:\n  {}\n", printable(announcement), printable(command));
}

// A column of the table of runs.
struct RunColumn {
  TextColumn column;
  std::string (*text)(const TrendRun& run);
};

// Omits the anchor if there is none, and the epoch if there is only the first one.
std::vector<RunColumn> run_columns(const CaseTrend& trend) {
  std::vector<RunColumn> columns = {
      {{"date"}, [](const TrendRun& run) { return minute_part(run.time); }},
      {{"run", Align::left, std::nullopt, 5}, [](const TrendRun& run) { return run.run_id; }},
      {{"commit", Align::left, std::nullopt, 1}, [](const TrendRun& run) { return run.commit; }}};
  const bool has_anchor = std::ranges::any_of(
      trend.points, [](const TrendPoint& point) { return point.run.anchor.has_value(); });
  if (has_anchor)
    columns.push_back({{"anchor", Align::left, std::nullopt, 2},
                       [](const TrendRun& run) { return run.anchor.value_or(""); }});
  if (trend.points.back().run.epoch > 0)
    columns.push_back({{"epoch", Align::right, std::nullopt, 3},
                       [](const TrendRun& run) { return std::to_string(run.epoch); }});
  columns.push_back(
      {{"reason", Align::left, kMinReason, 4}, [](const TrendRun& run) { return run.reason; }});
  return columns;
}

// The table of all runs that are shown, with those that are not compared at their places.
class RunTable {
 public:
  RunTable(const ShownTrend& shown, const TrendView& view)
      : shown_(shown), view_(view), columns_(run_columns(shown.trend())) {}

  std::string render(const ConsoleOptions& console) {
    const CaseTrend& trend = shown_.trend();
    for (const TrendChange& change : shown_.changes())
      notes_[change.point] = "new level: " + change_words(trend, change, change.with.size());
    for (std::size_t i = shown_.first_point(); i < trend.points.size(); ++i) {
      const TrendPoint& point = trend.points[i];
      add_skipped_before(&point.run);
      add(point.run, format_iteration(point.log_time),
          point.effect ? signed_percent(*point.effect) : "", notes_[i]);
    }
    add_skipped_before(nullptr);
    std::vector<TextColumn> headings;
    for (const RunColumn& entry : columns_) headings.push_back(entry.column);
    headings.insert(headings.begin() + 1,
                    {TextColumn{"time", Align::right}, TextColumn{"change", Align::right}});
    return render_table(headings, std::move(rows_), console.width, console.colour);
  }

 private:
  void add(const TrendRun& run, const std::string& time, const std::string& change,
           std::string note) {
    TextRow row{{}, std::move(note)};
    for (const RunColumn& entry : columns_) row.cells.push_back({entry.text(run)});
    row.cells.insert(row.cells.begin() + 1, {TextCell{time}, TextCell{change}});
    rows_.push_back(std::move(row));
  }

  // `run`: the next one that is compared; nullptr at the end.
  void add_skipped_before(const TrendRun* run) {
    const std::vector<SkippedRun>& skipped = shown_.trend().skipped;
    const auto order = [](const TrendRun& entry) { return std::pair(entry.epoch, entry.time); };
    for (; skipped_ < skipped.size(); ++skipped_) {
      const SkippedRun& next = skipped[skipped_];
      if (run != nullptr && order(*run) <= order(next.run)) return;
      if (view_.since && next.run.time < *view_.since) continue;
      add(next.run, "", "", "not compared: " + next.reason);
    }
  }

  const ShownTrend& shown_;
  const TrendView& view_;
  std::vector<RunColumn> columns_;
  std::map<std::size_t, std::string> notes_;  // by point
  std::size_t skipped_ = 0;                   // the next one
  std::vector<TextRow> rows_;
};

std::string basis_words(TrendBasis basis) {
  return basis == TrendBasis::fast_quarter
             ? "Times are those of the fast quarter of each run's quiet processes."
             : "Times are medians over each run's processes.";
}

// The searched part of a long epoch.
std::string window_words(const CaseTrend& trend) {
  const bool is_cut = std::ranges::any_of(
      trend.epochs, [](const TrendEpoch& epoch) { return epoch.runs > kMaxSeries; });
  return is_cut ? fmt::format(" Only the last {} runs of an epoch are searched.", kMaxSeries) : "";
}

std::string detail_facts(const ShownTrend& shown, const TrendView& view) {
  const CaseTrend& trend = shown.trend();
  std::string text = fmt::format(
      "{} in {} on {}; run-to-run variation {}. {}{}",
      count_words(trend.points.size() + trend.skipped.size(), "run"),
      count_words(trend.epochs.size(), "epoch"), trend.machine_class,
      format_or_unknown(trend.spread,
                        [](double value) { return fmt::format("{:.2f} %", 100 * value); }),
      basis_words(trend.basis), window_words(trend));
  // The first sentence has the first one.
  for (std::size_t i = shown.state() == TrendState::creeping ? 1 : 0; i < trend.creeps.size(); ++i)
    text += fmt::format(" It is {}.", creep_words(trend, trend.creeps[i]));
  text += " Trend: " + trend_line(shown, view.glyphs);
  return text;
}

// The run with which the present one should be measured together; nullptr if nothing changed.
const TrendRun* run_before_change(const ShownTrend& shown) {
  const std::vector<TrendPoint>& points = shown.trend().points;
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster:
      return &points[shown.last_change()->point - 1].run;
    case TrendState::creeping:
      return &points[shown.trend().creeps.front().since].run;
    case TrendState::pending:
      return &points[points.size() - 1 - shown.trend().pending->runs].run;
    case TrendState::accepted:
    case TrendState::unchanged:
    case TrendState::too_few:
      break;
  }
  return nullptr;
}

std::string next_of_case(const ShownTrend& shown, const TrendView& view) {
  const std::string id = shell_quoted(shown.trend().id);
  const TrendRun* const before = run_before_change(shown);
  if (before == nullptr)
    return next_command("what the last run was, and how much runs differ",
                        fmt::format("{} baseline show {}{}", view.program, id, view.store_option));
  return next_command(
      fmt::format("measure it together with a checkout of {}",
                  before->commit.empty() ? "the version before" : "commit " + before->commit),
      fmt::format("{} duet {} --base CHECKOUT", view.program, id));
}

}  // namespace

std::string format_trends(std::span<const ShownTrend> shown, const TrendView& view,
                          const ConsoleOptions& console) {
  std::string text = format_trend_answer(shown, view, console.width);
  std::map<std::string, std::vector<ShownTrend>> classes;
  for (const ShownTrend& entry : shown) classes[entry.trend().machine_class].push_back(entry);
  for (const auto& [machine_class, entries] : classes) {
    text += fmt::format("\n{}\n", printable(machine_class)) + class_table(entries, view, console);
  }
  if (shown.empty()) return text;
  const ShownTrend& first = shown.front();
  const bool is_quiet =
      first.state() == TrendState::unchanged || first.state() == TrendState::too_few;
  return text + next_command(is_quiet ? "every run of a case" : "every run of the first case",
                             fmt::format("{} history {}{}", view.program,
                                         shell_quoted(first.trend().id), view.store_option));
}

std::string format_trend_detail(const ShownTrend& shown, const TrendView& view,
                                const ConsoleOptions& console) {
  return wrap(fmt::format("{} {}.", shown.trend().id, event_words(shown)), console.width, 0) +
         wrap(detail_facts(shown, view), console.width, 0) + '\n' +
         RunTable(shown, view).render(console) + next_of_case(shown, view);
}

}  // namespace bench
