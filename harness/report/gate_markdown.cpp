// SPDX-License-Identifier: Apache-2.0
// Markdown for a comment on a pull request and for $GITHUB_STEP_SUMMARY.
#include "base/markup.hpp"
#include "base/text.hpp"
#include "harness/report/format.hpp"
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

std::string format_head(const GateFile& gate) {
  std::string text =
      fmt::format("{}\n**{}**\n\n", kMarker, markdown_sentence(gate.conclusion.sentence));
  for (const std::string& line : context_lines(gate))
    text += fmt::format("- {}\n", markdown_sentence(shorten(line, kMaxFactWidth)));
  return text;
}

std::string format_section(const Section& section, std::size_t cases, const std::string& table) {
  if (section.state == Section::State::expanded) {
    return fmt::format("\n### {} ({})\n\n{}", section.heading, cases, table);
  }
  return fmt::format("\n<details><summary>{} ({})</summary>\n\n{}\n</details>\n", section.heading,
                     cases, table);
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
    const Table table = gate_table(gate, cases[i], kits, in_markdown);
    std::string rows;
    for (const TableRow& row : table.rows) {
      const std::string next = left_out == 0 ? markdown_row(table.columns, row) : "";
      const bool fits = text.size() + rows.size() + next.size() + kReservedBytes <= kMaxBytes;
      if (left_out > 0 || !fits) {
        ++left_out;
      } else {
        rows += next;
      }
    }
    if (rows.empty()) continue;
    text += format_section(kSections[i], cases[i].size(), markdown_heading(table.columns) + rows);
  }
  if (left_out > 0) {
    text += fmt::format("\n{} left out here.\n", pluralise(left_out, "case is", "cases are"));
  }
  return text;
}

}  // namespace bench
