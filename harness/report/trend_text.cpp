// SPDX-License-Identifier: Apache-2.0
#include "harness/report/trend_text.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/short_id.hpp"
#include "harness/stats/change_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace bench {
namespace {

// Maximum number of cases that a sentence names; the table has all of them.
constexpr std::size_t kMaxNamedCases = 3;
// Maximum number of differences that a note names; the detail of a case has all of them.
constexpr std::size_t kMaxNamedDifferences = 3;
// A sparkline of full height covers at least 5 %, so that usual noise looks flat.
constexpr double kMinTrendRange = 0.05;
constexpr std::size_t kTrendWidth = 16;
constexpr std::size_t kMinReasonWidth = 12;
constexpr std::size_t kDateLength = 10;    // "2026-11-12"
constexpr std::size_t kMinuteLength = 16;  // "2026-11-12T08:00"

std::string date_part(const std::string& time) { return time.substr(0, kDateLength); }

std::string minute_part(const std::string& time) {
  std::string text = time.substr(0, kMinuteLength);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

std::string format_iteration(double log_time) { return format_compared_time(std::exp(log_time)); }

// "+4.1%"; a change that rounds to zero has no sign.
std::string format_signed_change(double effect) {
  const std::string text = fmt::format("{:+.1f}%", 100 * std::expm1(effect));
  return text == "+0.0%" || text == "-0.0%" ? "0.0%" : text;
}

// "4.1 % slower", for an effect in logarithms.
std::string format_log_effect(double effect) {
  return fmt::format("{:.1f} % {}", std::abs(100 * std::expm1(effect)),
                     effect > 0 ? "slower" : "faster");
}

// "2026-11-12 (commit abc123)".
std::string describe_run(const TrendRun& run) {
  if (run.commit.empty()) return date_part(run.time);
  return fmt::format("{} (commit {})", date_part(run.time), run.commit);
}

// "its last 2 runs are 4.1 % slower than those before".
std::string describe_last_runs(const PendingChange& pending) {
  return fmt::format("its last {} {} {} than those before",
                     pending.runs == 1 ? "run" : pluralise(pending.runs, "run"),
                     pending.runs == 1 ? "is" : "are", format_log_effect(pending.effect));
}

// Returns the first difference that came with the change: "; with it: env.X n/a -> 1".
std::string describe_differences(const std::vector<Change>& changes, std::size_t limit) {
  if (changes.empty()) return "";
  const std::size_t count = std::min(changes.size(), limit);
  std::string text =
      "; with it: " +
      format_changes({changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(count)});
  if (changes.size() > count) text += fmt::format("; and {} more", changes.size() - count);
  return text;
}

std::string describe_evident_change(const CaseTrend& trend, std::size_t limit) {
  const PendingChange& pending = *trend.pending;
  const TrendRun& run = trend.points[trend.points.size() - pending.runs].run;
  const std::string size =
      pending.sigmas ? fmt::format("{:.0f} times the run-to-run variation", *pending.sigmas)
                     : "far more than the variation";
  return fmt::format("is {} since {}: {}, in {}{}", format_log_effect(pending.effect),
                     describe_run(run), size, pluralise(pending.runs, "run"),
                     describe_differences(pending.with, limit));
}

std::string describe_creep(const CaseTrend& trend, const Creep& creep) {
  const TrendRun& run = trend.points[creep.since].run;
  const std::string since = run.anchor ? fmt::format("anchor {}", *run.anchor)
                                       : fmt::format("its first run of {}", date_part(run.time));
  return fmt::format("{} than {}, in {} without a step of {:g} % or more",
                     format_log_effect(creep.effect), since, pluralise(creep.runs, "run"),
                     100 * TrendOptions{}.tolerance);
}

}  // namespace

std::string describe_event(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster: {
      const TrendChange& change = *shown.last_change();
      return fmt::format("became {} {} {}", format_log_effect(change.effect),
                         change.kind == TrendChange::Kind::gradual ? "gradually around" : "on",
                         describe_run(trend.points[change.point].run));
    }
    case TrendState::creeping:
      return "is " + describe_creep(trend, trend.creeps.front());
    case TrendState::pending:
      return fmt::format("may have changed: {}, too few to be certain",
                         describe_last_runs(*trend.pending));
    case TrendState::evident:
      return describe_evident_change(trend, 1);
    case TrendState::accepted: {
      const TrendChange& change = *shown.last_change();
      const TrendRun& run = trend.points[change.point].run;
      return fmt::format("is {} since epoch {}, accepted on {}: {}",
                         format_log_effect(change.effect), run.epoch, describe_run(run),
                         run.reason);
    }
    case TrendState::unchanged:
      return "did not change";
    case TrendState::too_few:
      return fmt::format("has too few runs for a change point, which needs {} runs of an epoch",
                         2 * kMinLevelRuns);
  }
  return "";
}

