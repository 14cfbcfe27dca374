// SPDX-License-Identifier: Apache-2.0
#include "harness/report/duet_text.hpp"

#include "base/printable.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/report/short_id.hpp"
#include "ops/blas_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

struct LibraryTitle {
  std::string_view name, title;
};
constexpr std::array<LibraryTitle, 4> kLibraryTitles = {
    {{"onednn", "oneDNN"}, {"cudnn", "cuDNN"}, {"cublaslt", "cuBLASLt"}, {"cublas", "cuBLAS"}}};

std::string library_title(const std::string& name) {
  if (const ops::BlasLibrary* library = ops::find_blas_library(name))
    return std::string(library->title);
  const auto* row = std::ranges::find(kLibraryTitles, name, &LibraryTitle::name);
  return row == kLibraryTitles.end() ? name : std::string(row->title);
}

// The names of the sides in sentences and columns.
struct SideNames {
  std::string subject;  // "oneDNN 3.1.0 against 3.2.0"
  std::string base, candidate;
};

// Returns the first library of which the sides loaded different builds; nullptr if there is none.
const LoadedFile* find_changed_library(const GateSide& base, const GateSide& candidate) {
  for (const LoadedFile& file : base.loaded) {
    const auto other = std::ranges::find(candidate.loaded, file.name, &LoadedFile::name);
    if (file.name == kProgramFile || other == candidate.loaded.end()) continue;
    if (file.path != other->path && (!file.digest || file.digest != other->digest)) return &file;
  }
  return nullptr;
}

SideNames name_sides(const GateFile& gate) {
  const GateSide &base = *gate.facts.base, &candidate = gate.facts.candidate;
  const LoadedFile* const changed = find_changed_library(base, candidate);
  if (changed == nullptr) return {"candidate against base", "base", "candidate"};
  const auto version = [&](const GateSide& side) {
    const auto found = side.libraries.find(changed->name);
    return found == side.libraries.end() ? std::string(kUnknown) : found->second;
  };
  const std::string from = version(base), to = version(candidate);
  const std::string title = library_title(changed->name);
  if (from == to) {
    return {fmt::format("{} {} against another build of it", title, from), "base", "candidate"};
  }
  return {fmt::format("{} {} against {}", title, from, to), from, to};
}

bool time_changed(const CaseAssessment& judgement) {
  return judgement.verdict == Verdict::regression || judgement.verdict == Verdict::improved;
}
bool stays_undecided(const CaseAssessment& judgement) {
  return judgement.verdict == Verdict::inconclusive || judgement.verdict == Verdict::suspect;
}

std::string percent_text(double fraction) { return fmt::format("{:g} %", 100 * fraction); }

// Returns "brgconv:avx2 -> jit:avx2", or the implementation that both sides have.
std::string format_implementations(const CaseEvidence& entry) {
  const std::string& to = entry.candidate.exact.implementation;
  const std::string from = entry.base ? entry.base->implementation : std::string();
  if (from == to) return to.empty() ? "" : fmt::format("{} on both sides", to);
  const auto known = [](const std::string& name) {
    return name.empty() ? std::string(kUnknown) : name;
  };
  return fmt::format("{} -> {}", known(from), known(to));
}

std::string changed_table(const GateFile& gate, const SideNames& names,
                          const std::vector<const CaseAssessment*>& changed,
                          const ConsoleOptions& console) {
  Table table{{{"case", ColumnKind::id, kMinId},
               {names.base, ColumnKind::number, std::nullopt, 1},
               {names.candidate, ColumnKind::number, std::nullopt, 1},
               {"change"}},
              {}};
  for (const CaseAssessment* judgement : changed) {
    const Tone tone = judgement->verdict == Verdict::regression ? Tone::bad : Tone::good;
    TableRow& row = table.rows.emplace_back();
    row.cells = {{judgement->id},
                 make_time_cell(judgement->base),
                 make_time_cell(judgement->candidate),
                 {describe_effect(*judgement), {}, tone}};
    const auto evidence = std::ranges::find(gate.evidence.cases, judgement->id, &CaseEvidence::id);
    if (evidence != gate.evidence.cases.end()) row.note = format_implementations(*evidence);
  }
  return text_table(table, console.width, console.colour);
}

// Returns a sentence on the cases of which nothing is shown in the table; empty if there are none.
std::string format_unchanged(const GateFile& gate) {
  std::vector<std::string> parts;
  const GateSettings& settings = gate.evidence.settings;
  const std::size_t same = count(gate.judgements, Verdict::pass);
  if (same > 0) {
    parts.push_back(fmt::format("{} did not change by {} or more", pluralise(same, "case"),
                                percent_text(settings.delta)));
  }
  const auto undecided = std::ranges::count_if(gate.judgements, stays_undecided);
  if (undecided > 0) {
    parts.push_back(fmt::format("{} undecided after {}",
                                pluralise(undecided, "case is", "cases are"),
                                pluralise(gate.evidence.policy.first_duets, "duet")));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (!text.empty()) text += undecided > 0 ? "; raise --duets to decide them." : ".";
  return text;
}

// Returns one line per case without a comparison: its id and the reason.
std::string format_uncompared(const GateFile& gate, std::size_t width) {
  std::string text;
  for (const CaseAssessment& judgement : gate.judgements) {
    if (time_changed(judgement) || stays_undecided(judgement) || judgement.verdict == Verdict::pass)
      continue;
    text += wrap(fmt::format("not compared: {}: {}", judgement.id, judgement.reason), width, 2);
  }
  return text;
}

}  // namespace

std::string format_change_answer(const GateFile& gate) {
  const SideNames names = name_sides(gate);
  const std::size_t slower = count(gate.judgements, Verdict::regression);
  const std::size_t faster = count(gate.judgements, Verdict::improved);
  const std::size_t all = gate.judgements.size();
  if (slower + faster == 0) {
    return fmt::format("{}: none of {} changed by {} or more.", names.subject,
                       pluralise(all, "case"), percent_text(gate.evidence.settings.delta));
  }
  std::string directions = slower > 0 ? fmt::format("{} slower", slower) : "";
  if (faster > 0) directions += fmt::format("{}{} faster", slower > 0 ? " and " : "", faster);
  return fmt::format("{}: {} of {} changed, {} with {}.", names.subject, slower + faster,
                     pluralise(all, "case"), directions,
                     names.candidate == "candidate" ? "the candidate" : names.candidate);
}

std::string format_changed_cases(const GateFile& gate, const ConsoleOptions& console) {
  std::string text = wrap(format_change_answer(gate), console.width, 0);
  text += wrap(format_side("base", *gate.facts.base), console.width, 2);
  text += wrap(format_side("candidate", gate.facts.candidate), console.width, 2);
  std::vector<const CaseAssessment*> changed = reading_order(gate.judgements);
  std::erase_if(changed, [](const CaseAssessment* judgement) { return !time_changed(*judgement); });
  if (!changed.empty()) text += "\n" + changed_table(gate, name_sides(gate), changed, console);
  const std::string unchanged = format_unchanged(gate);
  const std::string uncompared = format_uncompared(gate, console.width);
  if (!unchanged.empty() || !uncompared.empty()) text += "\n";
  if (!unchanged.empty()) text += wrap(unchanged, console.width, 0);
  text += uncompared;
  if (!changed.empty()) {  // users copy the command, so it is not wrapped
    text += fmt::format("\nNext: measure the first case again:\n  {}\n",
                        printable(reproduction(gate, *changed.front())));
  }
  return text;
}

}  // namespace bench
