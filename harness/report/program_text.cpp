// SPDX-License-Identifier: Apache-2.0
#include "harness/report/program_text.hpp"

#include "base/json_fields.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace bench {
namespace {

// More objects would hide the answer; `bench analyze --summary` shows all of one side.
constexpr std::size_t kMaxObjects = 10;

std::string format_share(const std::optional<double>& share) {
  return format_or_unknown(share,
                           [](double value) { return fmt::format("{:.1f} %", 100 * value); });
}

// Returns the effect in words or, without a ratio, the reason.
std::string format_part_change(const ProgramPart& part) {
  if (part.ratio)
    return format_effect(*part.ratio, std::nullopt, std::nullopt, EffectDirection::certain);
  return part.reason.empty() ? std::string(kUnknown) : part.reason;
}

// The heading of the first column says what the parts are.
Table part_table(const std::string& heading, std::span<const ProgramPart> parts) {
  Table table{{{heading, ColumnKind::id},
               {"base", ColumnKind::number},
               {"candidate", ColumnKind::number},
               {"change"}},
              {}};
  for (const ProgramPart& part : parts) {
    table.rows.push_back({{{part.name},
                           make_time_cell(part.base),
                           make_time_cell(part.candidate),
                           {format_part_change(part), to_cell(part.ratio)}}});
  }
  return table;
}

}  // namespace

std::string program_answer(const ProgramComparison& programs) {
  const ProgramPart* wall = programs.find(kWallPart);
  if (wall == nullptr || !wall->base || !wall->candidate) {
    return "How long the whole programs ran is unknown: a file has no start times.";
  }
  std::string text = fmt::format("The whole program took {} in the base and {} in the candidate",
                                 format_time(*wall->base), format_time(*wall->candidate));
  if (wall->ratio) {
    text += fmt::format(
        ", {}", format_effect(*wall->ratio, std::nullopt, std::nullopt, EffectDirection::certain));
  } else if (!wall->reason.empty()) {
    text += fmt::format(", which cannot be compared: {}", wall->reason);
  }
  text += fmt::format("; the files show {} and {} of it", format_share(programs.base_shown),
                      format_share(programs.candidate_shown));
  return text + ". Each is one run, so there is no interval.";
}

std::vector<Table> program_tables(const ProgramComparison& programs) {
  std::vector<Table> tables = {part_table("part of the program", programs.parts)};
  if (programs.objects.empty()) return tables;
  const std::size_t shown = std::min(kMaxObjects, programs.objects.size());
  tables.push_back(part_table("CPU time by samples", std::span(programs.objects).first(shown)));
  return tables;
}

std::string format_program_tables(const ProgramComparison& programs,
                                  const ConsoleOptions& console) {
  std::string text;
  for (const Table& table : program_tables(programs))
    text += '\n' + text_table(table, console.width, console.colour);
  return text;
}

std::string program_markdown(const ProgramComparison& programs) {
  std::string text;
  for (const Table& table : program_tables(programs)) text += '\n' + markdown_table(table, "---:");
  return text;
}

BENCH_FIELDS(ProgramPart, name, base, candidate, ratio, (reason, kOptional));

void fields(JsonWriter& writer, const ProgramComparison& programs) {
  writer.required("answer", program_answer(programs));
  BENCH_MEMBERS(writer, programs, base, candidate, (base_shown, "base_shown_share"),
                (candidate_shown, "candidate_shown_share"), parts, (objects, kOptional));
}

}  // namespace bench