namespace {

// Returns " since 2026-11-01": the time that the user gave, or the date of the first run that was
// searched.
std::string format_since(std::span<const ShownTrend> shown, const TrendView& view) {
  if (view.since) return " since " + *view.since;
  std::string first;
  for (const ShownTrend& entry : shown) {
    const CaseTrend& trend = entry.trend();
    const std::size_t searched = trend.unsearched() > 0 ? trend.first_searched() : 0;
    const std::string& time = trend.points[searched].run.time;
    if (first.empty() || time < first) first = time;
  }
  return first.empty() ? "" : " since " + date_part(first);
}

// Returns a sentence about runs that were not searched for changes; empty if all were.
std::string format_unsearched(std::span<const ShownTrend> shown) {
  std::size_t runs = 0, cases = 0;
  for (const ShownTrend& entry : shown) {
    runs += entry.trend().unsearched();
    cases += entry.trend().unsearched() > 0 ? 1 : 0;
  }
  if (runs == 0) return "";
  return fmt::format(
      "Not searched for changes: {} of {}, because only the last {} runs of an epoch are "
      "searched.",
      runs == 1 ? "the oldest run" : fmt::format("the oldest {} runs", runs),
      pluralise(cases, "case"), kMaxSeries);
}

// Names the first kMaxNamedCases cases with what happened to them. Shortens ids if the width is
// limited.
std::string list_events(std::span<const ShownTrend> shown, const IdShortener& shortener,
                        std::size_t width) {
  std::string text;
  for (const ShownTrend& entry : shown.first(std::min(shown.size(), kMaxNamedCases))) {
    const std::string& id = entry.trend().id;
    const std::vector<std::string> forms = shortener.forms(id);
    const bool is_complete = forms.empty() || width >= kUnlimitedWidth;
    text += fmt::format("{} {} {}", text.empty() ? "" : ";", is_complete ? id : forms.front(),
                        describe_event(entry));
  }
  if (shown.size() > kMaxNamedCases)
    text += fmt::format("; and {} more", shown.size() - kMaxNamedCases);
  return text;
}

// Returns the trends with one of the states.
std::vector<ShownTrend> select_states(std::span<const ShownTrend> shown,
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

// Returns the first sentence: how many of the cases with enough runs changed, and what happened to
// the first of them.
std::string format_trend_answer(std::span<const ShownTrend> shown, const TrendView& view,
                                const IdShortener& shortener, std::size_t width) {
  const auto changed =
      select_states(shown, {TrendState::slower, TrendState::evident, TrendState::faster});
  const std::size_t pending = select_states(shown, {TrendState::pending}).size();
  const std::size_t unknown = select_states(shown, {TrendState::too_few}).size();
  if (unknown == shown.size()) {
    return fmt::format("Whether {} changed is unknown: a change point needs {} runs of an epoch.",
                       shown.size() == 1 ? "the case" : fmt::format("the {} cases", shown.size()),
                       2 * kMinLevelRuns);
  }
  std::string text =
      fmt::format("{} of {} changed{}", changed.size(), pluralise(shown.size() - unknown, "case"),
                  format_since(shown, view));
  if (!changed.empty()) text += ":" + list_events(changed, shortener, width);
  if (pending > 0) text += fmt::format("; {}{} may have", pending, changed.empty() ? "" : " more");
  return text + ".";
}

// Returns the cause of the change that the state of the case is about.
std::optional<CauseFinding> shown_cause(const ShownTrend& shown) {
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster:
      return shown.last_change()->cause;
    case TrendState::creeping:
      return shown.trend().creeps.front().cause;
    case TrendState::evident:
    case TrendState::pending:
      return shown.trend().pending->cause;
    case TrendState::accepted:
    case TrendState::unchanged:
    case TrendState::too_few:
      break;
  }
  return std::nullopt;
}

// Returns the sentences after the first one, each about the cases in one state.
std::vector<Note> trend_notes(std::span<const ShownTrend> shown, const IdShortener& shortener,
                              std::size_t width) {
  std::vector<Note> notes;
  const auto add = [&](NoteTopic topic, std::string_view subject, TrendState state) {
    const auto named = select_states(shown, {state});
    if (named.empty()) return;
    notes.push_back({topic, fmt::format("{}:{}.", subject, list_events(named, shortener, width))});
  };
  CauseSummary causes;
  for (const ShownTrend& entry : shown) causes.add(shown_cause(entry));
  for (const std::string& cause : causes.sentences())
    notes.push_back({NoteTopic::answer, as_sentence(cause)});
  const std::size_t creeping = select_states(shown, {TrendState::creeping}).size();
  add(NoteTopic::answer, pluralise(creeping, "case changes slowly", "cases change slowly"),
      TrendState::creeping);
  add(NoteTopic::answer, "Not certain yet", TrendState::pending);
  add(NoteTopic::other, "Accepted", TrendState::accepted);
  if (std::string unsearched = format_unsearched(shown); !unsearched.empty())
    notes.push_back({NoteTopic::validity, std::move(unsearched)});
  const std::size_t too_few = select_states(shown, {TrendState::too_few}).size();
  if (too_few == 0 || too_few == shown.size()) return notes;
  notes.push_back({NoteTopic::validity,
                   fmt::format("{} too few runs: a change point needs {} runs of an epoch.",
                               pluralise(too_few, "case has", "cases have"), 2 * kMinLevelRuns)});
  return notes;
}

std::string describe_change(const CaseTrend& trend, const TrendChange& change, std::size_t limit) {
  const TrendRun& run = trend.points[change.point].run;
  const std::string effect = format_signed_change(change.effect);
  const std::string with = describe_differences(change.with, limit);
  switch (change.kind) {
    case TrendChange::Kind::step:
      return fmt::format("{} on {}{}", effect, describe_run(run), with);
    case TrendChange::Kind::gradual:
      return fmt::format("{} gradually around {}{}", effect, describe_run(run), with);
    case TrendChange::Kind::accepted:
      return fmt::format("{} accepted on {}, epoch {}: {}", effect, describe_run(run), run.epoch,
                         run.reason);
  }
  return "";
}

// Returns "3 runs not compared: REASON", for the most frequent reason.
std::string describe_skipped_runs(const CaseTrend& trend) {
  if (trend.skipped.empty()) return "";
  std::map<std::string, std::size_t> reasons;
  for (const SkippedRun& skipped : trend.skipped) ++reasons[skipped.reason];
  const auto usual =
      std::ranges::max_element(reasons, {}, [](const auto& row) { return row.second; });
  std::string text =
      fmt::format("{} not compared: {}", pluralise(trend.skipped.size(), "run"), usual->first);
  if (reasons.size() > 1) text += fmt::format("; and {} other reasons", reasons.size() - 1);
  return text;
}

// Returns the note below the row of a case: its changes, and runs that are not compared.
std::string make_case_note(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  std::string note;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) note += (note.empty() ? "" : ". ") + text;
  };
  for (const TrendChange& change : shown.changes())
    add(describe_change(trend, change, kMaxNamedDifferences));
  if (shown.state() == TrendState::creeping)
    add("creep: " + describe_creep(trend, trend.creeps.front()));
  if (shown.state() == TrendState::evident)
    add(describe_evident_change(trend, kMaxNamedDifferences));
  if (shown.state() == TrendState::pending)
    add(describe_event(shown) + describe_differences(trend.pending->with, kMaxNamedDifferences));
  add(describe_skipped_runs(trend));
  return note;
}

