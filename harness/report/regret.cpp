// SPDX-License-Identifier: Apache-2.0
#include "harness/report/regret.hpp"

#include "base/plural.hpp"
#include "base/printable.hpp"
#include "base/shell.hpp"
#include "base/text.hpp"
#include "harness/report/choice_gap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace bench {
namespace {

// Beginning of the detail `tuned_caches` of candidates that were not measured with the caches of
// their case.
constexpr std::string_view kHotCaches = "hot";

constexpr std::array<std::string_view, 6> kChoiceColumns = {"case", "chosen",  "chosen_ns",
                                                            "best", "best_ns", "choice_cost"};

// Formats a fraction with two significant digits or more: "2.3 %", "12 %", "140 %".
std::string format_cost(double cost) {
  const double percent = 100 * cost;
  return fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0);
}

// Returns the case whose choice costs the most, the first one of equal ones.
const CaseRecord& find_most_costly(const std::vector<const CaseRecord*>& tuned) {
  return **std::ranges::max_element(
      tuned, {}, [](const CaseRecord* record) { return record->regret->cost(); });
}

// Candidates that were not measured were not measured with other caches either.
bool has_other_caches(const CaseRecord& record) {
  if (!record.regret->is_compared()) return false;
  const auto caches = record.details.find("tuned_caches");
  return caches != record.details.end() && caches->second.starts_with(kHotCaches);
}

// Formats the answer about a case of a report, without a period.
std::string describe_choice(const CaseRecord& record) {
  return describe_regret(*record.regret) +
         (has_other_caches(record) ? ", measured with hot caches" : "");
}

std::vector<std::string> choice_cells(const CaseRecord& record) {
  const ops::Regret& regret = *record.regret;
  std::string best = "as chosen", best_time, cost = "none";
  if (regret.has_cost()) {
    best = regret.best;
    best_time = format_time(regret.best_time);
    cost = format_cost(regret.cost());
  } else if (!regret.is_compared()) {
    best = cost = kUnknown;
  }
  return {record.id, regret.chosen, format_time(regret.chosen_time), best, best_time, cost};
}

// Names the cases with cold caches whose candidates were measured with hot ones. Empty if there are
// none.
std::string format_other_caches(const Report& report) {
  std::vector<const CaseRecord*> cases = find_tuned_cases(report);
  std::erase_if(cases, [](const CaseRecord* record) { return !has_other_caches(*record); });
  if (cases.empty()) return "";
  return fmt::format(
      "The candidates of {} ({}{}) were measured with hot caches instead of cold ones, so with "
      "cold caches the cost can differ. A run without `tune` measures the library's choice with "
      "cold caches.",
      pluralise(cases.size(), "case"), cases.size() == 1 ? "" : "first: ", cases.front()->id);
}

}  // namespace

std::string describe_regret(const ops::Regret& regret) {
  if (regret.has_cost()) {
    const std::string cost = format_cost(regret.cost());
    return fmt::format("{} was chosen; {} is {} faster: the choice costs {}", regret.chosen,
                       regret.best, cost, cost);
  }
  if (!regret.is_compared())
    return fmt::format("{} was chosen; no other candidate was measured", regret.chosen);
  const auto others =
      std::ranges::count_if(regret.candidates, [&](const ops::MeasuredCandidate& candidate) {
        return candidate.time && candidate.name != regret.chosen;
      });
  return fmt::format("{} was chosen; {} faster beyond the noise", regret.chosen,
                     others == 1 ? "the other candidate is not"
                                 : fmt::format("none of the {} other candidates is", others));
}

std::string format_candidates(const ops::Regret& regret, std::size_t indent) {
  std::size_t width = 0;
  for (const ops::MeasuredCandidate& candidate : regret.candidates)
    width = std::max(width, candidate.name.size());
  std::string text;
  for (const ops::MeasuredCandidate& candidate : regret.candidates) {
    std::string line =
        fmt::format("{:{}}{:<{}}  {}", "", indent, candidate.name, width,
                    candidate.time ? format_time(*candidate.time) : "failed: " + candidate.failure);
    if (candidate.name == regret.chosen) line += "  chosen";
    if (candidate.name == regret.best && regret.has_cost()) line += "  best";
    text += line + '\n';
  }
  return text;
}

