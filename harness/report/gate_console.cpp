// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/short_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bench {
namespace {

// Verdicts that require no action. The table lists the cases of such a verdict only if at most
// kMaxQuietListed cases have it.
constexpr std::array<Verdict, 3> kQuietVerdicts = {Verdict::incomparable, Verdict::no_baseline,
                                                   Verdict::pass};
constexpr std::size_t kMaxQuietListed = 12;

Tone to_tone(Verdict verdict) {
  constexpr std::array<Tone, enumerator_names<Verdict>().size()> kTones = {
      Tone::bad,     Tone::bad,     Tone::warning, Tone::warning,
      Tone::warning, Tone::warning, Tone::good,    Tone::plain};
  return kTones[static_cast<std::size_t>(verdict)];
}

std::string format_time_or_empty(const std::optional<Nanoseconds>& time) {
  return time ? format_time(*time) : "";
}

std::string format_note(const CaseAssessment& judgement, const KitPaths& kits) {
  if (judgement.verdict == Verdict::pass) return judgement.reason;
  std::vector<std::string> parts;
  if (!judgement.reason.empty()) parts.push_back(judgement.reason);
  if (!judgement.changes.empty()) parts.push_back("changed: " + format_changes(judgement.changes));
  if (!judgement.source.empty()) parts.push_back("configured at " + judgement.source);
  if (const auto kit = kits.find(judgement.id); kit != kits.end()) {
    parts.push_back("kit: " + kit->second);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<TextRow> make_gate_rows(const std::vector<const CaseAssessment*>& listed,
                                    const KitPaths& kits) {
  std::vector<std::string_view> ids;
  for (const CaseAssessment* judgement : listed) ids.push_back(judgement->id);
  const IdShortener shortener(ids);
  std::vector<TextRow> rows;
  for (const CaseAssessment* judgement : listed) {
    const Tone tone = to_tone(judgement->verdict);
    TextRow& row = rows.emplace_back();
    row.cells = {
        {std::string(to_string(judgement->verdict)), tone},
        {judgement->id, Tone::plain, shortener.forms(judgement->id)},
        {format_signed_effect(*judgement), tone},
        {judgement->adjusted_p ? fmt::format("{:.2g}", *judgement->adjusted_p) : ""},
        {format_duets(*judgement)},
        {judgement->detectable ? fmt::format("{:.1f}%", 100 * *judgement->detectable) : ""},
        {std::string(reference_name(*judgement))},
        {format_time_or_empty(judgement->base)},
        {format_time_or_empty(judgement->candidate)}};
    row.note = format_note(*judgement, kits);
  }
  return rows;
}

std::string format_header(const GateFile& gate, const ConsoleOptions& options) {
  std::string text = wrap(gate.conclusion.sentence, options.width, 0);
  for (const std::string& line : side_lines(gate)) text += wrap(line, options.width, 2);
  return text + format_notes(gate_notes(gate), options.notes, options.width, "  ");
}

std::string render_gate_table(const std::vector<const CaseAssessment*>& listed,
                              const KitPaths& kits, const ConsoleOptions& options) {
  const std::vector<TextColumn> columns = {
      {"verdict"},
      {"case", Align::left, 24},
      {"slower by", Align::right},
      {"p (BH)", Align::right, std::nullopt, 3},
      {"duets", Align::right, std::nullopt, 2},
      {"detectable", Align::right, std::nullopt, 4},
      {"against", Align::left, std::nullopt, 1},
      {"reference", Align::right, std::nullopt, 1},
      {"candidate", Align::right, std::nullopt, 1},
  };
  return "\n" + render_table(columns, make_gate_rows(listed, kits), options.width, options.colour);
}

// Summarises cases of one verdict that the table does not list: their number and the first reason.
std::string summarise_unlisted_cases(const std::vector<const CaseAssessment*>& unlisted) {
  const CaseAssessment& first = *unlisted.front();
  std::string text = fmt::format("{} {}", unlisted.size(), to_string(first.verdict));
  const auto screened =
      std::ranges::count(unlisted, CaseAssessment::Course::screened_out,
                         [](const CaseAssessment* entry) { return entry->course; });
  if (screened > 0) text += fmt::format(" ({} by stored runs alone)", screened);
  if (!first.reason.empty()) text += fmt::format("; the first: {}: {}", first.id, first.reason);
  return text;
}

}  // namespace

std::string gate_console(const GateFile& gate, const KitPaths& kits,
                         const ConsoleOptions& options) {
  const std::size_t width = options.width;
  std::vector<const CaseAssessment*> listed = reading_order(gate.judgements);
  std::string summaries;
  for (const Verdict verdict : kQuietVerdicts) {
    if (count(gate.judgements, verdict) <= kMaxQuietListed) continue;
    const auto unlisted = std::stable_partition(
        listed.begin(), listed.end(),
        [&](const CaseAssessment* entry) { return entry->verdict != verdict; });
    summaries += wrap(summarise_unlisted_cases({unlisted, listed.end()}), width, 0);
    listed.erase(unlisted, listed.end());
  }
  std::string text = format_header(gate, options);
  if (!listed.empty()) text += render_gate_table(listed, kits, options);
  if (!summaries.empty()) text += "\n" + summaries;
  // Users copy the command, so it is not wrapped.
  if (!listed.empty() && listed.front()->verdict != Verdict::pass) {
    text += fmt::format("\nrepeat the measurement of the first case listed:\n  {}\n",
                        printable(reproduction(gate, *listed.front())));
  }
  return text;
}

}  // namespace bench
