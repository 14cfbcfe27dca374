// SPDX-License-Identifier: Apache-2.0
// table: one row per column
// The table of a gate in all formats, and its CSV. The columns of the CSV that identify a case are
// those of a run's.
#include "base/markup.hpp"
#include "harness/report/case_table.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/report_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>

namespace bench {
namespace {

struct GateRow {
  const GateFile& gate;
  const CaseAssessment& judgement;
  const KitPaths& kits;
  std::string_view unknown;  // text of an unknown number
};

Tone terminal_tone(Verdict verdict) {
  constexpr std::array<Tone, enumerator_names<Verdict>().size()> kTones = {
      Tone::bad,     Tone::bad,     Tone::warning, Tone::warning,
      Tone::warning, Tone::warning, Tone::good,    Tone::plain};
  return kTones[static_cast<std::size_t>(verdict)];
}

// Returns what is known about a case beside its numbers. `source` may be empty.
std::vector<std::string> list_facts(const GateRow& row, std::string_view source) {
  std::vector<std::string> facts;
  const auto add = [&](std::string_view label, std::string_view fact) {
    if (!fact.empty()) facts.push_back(fmt::format("{}{}", label, fact));
  };
  add("", row.judgement.reason);
  add("changed: ", format_changes(row.judgement.changes));
  add("configured at ", source);
  if (const auto kit = row.kits.find(row.judgement.id); kit != row.kits.end())
    add("kit: ", kit->second);
  return facts;
}

std::string terminal_facts(const GateRow& row) {
  if (row.judgement.verdict == Verdict::pass) return row.judgement.reason;
  return fmt::format("{}", fmt::join(list_facts(row, row.judgement.source), "; "));
}

TableCell markdown_facts(const GateRow& row) {
  std::vector<std::string> facts = list_facts(row, row.judgement.source);
  for (std::string& fact : facts) fact = markdown_sentence(shorten(fact, kMaxFactWidth));
  // The command is not shortened, since that would change its meaning. A row that is too long is
  // left out instead.
  facts.push_back(markdown_code(reproduction(row.gate, row.judgement)));
  return {fmt::format("{}", fmt::join(facts, "<br>"))};
}

TableCell page_facts(const GateRow& row) {
  std::vector<std::string> facts = list_facts(row, "");
  if (needs_kit(row.judgement.verdict))
    facts.push_back("measure it again: " + reproduction(row.gate, row.judgement));
  return {fmt::format("{}", fmt::join(facts, "; "))};
}

TableCell adjusted_p(const GateRow& row) {
  const auto& p = row.judgement.adjusted_p;
  return {p ? fmt::format("{:.2g}", *p) : std::string(row.unknown), to_cell(p)};
}

TableCell detectable(const GateRow& row) {
  const auto& effect = row.judgement.detectable;
  return {effect ? fmt::format("{:.1f}%", 100 * *effect) : "", to_cell(effect)};
}

TableCell measured_duets(const GateRow& row) {
  const std::int64_t duets = row.judgement.duets + row.judgement.confirmations;
  return {format_duets(row.judgement), duets > 0 ? analysis::Cell{duets} : analysis::Cell{}};
}

template <auto Member>
TableCell judged_change(const GateRow& row) {
  return make_change_cell(row.judgement.*Member);
}
template <auto Member>
TableCell judged_time(const GateRow& row) {
  return make_time_cell(row.judgement.*Member, row.unknown);
}
template <auto Member>
TableCell judged_count(const GateRow& row) {
  return {"", std::int64_t{row.judgement.*Member}};
}
template <auto Member>
TableCell judged_text(const GateRow& row) {
  return make_text_cell(row.judgement.*Member);
}

using Judgement = CaseAssessment;
using enum ColumnKind;

constexpr auto kGateFields = std::to_array<TableField<GateRow>>({
    {in_all & ~in_page, "verdict", text,
     [](const GateRow& r) {
       return make_text_cell(to_string(r.judgement.verdict), terminal_tone(r.judgement.verdict));
     }},
    {in_page, "verdict", text,
     [](const GateRow& r) {
       return make_text_cell(to_string(r.judgement.verdict), page_tone(r.judgement.verdict));
     }},
    {in_text | in_page, "case", id, judged_text<&Judgement::id>, 24},
    {in_markdown, "case", id,
     [](const GateRow& r) { return make_text_cell(shorten(r.judgement.id, kMaxFactWidth)); }},
    {in_text | in_markdown, "slower by", number,
     [](const GateRow& r) {
       return TableCell{format_signed_effect(r.judgement), {}, terminal_tone(r.judgement.verdict)};
     }},
    {in_page | in_csv, "slower by", number, judged_change<&Judgement::effect>, {}, 0, "effect"},
    {in_page | in_csv, "low", number, judged_change<&Judgement::low>},
    {in_page | in_csv, "high", number, judged_change<&Judgement::high>},
    {in_csv, "p", number, judged_change<&Judgement::p>},
    {in_all, "p (BH)", number, adjusted_p, {}, 3, "adjusted_p"},
    {in_all & ~in_csv, "duets", number, measured_duets, {}, 2},
    {in_all & ~in_page, "detectable", number, detectable, {}, 4},
    {in_all & ~in_page,
     "against",
     text,
     [](const GateRow& r) { return make_text_cell(reference_name(r.judgement)); },
     {},
     1},
    {in_all, "reference", number, judged_time<&Judgement::base>, {}, 1, "reference_ns"},
    {in_all, "candidate", number, judged_time<&Judgement::candidate>, {}, 1, "candidate_ns"},
    {in_csv, "duets", number, judged_count<&Judgement::duets>},
    {in_csv, "confirmations", number, judged_count<&Judgement::confirmations>},
    {in_csv, "changes", text,
     [](const GateRow& r) { return make_text_cell(format_changes(r.judgement.changes)); }},
    {in_csv, "reason", text, judged_text<&Judgement::reason>},
    {in_csv, "source", text, judged_text<&Judgement::source>},
    {in_csv, "reproduction", text,
     [](const GateRow& r) { return make_text_cell(reproduction(r.gate, r.judgement)); }},
    {in_markdown, "more", markup, markdown_facts},
    {in_page, "more", prose, page_facts},
});

}  // namespace

Tone page_tone(Verdict verdict) {
  return verdict == Verdict::no_baseline ? Tone::plain : terminal_tone(verdict);
}

Table gate_table(const GateFile& gate, const std::vector<const CaseAssessment*>& cases,
                 const KitPaths& kits, InFormat format) {
  std::vector<GateRow> rows;
  for (const CaseAssessment* judgement : cases)
    rows.push_back({gate, *judgement, kits, format == in_page ? kUnknown : ""});
  Table table = make_table(kGateFields, format, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (format == in_text) table.rows[i].note = terminal_facts(rows[i]);
  }
  return table;
}

std::string gate_csv(const GateFile& gate, const KitPaths& kits) {
  const std::vector<const CaseAssessment*> order = reading_order(gate.judgements);
  const Table table = gate_table(gate, order, kits, in_csv);
  const CaseColumns identity = identity_columns();
  std::string text = csv_heading(identity);
  for (const TableColumn& column : table.columns) text += "," + column.heading;
  text += '\n';
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += csv_line(identity, make_record(order[i]->id));
    for (const TableCell& cell : table.rows[i].cells) {
      text += ',';
      analysis::append_csv(cell.value, text);
    }
    text += '\n';
  }
  return text;
}

}  // namespace bench
