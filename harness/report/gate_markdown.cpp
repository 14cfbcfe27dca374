// SPDX-License-Identifier: Apache-2.0
// Markdown for a comment on a pull request and for $GITHUB_STEP_SUMMARY.
#include "base/markup.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "harness/report/gate_report.hpp"

#include <fmt/format.h>

#include <array>

namespace bench {
namespace {

// Identifies the comment, so that a script can update the comment instead of adding another one.
constexpr std::string_view kMarker = "<!-- bench-gate -->";
// GitHub rejects a longer step summary completely.
constexpr std::size_t kMaxBytes = 1 << 20;
// Bytes kept free for headings and for the sentence about omitted cases.
constexpr std::size_t kReservedBytes = 4096;
// Maximum width of one fact in columns, so that a single fact cannot displace all others.
constexpr std::size_t kMaxFactWidth = 1000;

struct Section {
  std::string_view heading;
  enum class State { expanded, collapsed } state;
};
constexpr std::array<Section, 4> kSections = {{{"Regressions and errors", Section::State::expanded},
                                               {"Improvements", Section::State::expanded},
                                               {"Undecided", Section::State::expanded},
                                               {"All others", Section::State::collapsed}}};
// Index into kSections, by verdict.
constexpr std::array<std::size_t, enumerator_names<Verdict>().size()> kSectionByVerdict = {
    0, 0, 2, 2, 3, 3, 1, 3};

constexpr std::string_view kTableHead =
    "| verdict | case | slower by | p (BH) | duets | detectable | against | reference | candidate "
    "| more |\n"
    "|---|---|--:|--:|--:|--:|---|--:|--:|---|\n";

std::string escape_fact(std::string_view text) {
  return markdown_sentence(shorten(text, kMaxFactWidth));
}

std::string format_head(const GateFile& gate) {
  std::string text =
      fmt::format("{}\n**{}**\n\n", kMarker, markdown_sentence(gate.conclusion.sentence));
  for (const std::string& line : context_lines(gate))
    text += fmt::format("- {}\n", escape_fact(line));
  return text;
}

std::string format_details(const GateFile& gate, const CaseAssessment& judgement,
                           const KitPaths& kits) {
  std::vector<std::string> facts;
  if (!judgement.reason.empty()) facts.push_back(escape_fact(judgement.reason));
  if (!judgement.changes.empty()) {
    facts.push_back(escape_fact("changed: " + format_changes(judgement.changes)));
  }
  if (!judgement.source.empty()) facts.push_back(escape_fact("configured at " + judgement.source));
  if (const auto kit = kits.find(judgement.id); kit != kits.end()) {
    facts.push_back(escape_fact("kit: " + kit->second));
  }
  // The command is not shortened, since that would change its meaning. A row that is too long is
  // left out instead.
  facts.push_back(markdown_code(reproduction(gate, judgement)));
  return fmt::format("{}", fmt::join(facts, "<br>"));
}

std::string format_row(const GateFile& gate, const CaseAssessment& judgement,
                       const KitPaths& kits) {
  const auto time = [](const std::optional<Nanoseconds>& value) {
    return value ? format_time(*value) : "";
  };
  return fmt::format(
      "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", to_string(judgement.verdict),
      escape_fact(judgement.id), escape_markdown(format_signed_effect(judgement)),
      judgement.adjusted_p ? fmt::format("{:.2g}", *judgement.adjusted_p) : "",
      format_duets(judgement),
      judgement.detectable ? fmt::format("{:.1f}%", 100 * *judgement.detectable) : "",
      reference_name(judgement), time(judgement.base), time(judgement.candidate),
      format_details(gate, judgement, kits));
}

std::string format_section(const Section& section, std::size_t cases, const std::string& rows) {
  if (section.state == Section::State::expanded) {
    return fmt::format("\n### {} ({})\n\n{}{}", section.heading, cases, kTableHead, rows);
  }
  return fmt::format("\n<details><summary>{} ({})</summary>\n\n{}{}\n</details>\n", section.heading,
                     cases, kTableHead, rows);
}

}  // namespace

std::string gate_markdown(const GateFile& gate, const KitPaths& kits) {
  std::array<std::vector<const CaseAssessment*>, kSections.size()> cases;
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    cases[kSectionByVerdict[static_cast<std::size_t>(judgement->verdict)]].push_back(judgement);
  }
  std::string text = format_head(gate);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < kSections.size(); ++i) {
    std::string rows;
    for (const CaseAssessment* judgement : cases[i]) {
      const std::string next = left_out == 0 ? format_row(gate, *judgement, kits) : "";
      const bool fits = text.size() + rows.size() + next.size() + kReservedBytes <= kMaxBytes;
      if (left_out > 0 || !fits) {
        ++left_out;
      } else {
        rows += next;
      }
    }
    if (!rows.empty()) text += format_section(kSections[i], cases[i].size(), rows);
  }
  if (left_out > 0) {
    text += fmt::format("\n{} left out here.\n", pluralise(left_out, "case is", "cases are"));
  }
  return text;
}

}  // namespace bench
