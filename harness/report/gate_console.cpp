// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/judge/gate_cause.hpp"
#include "harness/report/gate_report.hpp"

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

std::string format_header(const GateFile& gate, const ConsoleOptions& options) {
  std::string text = wrap(gate.conclusion.sentence, options.width, 0);
  for (const std::string& line : side_lines(gate)) text += wrap(line, options.width, 2);
  return text + format_notes(gate_notes(gate), options.notes, options.width, "  ");
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
  if (!listed.empty())
    text += "\n" + text_table(gate_table(gate, listed, kits, in_text), width, options.colour);
  if (!summaries.empty()) text += "\n" + summaries;
  // Users copy the command, so it is not wrapped.
  if (!listed.empty() && listed.front()->verdict != Verdict::pass) {
    text += fmt::format("\nrepeat the measurement of the first case listed:\n  {}\n",
                        printable(reproduction(gate, *listed.front())));
    if (const auto cause = find_gate_cause(gate, *listed.front())) {
      if (const auto next = find_cause_command(gate, *listed.front(), *cause))
        text += fmt::format("\n{}:\n  {}\n", next->announcement, printable(next->command));
    }
  }
  return text;
}

}  // namespace bench
