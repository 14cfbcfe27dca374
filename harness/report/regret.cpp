// SPDX-License-Identifier: Apache-2.0
#include "harness/report/regret.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"

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

// One row per reason.
namespace {

constexpr std::array<std::string_view, 3> kTunedBackends = {"onednn", "cudnn", "cublaslt"};

constexpr std::string_view kOtherBackend =
    "to compare libraries, give the case several backends and run `bench compare RESULT --by "
    "backend`";
constexpr std::string_view kLayers =
    "tune the layers as cases of their own: `measure: [layers]` with `tune: true`";

std::string_view find_tuned_detail(const TunedCase& tuned) {
  const auto found = tuned.details.find("tuned");
  return found == tuned.details.end() ? std::string_view() : std::string_view(found->second);
}

bool has_one_candidate(const TunedCase& tuned) {
  return tuned.regret != nullptr && tuned.regret->candidates.size() < 2;
}

bool asked_for_one_candidate(const TunedCase& tuned) {
  const auto asked = tuned.details.find(kTuneDetail);
  return has_one_candidate(tuned) && asked != tuned.details.end() && asked->second == "1";
}

std::string format_first_failure(const TunedCase& tuned) {
  const auto& candidates = tuned.regret->candidates;
  const auto failed =
      std::ranges::find_if(candidates, [](const ops::MeasuredCandidate& c) { return !c.time; });
  if (failed == candidates.end()) return "no other candidate could be measured";
  return fmt::format("no other candidate could be measured ({}: {})", failed->name,
                     failed->failure);
}

// A reason, and what the user can do about it. The first row that applies counts.
struct GapRow {
  bool (*applies)(const TunedCase&);
  std::string (*reason)(const TunedCase&);
  std::string_view next_step;
};

constexpr std::array kGapRows = {
    GapRow{asked_for_one_candidate,
           [](const TunedCase&) {
             return std::string("`tune: 1` measures only what the library takes by itself");
           },
           "use `tune: true`, which measures other candidates too"},
    GapRow{has_one_candidate,
           [](const TunedCase&) { return std::string("the library offers no other candidate"); },
           kOtherBackend},
    GapRow{[](const TunedCase& t) { return t.regret != nullptr; }, format_first_failure,
           "`bench explain` with the same `tune` shows why each of them failed"},
    GapRow{[](const TunedCase& t) { return find_tuned_detail(t).starts_with(ops::kNotTuned); },
           [](const TunedCase& t) {
             return std::string(find_tuned_detail(t).substr(ops::kNotTuned.size()));
           },
           "remove the cause (if it is memory, free some or choose a smaller shape) and run the "
           "case again"},
    GapRow{[](const TunedCase& t) { return find_tuned_detail(t).starts_with(ops::kChosenBefore); },
           [](const TunedCase& t) {
             return fmt::format("the run repeats an earlier choice, {}",
                                find_tuned_detail(t).substr(ops::kChosenBefore.size()));
           },
           "run the case without `--resume` to measure its candidates again"},
    GapRow{[](const TunedCase& t) { return !find_tuned_detail(t).empty(); },
           [](const TunedCase& t) {
             return fmt::format("`{}` states no times of its candidates", t.backend);
           },
           "see the detail `tuned` in the result for what it states"},
    GapRow{[](const TunedCase& t) { return t.op == "network" && t.device == "cpu"; },
           [](const TunedCase&) {
             return std::string("`tune` has no effect on a whole network on the CPU");
           },
           kLayers},
    GapRow{[](const TunedCase& t) { return t.op == "network"; },
           [](const TunedCase&) {
             return std::string("a network has a choice per layer, not one for the whole");
           },
           kLayers},
    GapRow{[](const TunedCase& t) { return !offers_choice(t.backend); },
           [](const TunedCase& t) {
             return fmt::format("the backend `{}` offers no choice", t.backend);
           },
           kOtherBackend},
    GapRow{[](const TunedCase&) { return true; },
           [](const TunedCase& t) {
             return fmt::format(
                 "`{}` offers no choice for `{}`: it has one kernel for it, or "
                 "computes it by several kernels",
                 t.backend, t.op);
           },
           "if it is computed by several kernels, tune its parts as cases of their own, such as "
           "`gemm` for `grouped_gemm`"},
};

struct GapGroup {
  ChoiceGap gap;
  std::string first;  // id
  std::size_t count = 0;
};

std::string format_group(const GapGroup& group) {
  return fmt::format("{} no measured alternative ({}{}): {}; {}.",
                     pluralise(group.count, "case with `tune` has", "cases with `tune` have"),
                     group.count == 1 ? "" : "first: ", group.first, group.gap.reason,
                     group.gap.next_step);
}

}  // namespace

bool offers_choice(std::string_view backend) {
  return std::ranges::count(kTunedBackends, backend) > 0;
}

std::optional<ChoiceGap> find_choice_gap(const TunedCase& tuned) {
  if (tuned.regret != nullptr && tuned.regret->is_compared()) return std::nullopt;
  const auto* row =
      std::ranges::find_if(kGapRows, [&](const GapRow& r) { return r.applies(tuned); });
  return ChoiceGap{row->reason(tuned), std::string(row->next_step)};
}

std::vector<std::string> choice_gap_notes(const Report& report) {
  std::vector<GapGroup> groups;
  for (const CaseRecord& record : report.cases) {
    const bool is_tuned = record.regret || record.details.contains(kTuneDetail);
    if (!is_tuned || record.outcome != Outcome::ok) continue;
    const ops::Regret* regret = record.regret ? &*record.regret : nullptr;
    auto gap = find_choice_gap({record.op, record.backend, record.device, record.details, regret});
    if (!gap) continue;
    const auto known = std::ranges::find(groups, *gap, &GapGroup::gap);
    GapGroup& group = known == groups.end()
                          ? groups.emplace_back(GapGroup{*std::move(gap), record.id, 0})
                          : *known;
    ++group.count;
  }
  std::vector<std::string> notes;
  for (const GapGroup& group : groups) notes.push_back(format_group(group));
  return notes;
}

}  // namespace bench