Tone state_tone(const ShownTrend& shown) {
  switch (shown.state()) {
    case TrendState::slower:
      return Tone::bad;
    case TrendState::evident:
      return shown.is_slower_now() ? Tone::bad : Tone::good;
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

std::string render_trend_line(const ShownTrend& shown, Glyphs glyphs) {
  std::vector<double> values;
  for (std::size_t i = shown.first_point(); i < shown.trend().points.size(); ++i)
    values.push_back(shown.trend().points[i].log_time);
  return sparkline(values, {kTrendWidth, kMinTrendRange, glyphs});
}

// Says what a time is, and why the store's medians of the same runs are others.
std::string describe_basis(std::span<const ShownTrend> shown, const TrendView& view) {
  const auto at_speed = std::ranges::count_if(shown, [](const ShownTrend& entry) {
    return entry.trend().basis == TrendBasis::equal_speed;
  });
  if (at_speed == 0) return "Times are medians over each run's processes.";
  const std::string command =
      fmt::format("`{} {}{}`", view.program, view.list_command, view.store_option);
  if (at_speed == std::ssize(shown)) {
    return fmt::format(
        "Times are those at equal speed of the machine, so that runs are comparable; {} shows the "
        "medians as measured.",
        command);
  }
  return fmt::format(
      "Times of {} of {} cases are those at equal speed of the machine, so that their runs are "
      "comparable; {} shows their medians as measured. Times of the other cases are medians over "
      "each run's processes.",
      at_speed, shown.size(), command);
}

std::string render_class_table(std::span<const ShownTrend> shown, const TrendView& view,
                               const ConsoleOptions& console) {
  const std::vector<TextColumn> columns = {{"case", Align::left, kMinId},
                                           {"runs", Align::right, std::nullopt, 2},
                                           {"first", Align::right, std::nullopt, 3},
                                           {"last", Align::right, std::nullopt, 1},
                                           {"change", Align::right},
                                           {"trend"}};
  std::vector<TextRow> rows;
  for (const ShownTrend& entry : shown) {
    const CaseTrend& trend = entry.trend();
    rows.push_back({{{trend.id},
                     {std::to_string(trend.points.size() - entry.first_point())},
                     {format_iteration(entry.reference_level())},
                     {format_iteration(entry.present_level())},
                     {format_signed_change(entry.total_effect()), state_tone(entry)},
                     {render_trend_line(entry, view.glyphs)}},
                    make_case_note(entry)});
  }
  shorten_ids(rows);
  return render_table(columns, std::move(rows), console.width, console.colour);
}

// A column of the table of runs.
struct RunColumn {
  TextColumn column;
  std::string (*text)(const TrendRun& run);
};

// Returns the columns of a trend. Omits the anchor if no run has one, and the epoch if there is
// only the first epoch.
std::vector<RunColumn> make_run_columns(const CaseTrend& trend) {
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
  columns.push_back({{"reason", Align::left, kMinReasonWidth, 4},
                     [](const TrendRun& run) { return run.reason; }});
  return columns;
}

// The table of all shown runs, in the order of saving. Runs that are not compared are in it, too.
class RunTable {
 public:
  RunTable(const ShownTrend& shown, const TrendView& view)
      : shown_(shown), view_(view), columns_(make_run_columns(shown.trend())) {}

  std::string render(const ConsoleOptions& console) {
    const CaseTrend& trend = shown_.trend();
    if (const auto& pending = trend.pending) {
      const bool is_evident = pending->certainty == PendingChange::Certainty::evident;
      notes_[trend.points.size() - pending->runs] =
          fmt::format("{}: {}{}", is_evident ? "new level" : "perhaps a new level",
                      format_signed_change(pending->effect),
                      describe_differences(pending->with, pending->with.size()));
    }
    for (const TrendChange& change : shown_.changes())
      notes_[change.point] = "new level: " + describe_change(trend, change, change.with.size());
    for (std::size_t i = shown_.first_point(); i < trend.points.size(); ++i) {
      const TrendPoint& point = trend.points[i];
      add_skipped_before(&point.run);
      add_row(point.run, format_iteration(point.log_time),
              point.effect ? format_signed_change(*point.effect) : "", notes_[i]);
    }
    add_skipped_before(nullptr);
    std::vector<TextColumn> headings;
    for (const RunColumn& entry : columns_) headings.push_back(entry.column);
    headings.insert(headings.begin() + 1,
                    {TextColumn{"time", Align::right}, TextColumn{"change", Align::right}});
    return render_table(headings, std::move(rows_), console.width, console.colour);
  }

 private:
  void add_row(const TrendRun& run, const std::string& time, const std::string& change,
               std::string note) {
    TextRow row{{}, std::move(note)};
    for (const RunColumn& entry : columns_) row.cells.push_back({entry.text(run)});
    row.cells.insert(row.cells.begin() + 1, {TextCell{time}, TextCell{change}});
    rows_.push_back(std::move(row));
  }

  // Adds the runs that are not compared and come before `run`, a compared run. nullptr adds all
  // others.
  void add_skipped_before(const TrendRun* run) {
    const std::vector<SkippedRun>& skipped = shown_.trend().skipped;
    for (; skipped_ < skipped.size(); ++skipped_) {
      const SkippedRun& next = skipped[skipped_];
      if (run != nullptr && run->number <= next.run.number) return;
      if (view_.since && next.run.time < *view_.since) continue;
      add_row(next.run, "", "", "not compared: " + next.reason);
    }
  }

  const ShownTrend& shown_;
  const TrendView& view_;
  std::vector<RunColumn> columns_;
  std::map<std::size_t, std::string> notes_;  // by point
  std::size_t skipped_ = 0;                   // index of the next run that is not compared
  std::vector<TextRow> rows_;
};

// Returns the sentences about the series of one case.
std::vector<Note> detail_notes(const ShownTrend& shown, const TrendView& view) {
  const CaseTrend& trend = shown.trend();
  std::vector<Note> notes;
  if (const auto cause = shown_cause(shown))
    notes.push_back({NoteTopic::answer, as_sentence(describe_cause(*cause))});
  const std::vector<Note> facts = {
      {NoteTopic::quality,
       fmt::format(
           "{} in {} on {}; run-to-run variation {}.",
           pluralise(trend.points.size() + trend.skipped.size(), "run"),
           pluralise(trend.epochs.size(), "epoch"), trend.machine_class,
           format_or_unknown(trend.spread,
                             [](double value) { return fmt::format("{:.2f} %", 100 * value); }))},
      {NoteTopic::other, describe_basis(std::span(&shown, 1), view)}};
  notes.insert(notes.end(), facts.begin(), facts.end());
  if (std::string unsearched = format_unsearched(std::span(&shown, 1)); !unsearched.empty())
    notes.push_back({NoteTopic::validity, std::move(unsearched)});
  // If the case is creeping, the answer already describes the first creep.
  for (std::size_t i = shown.state() == TrendState::creeping ? 1 : 0; i < trend.creeps.size();
       ++i) {
    notes.push_back(
        {NoteTopic::answer, fmt::format("It is {}.", describe_creep(trend, trend.creeps[i]))});
  }
  return notes;
}

// Returns a run from before the change, whose version the user should measure together with the
// present one. nullptr if nothing changed.
const TrendRun* find_run_before_change(const ShownTrend& shown) {
  const std::vector<TrendPoint>& points = shown.trend().points;
  switch (shown.state()) {
    case TrendState::slower:
    case TrendState::faster:
      return &points[shown.last_change()->point - 1].run;
    case TrendState::creeping:
      return &points[shown.trend().creeps.front().since].run;
    case TrendState::evident:
    case TrendState::pending:
      return &points[points.size() - 1 - shown.trend().pending->runs].run;
    case TrendState::accepted:
    case TrendState::unchanged:
    case TrendState::too_few:
      break;
  }
  return nullptr;
}

// Returns the command that shows the cause of what the state of the case says.
std::optional<NextCommand> suggest_cause_command(const ShownTrend& shown, const TrendRun& old_run,
                                                 const TrendView& view) {
  const std::optional<CauseFinding> cause = shown_cause(shown);
  if (!cause) return std::nullopt;
  CauseMeasurement measurement;
  measurement.program = view.program;
  measurement.id = shown.trend().id;
  measurement.old_commit = old_run.commit;
  const bool is_known = view.has_program && !old_run.program.empty();
  if (is_known && view.has_program(old_run)) measurement.old_program = old_run.program;
  return next_command(*cause, measurement);
}

std::string suggest_next_command(const ShownTrend& shown, const TrendView& view) {
  const std::string id = shell_quoted(shown.trend().id);
  const TrendRun* const old_run = find_run_before_change(shown);
  if (old_run == nullptr)
    return format_next_command(
        "what the last run was, and how much runs differ",
        fmt::format("{} {} {}{}", view.program, view.show_command, id, view.store_option));
  if (const auto next = suggest_cause_command(shown, *old_run, view))
    return format_next_command(next->announcement, next->command);
  return format_next_command(
      fmt::format("measure it together with a checkout of {}",
                  old_run->commit.empty() ? "the version before" : "commit " + old_run->commit),
      fmt::format("{} duet {} --base CHECKOUT", view.program, id));
}

}  // namespace

std::string format_next_command(std::string_view announcement, const std::string& command) {
  return fmt::format("\n{}:\n  {}\n", printable(announcement), printable(command));
}

std::string format_trends(std::span<const ShownTrend> shown, const TrendView& view,
                          const ConsoleOptions& console) {
  const IdShortener shortener = make_shortener(shown);
  std::string text =
      wrap(format_trend_answer(shown, view, shortener, console.width), console.width, 0) +
      format_notes(trend_notes(shown, shortener, console.width), console.notes, console.width, "");
  std::map<std::string, std::vector<ShownTrend>> classes;
  for (const ShownTrend& entry : shown) classes[entry.trend().machine_class].push_back(entry);
  for (const auto& [machine_class, entries] : classes) {
    text += fmt::format("\n{}\n", printable(machine_class)) +
            render_class_table(entries, view, console);
  }
  if (shown.empty()) return text;
  const ShownTrend& first = shown.front();
  text += '\n' + wrap(describe_basis(shown, view), console.width, 0);
  const bool is_quiet =
      first.state() == TrendState::unchanged || first.state() == TrendState::too_few;
  return text +
         format_next_command(is_quiet ? "every run of a case" : "every run of the first case",
                             fmt::format("{} history {}{}", view.program,
                                         shell_quoted(first.trend().id), view.store_option));
}

std::string format_trend_detail(const ShownTrend& shown, const TrendView& view,
                                const ConsoleOptions& console) {
  return wrap(fmt::format("{} {}.", shown.trend().id, describe_event(shown)), console.width, 0) +
         format_notes(detail_notes(shown, view), console.notes, console.width, "") +
         "Trend: " + render_trend_line(shown, view.glyphs) + "\n\n" +
         RunTable(shown, view).render(console) + suggest_next_command(shown, view);
}

}  // namespace bench