std::string regret_sentence(const Report& report) {
  const std::vector<const CaseRecord*> tuned = find_tuned_cases(report);
  if (tuned.empty()) return "";
  const CaseRecord& example = find_most_costly(tuned);
  if (tuned.size() == 1) return fmt::format("{}: {}.", example.id, describe_choice(example));
  const auto costly = std::ranges::count_if(
      tuned, [](const CaseRecord* record) { return record->regret->has_cost(); });
  if (costly > 0) {
    return fmt::format("The library's choice costs time in {} of {}, most in {}: {}.", costly,
                       pluralise(tuned.size(), "tuned case"), example.id, describe_choice(example));
  }
  const auto compared = std::ranges::count_if(
      tuned, [](const CaseRecord* record) { return record->regret->is_compared(); });
  if (compared == 0) {
    return fmt::format("In {} no other candidate was measured.",
                       pluralise(tuned.size(), "tuned case"));
  }
  return fmt::format("In {} no candidate is faster than the library's choice beyond the noise.",
                     pluralise(compared, "tuned case"));
}

std::vector<const CaseRecord*> find_tuned_cases(const Report& report) {
  std::vector<const CaseRecord*> tuned;
  for (const CaseRecord& record : report.cases) {
    if (record.regret) tuned.push_back(&record);
  }
  return tuned;
}

Table choice_table(const std::vector<const CaseRecord*>& tuned) {
  Table table;
  for (const std::string_view name : kChoiceColumns)
    table.columns.push_back(table_column(case_column(name)));
  for (const CaseRecord* record : tuned) {
    const std::vector<std::string> texts = choice_cells(*record);
    TableRow& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < texts.size(); ++i)
      row.cells.push_back({texts[i], case_column(kChoiceColumns[i]).value(*record)});
  }
  return table;
}

std::string_view choice_columns_note() {
  return "chosen: what the library takes by itself; best: the candidate that is faster beyond the "
         "noise, which the case ran; costs: how much longer the choice takes than the best; none: "
         "no candidate is faster beyond the noise. All candidates of a case:";
}

std::string choice_command(const std::vector<const CaseRecord*>& tuned) {
  const CaseRecord& example = find_most_costly(tuned);
  const auto count = example.details.find(kTuneDetail);
  return fmt::format("bench explain {} --set tune={}", shell_quoted(example.id),
                     count == example.details.end() ? "true" : shell_quoted(count->second));
}

std::vector<std::string> choice_notes(const Report& report) {
  std::vector<std::string> notes = choice_gap_notes(report);
  if (std::string caches = format_other_caches(report); !caches.empty())
    notes.insert(notes.begin(), std::move(caches));
  return notes;
}

std::string regret_table(const Report& report, std::size_t width, Colour colour) {
  // From this width on, the table omits the times rather than cut ids and names further. They are
  // among the candidates that choice_command() shows.
  constexpr std::size_t kUsualWidth = 80;
  const std::size_t min_id = width < kUsualWidth ? 16 : 28;
  const std::size_t min_candidate = width < kUsualWidth ? 12 : 18;
  const std::vector<const CaseRecord*> tuned = find_tuned_cases(report);
  std::string text;
  if (!tuned.empty()) {
    Table table = choice_table(tuned);
    table.columns = {
        {"tuned case", ColumnKind::id, min_id},         {"chosen", ColumnKind::text, min_candidate},
        {"takes", ColumnKind::number, std::nullopt, 1}, {"best", ColumnKind::text, min_candidate},
        {"takes", ColumnKind::number, std::nullopt, 1}, {"costs", ColumnKind::number}};
    // The command has a line of its own, which is never broken, so that it can be copied.
    text = text_table(table, width, colour) + wrap(choice_columns_note(), width, 0) + "  " +
           printable(choice_command(tuned)) + '\n';
  }
  for (const std::string& note : choice_notes(report)) text += wrap(note, width, 0);
  return text;
}

}  // namespace bench
