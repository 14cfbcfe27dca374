// SPDX-License-Identifier: Apache-2.0
// The pages of a gate, of a comparison and of a store.
#include "base/text.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/page.hpp"
#include "harness/report/parameter_text.hpp"
#include "harness/report/program_text.hpp"
#include "harness/report/trend_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>

namespace bench {
namespace {

using enum ColumnKind;

// Adds the plots of effects and of both sides. The page opens with the first effects, so it shows
// them again only if there are more of them.
void add_judged_plots(const std::vector<ForestRow>& effects, double tolerance, const Plot& sides,
                      Page& page) {
  if (effects.size() > kMaxOpeningRows) {
    const Plot all = forest_plot(effects, tolerance);
    page.plots(all.title, "of " + pluralise(effects.size(), "case"), {&all, 1});
  }
  page.plots(sides.title, "the times of both sides", {&sides, 1});
}

// The series of a forest plot. A series selects colour and shape; the plot's caption names both:
// circle, square, triangle, diamond.
constexpr std::size_t kNeither = 0, kSlower = 1, kFaster = 2, kUndecided = 3;
// By Tone.
constexpr std::array<std::size_t, 5> kToneSeries = {kNeither, kFaster, kUndecided, kSlower,
                                                    kNeither};
std::size_t tone_series(Tone tone) { return kToneSeries[static_cast<std::size_t>(tone)]; }

template <std::integral Count>
TableCell make_count_cell(Count count) {
  return {std::to_string(count), static_cast<std::int64_t>(count)};
}

// Explains the columns of the table of a gate.
std::string explain_gate_columns(std::string_view reference) {
  return fmt::format(
      "`slower by` is the change of the candidate's time against the {}; negative is faster. `low` "
      "and `high` are the bounds of this change, each with an error of 5 %. `p (BH)` is the "
      "probability of so large a change between equal sides, corrected for the number of cases "
      "(Benjamini and Hochberg). `duets` counts the measurements of both sides together, after + "
      "those that confirmed the result; `none`: stored runs alone decided the case.",
      reference);
}

void add_gate_table(const GateFile& gate, const KitPaths& kits, Page& page) {
  Table table = gate_table(gate, reading_order(gate.judgements), kits, in_page);
  const std::string reference = gate.facts.base ? "base" : "reference";
  std::ranges::find(table.columns, "reference", &TableColumn::heading)->heading = reference;
  page.table(table);
  page.paragraph(explain_gate_columns(reference));
}

std::vector<ForestRow> make_forest_rows(const GateFile& gate) {
  std::vector<ForestRow> rows;
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    if (!judgement->effect) continue;
    rows.push_back({judgement->id, std::string(to_string(judgement->verdict)),
                    tone_series(page_tone(judgement->verdict)), *judgement->effect, judgement->low,
                    judgement->high});
  }
  return rows;
}

// Returns one row per case with duets. Each duet gives one time per side, the median of the rounds
// that count, as in the effect.
std::vector<SidesRow> make_sides_rows(const GateFile& gate) {
  std::vector<SidesRow> rows;
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    const auto found = std::ranges::find(gate.evidence.cases, judgement->id, &CaseEvidence::id);
    if (found == gate.evidence.cases.end()) continue;
    SidesRow row{judgement->id, {}, {}};
    for (const Duet& duet : found->duets) {
      const auto base = duet_median(duet, &Duet::base);
      const auto candidate = duet_median(duet, &Duet::candidate);
      if (!base || !candidate) continue;
      row.base.push_back(*base);
      row.candidate.push_back(*candidate);
    }
    if (!row.base.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

Plot gate_sides_plot(const GateFile& gate) {
  return sides_plot(make_sides_rows(gate), "medians of duets");
}

}  // namespace

std::vector<Plot> gate_plots(const GateFile& gate) {
  return {forest_plot(make_forest_rows(gate), gate.evidence.settings.delta), gate_sides_plot(gate)};
}

std::string gate_page(const GateFile& gate, const KitPaths& kits) {
  Page page(fmt::format("{}: gate", gate.facts.config_name), gate.conclusion.sentence);
  const std::vector<ForestRow> effects = make_forest_rows(gate);
  page.open(forest_plot(effects, gate.evidence.settings.delta, kMaxOpeningRows),
            gate_findings(gate));
  page.section("Cases", count_rows(gate.judgements.size()));
  add_gate_table(gate, kits, page);
  add_judged_plots(effects, gate.evidence.settings.delta, gate_sides_plot(gate), page);
  page.section("Context", "the sides, the machine, what to do");
  page.list(context_lines(gate));
  page.facts({{"machine class", gate.facts.machine_class}, {"run", gate.facts.run_id}});
  return std::move(page).finish();
}

namespace {

std::string format_comparison_lead(const Comparison& comparison) {
  const std::string programs =
      comparison.programs ? program_answer(*comparison.programs) + " " : "";
  return fmt::format("{}{} against {}: {}", programs, comparison.candidate, comparison.base,
                     format_comparison_answer(comparison));
}

void add_programs(const ProgramComparison& programs, Page& page) {
  page.section("Whole programs", "wall times, and what else took time");
  page.facts({{"base", programs.base}, {"candidate", programs.candidate}});
  for (Table& table : program_tables(programs)) {
    table.columns.back().kind = number;
    page.table(table);
  }
}

std::vector<ForestRow> make_forest_rows(const Comparison& comparison) {
  const auto fraction = [](const std::optional<double>& ratio) {
    return ratio ? std::optional(*ratio - 1) : std::nullopt;
  };
  std::vector<ForestRow> effects;
  for (const ComparedCase& entry : comparison.cases) {
    if (!entry.ratio) continue;
    effects.push_back({entry.id, std::string(to_string(entry.verdict)),
                       tone_series(verdict_tone(entry.verdict)), *entry.ratio - 1,
                       fraction(entry.low), fraction(entry.high)});
  }
  return effects;
}

Plot comparison_sides_plot(const Comparison& comparison) {
  std::vector<SidesRow> sides;
  for (const ComparedCase& entry : comparison.cases) {
    if (!entry.base_processes.empty() && !entry.candidate_processes.empty()) {
      sides.push_back({entry.id, entry.base_processes, entry.candidate_processes});
    }
  }
  return sides_plot(sides, "times of processes");
}

// `effects`: make_forest_rows(comparison).
void open_comparison(const Comparison& comparison, const std::vector<ForestRow>& effects,
                     Page& page) {
  page.open(forest_plot(effects, comparison.tolerance, kMaxOpeningRows),
            comparison_findings(comparison));
  page.section("Cases", count_rows(comparison.cases.size()));
  page.table(comparison_table(comparison, in_page));
}

void add_comparison_plots(const Comparison& comparison, const std::vector<ForestRow>& effects,
                          Page& page) {
  add_judged_plots(effects, comparison.tolerance, comparison_sides_plot(comparison), page);
}

}  // namespace

std::vector<Plot> comparison_plots(const Comparison& comparison) {
  return {forest_plot(make_forest_rows(comparison), comparison.tolerance),
          comparison_sides_plot(comparison)};
}

std::string comparison_page(const Comparison& comparison) {
  Page page("Comparison", format_comparison_lead(comparison));
  const std::vector<ForestRow> effects = make_forest_rows(comparison);
  open_comparison(comparison, effects, page);
  if (comparison.programs) add_programs(*comparison.programs, page);
  if (!comparison.groups.empty()) {
    page.section("Groups", "geometric means");
    Table table{{{"group", id}, {"cases", number}, {"change (geometric mean)", number}}, {}};
    for (const GroupRatio& group : comparison.groups) {
      table.rows.push_back(
          {{{group.group}, make_count_cell(group.cases), make_change_cell(group.ratio - 1)}});
    }
    page.table(table);
    if (comparison.counted) page.paragraph(format_counted(comparison));
  }
  add_comparison_plots(comparison, effects, page);
  page.section(kChangesSection, "machine, libraries, configuration");
  page.facts({{"base", comparison.base}, {"candidate", comparison.candidate}});
  std::vector<std::string> changes;
  for (const Change& change : comparison.changes) {
    changes.push_back(fmt::format("{}: {}", change.field, format_values(change)));
  }
  if (changes.empty()) {
    page.paragraph("Machine, libraries and configuration are the same on both sides.");
  }
  page.list(changes);
  return std::move(page).finish();
}

std::string parameter_page(const ParameterComparison& comparison) {
  Comparison pairs;
  pairs.tolerance = ComparisonOptions{}.tolerance;
  for (const ParameterGroup& group : comparison.groups) {
    for (const auto& effect : group.effects) {
      if (effect) pairs.cases.push_back(effect->compared);
    }
  }
  const std::string text = format_parameter_comparison(comparison, {.width = kUnlimitedWidth});
  Page page(fmt::format("Comparison by {}", comparison.parameter), text.substr(0, text.find('\n')));
  const std::vector<ForestRow> effects = make_forest_rows(pairs);
  open_comparison(pairs, effects, page);
  add_comparison_plots(pairs, effects, page);
  page.section("What is compared", comparison.parameter);
  page.facts(
      {{"result", comparison.name},
       {"base of each row", fmt::format("{} = {}", comparison.parameter, comparison.against)},
       {"candidates", fmt::format("{}", fmt::join(comparison.values, ", "))}});
  if (!comparison.is_work_equal) {
    page.paragraph(
        "The pairs compute different amounts of work; the changes are those of the time.");
  }
  if (comparison.run) {
    page.section("Environment", "machine, libraries, command");
    page.facts(list_run_facts(*comparison.run));
  }
  return std::move(page).finish();
}

namespace {

std::string format_state(TrendState state) {
  std::string text(to_string(state));
  std::ranges::replace(text, '_', ' ');
  return text;
}

// By state, in the order of TrendState.
Tone trend_page_tone(const ShownTrend& shown) {
  using enum Tone;
  constexpr std::array<Tone, 8> kTones = {bad, bad, bad, good, warning, warning, plain, plain};
  const bool is_evidently_faster = shown.state() == TrendState::evident && !shown.is_slower_now();
  const TrendState state = is_evidently_faster ? TrendState::faster : shown.state();
  return kTones[static_cast<std::size_t>(state)];
}

TableRow history_row(const ShownTrend& shown) {
  const CaseTrend& trend = shown.trend();
  const TrendRun& last = trend.points.back().run;
  const double time = std::exp(shown.present_level());
  return {{{trend.id},
           {trend.machine_class},
           {format_state(shown.state()), {}, trend_page_tone(shown)},
           make_count_cell(trend.points.size() + trend.skipped.size()),
           make_count_cell(last.epoch),
           {format_compared_time(time), time},
           make_change_cell(std::expm1(shown.total_effect())),
           {last.time},
           {last.commit},
           {last.reason}}};
}

// Computes the same trends as `bench history`: the cases of each machine class are one family of
// statistical tests.
std::vector<CaseTrend> compute_store_trends(const std::vector<BaselineHistory>& histories) {
  std::map<std::string_view, std::vector<BaselineHistory>> classes;
  for (const BaselineHistory& history : histories) {
    if (history.records.empty()) continue;
    classes[history.records.back().environment.machine_class].push_back(history);
  }
  std::vector<CaseTrend> trends;
  for (const auto& [name, members] : classes) {
    std::ranges::move(compute_trends(members, {}), std::back_inserter(trends));
  }
  return trends;
}

// Returns the histories of these cases in their order: the most important ones first.
HistoryRows order_histories(const std::vector<BaselineHistory>& histories,
                            std::span<const ShownTrend> shown) {
  std::map<std::string_view, const BaselineHistory*> by_path;
  for (const BaselineHistory& history : histories) by_path.emplace(history.path, &history);
  HistoryRows ordered;
  for (const ShownTrend& entry : shown) {
    const auto found = by_path.find(entry.trend().path);
    if (found != by_path.end()) ordered.push_back(found->second);
  }
  return ordered;
}

}  // namespace

std::vector<Plot> history_plots(const std::vector<BaselineHistory>& histories) {
  HistoryRows rows;
  for (const BaselineHistory& history : histories) rows.push_back(&history);
  return {history_plot(rows)};
}

std::string history_page(const std::vector<BaselineHistory>& histories, const std::string& name) {
  std::size_t runs = 0;
  std::vector<std::string> problems;
  for (const BaselineHistory& history : histories) {
    problems.insert(problems.end(), history.problems.begin(), history.problems.end());
    runs += history.records.size();
  }
  const std::vector<CaseTrend> trends = compute_store_trends(histories);
  const std::vector<ShownTrend> shown = shown_trends(trends, {});
  const std::string text =
      shown.empty() ? "" : format_trends(shown, {}, {.width = kUnlimitedWidth});
  Page page(fmt::format("Baselines in {}", name),
            fmt::format("{} with {} in total. {}", pluralise(shown.size(), "case"),
                        pluralise(runs, "accepted run"), text.substr(0, text.find('\n'))));
  const Plot picture = history_plot(order_histories(histories, shown), kMaxOpeningRows);
  page.open(picture, history_findings(shown));
  page.section("Cases", count_rows(shown.size()));
  Table table{{{"case", id},
               {"machine class"},
               {"state"},
               {"runs", number},
               {"epoch", number},
               {"last time", number},
               {"change", number},
               {"last run"},
               {"commit"},
               {"reason", prose}},
              {}};
  for (const ShownTrend& entry : shown) table.rows.push_back(history_row(entry));
  page.table(table);
  page.paragraph("`bench history CASE` shows all runs of a case and its changes.");
  if (histories.size() > kMaxOpeningRows)
    page.plots("History", "of " + pluralise(histories.size(), "case"), history_plots(histories));
  if (!problems.empty()) {
    page.section("Problems", fmt::format("{} of the store", problems.size()));
    page.list(problems);
  }
  return std::move(page).finish();
}

}  // namespace bench
