// SPDX-License-Identifier: Apache-2.0
#include "harness/report/regret.hpp"

#include "base/plural.hpp"
#include "base/shell.hpp"
#include "base/table.hpp"
#include "base/text.hpp"
#include "harness/report/short_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace bench {
namespace {

// The detail that states how many candidates a case asked for.
constexpr const char* kTuneDetail = "tune";

// Formats a fraction with two significant digits or more: "2.3 %", "12 %", "140 %".
std::string format_cost(double cost) {
  const double percent = 100 * cost;
  return fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0);
}

std::vector<const CaseRecord*> find_tuned(const Report& report) {
  std::vector<const CaseRecord*> tuned;
  for (const CaseRecord& record : report.cases) {
    if (record.regret) tuned.push_back(&record);
  }
  return tuned;
}

// Returns the case whose choice costs the most, the first one of equal ones.
const CaseRecord& find_most_costly(const std::vector<const CaseRecord*>& tuned) {
  return **std::ranges::max_element(
      tuned, {}, [](const CaseRecord* record) { return record->regret->cost(); });
}

TextRow regret_row(const CaseRecord& record, const IdShortener& ids) {
  const ops::Regret& regret = *record.regret;
  TextRow row{{{record.id, Tone::plain, ids.forms(record.id)},
               {regret.chosen},
               {format_time(regret.chosen_time)}},
              ""};
  if (regret.has_cost()) {
    row.cells.insert(row.cells.end(),
                     {TextCell{regret.best}, TextCell{format_time(regret.best_time)},
                      TextCell{format_cost(regret.cost())}});
  } else {
    row.cells.insert(row.cells.end(),
                     {TextCell{"as chosen"}, TextCell{""}, TextCell{"no difference"}});
  }
  return row;
}

// Explains the columns. The command that shows all candidates of `example` has a line of its own,
// which is never broken, so that it can be copied.
std::string format_regret_note(const CaseRecord& example, std::size_t width) {
  const auto count = example.details.find(kTuneDetail);
  return wrap(
             "chosen: what the library takes by itself; best: the fastest measured candidate, "
             "which the case ran; costs: what the choice takes longer. All candidates of a case:",
             width, 0) +
         fmt::format("  bench explain {} --set tune={}\n", shell_quoted(example.id),
                     count == example.details.end() ? "true" : count->second);
}

}  // namespace

std::string describe_regret(const ops::Regret& regret) {
  if (regret.has_cost()) {
    const std::string cost = format_cost(regret.cost());
    return fmt::format("{} was chosen; {} is {} faster: the choice costs {}", regret.chosen,
                       regret.best, cost, cost);
  }
  if (regret.candidates.size() < 2)
    return fmt::format("{} was chosen; no other candidate was measured", regret.chosen);
  const std::size_t others = regret.candidates.size() - 1;
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
  const std::vector<const CaseRecord*> tuned = find_tuned(report);
  if (tuned.empty()) return "";
  const CaseRecord& example = find_most_costly(tuned);
  if (tuned.size() == 1)
    return fmt::format("{}: {}.", example.id, describe_regret(*example.regret));
  const auto costly = std::ranges::count_if(
      tuned, [](const CaseRecord* record) { return record->regret->has_cost(); });
  if (costly == 0) {
    return fmt::format("In {} no candidate is faster than the library's choice beyond the noise.",
                       pluralise(tuned.size(), "tuned case"));
  }
  return fmt::format("The library's choice costs time in {} of {}, most in {}: {}.", costly,
                     pluralise(tuned.size(), "tuned case"), example.id,
                     describe_regret(*example.regret));
}

std::string regret_table(const Report& report, std::size_t width, Colour colour) {
  constexpr std::size_t kMinTunedId = 16, kMinCandidate = 12;
  const std::vector<const CaseRecord*> tuned = find_tuned(report);
  if (tuned.empty()) return "";
  const std::vector<TextColumn> columns = {
      {"tuned case", Align::left, kMinTunedId, 0}, {"chosen", Align::left, kMinCandidate, 0},
      {"takes", Align::right, std::nullopt, 2},    {"best", Align::left, kMinCandidate, 0},
      {"takes", Align::right, std::nullopt, 1},    {"costs", Align::right, std::nullopt, 0}};
  std::vector<std::string_view> ids;
  for (const CaseRecord* record : tuned) ids.push_back(record->id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const CaseRecord* record : tuned) rows.push_back(regret_row(*record, shortener));
  return render_table(columns, std::move(rows), width, colour) +
         format_regret_note(find_most_costly(tuned), width);
}

}  // namespace bench
