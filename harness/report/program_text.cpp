// SPDX-License-Identifier: Apache-2.0
#include "harness/report/program_text.hpp"

#include "base/json_fields.hpp"
#include "base/markup.hpp"
#include "base/printable.hpp"
#include "base/table.hpp"
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

std::string format_part_time(const std::optional<Nanoseconds>& time) {
  return format_or_unknown(time, [](Nanoseconds known) { return format_time(known); });
}

std::string format_share(const std::optional<double>& share) {
  return format_or_unknown(share,
                           [](double value) { return fmt::format("{:.1f} %", 100 * value); });
}

}  // namespace

std::string format_part_change(const ProgramPart& part) {
  if (part.ratio)
    return format_effect(*part.ratio, std::nullopt, std::nullopt, EffectDirection::certain);
  return part.reason.empty() ? std::string(kUnknown) : part.reason;
}

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

std::vector<ProgramTable> program_tables(const ProgramComparison& programs) {
  std::vector<ProgramTable> tables = {{"part of the program", programs.parts}};
  if (programs.objects.empty()) return tables;
  const std::size_t shown = std::min(kMaxObjects, programs.objects.size());
  tables.push_back({"CPU time by samples", std::span(programs.objects).first(shown)});
  return tables;
}

std::string format_program_tables(const ProgramComparison& programs,
                                  const ConsoleOptions& console) {
  std::string text;
  for (const ProgramTable& table : program_tables(programs)) {
    const std::vector<TextColumn> columns = {{table.heading, Align::left},
                                             {"base", Align::right},
                                             {"candidate", Align::right},
                                             {"change", Align::left}};
    std::vector<TextRow> rows;
    for (const ProgramPart& row : table.rows) {
      rows.push_back({{{printable(row.name)},
                       {format_part_time(row.base)},
                       {format_part_time(row.candidate)},
                       {format_part_change(row)}},
                      ""});
    }
    text += '\n' + render_table(columns, rows, console.width, console.colour);
  }
  return text;
}

std::string program_markdown(const ProgramComparison& programs) {
  std::string text;
  for (const ProgramTable& table : program_tables(programs)) {
    text += fmt::format("\n| {} | base | candidate | change |\n|---|---:|---:|---|\n",
                        escape_markdown(table.heading));
    for (const ProgramPart& row : table.rows) {
      text += fmt::format("| {} | {} | {} | {} |\n", escape_markdown(row.name),
                          format_part_time(row.base), format_part_time(row.candidate),
                          escape_markdown(format_part_change(row)));
    }
  }
  return text;
}

BENCH_FIELDS(ProgramPart, name, base, candidate, ratio, (reason, kOptional));

void fields(JsonWriter& writer, const ProgramComparison& programs) {
  writer.required("answer", program_answer(programs));
  BENCH_MEMBERS(writer, programs, base, candidate, (base_shown, "base_shown_share"),
                (candidate_shown, "candidate_shown_share"), parts, (objects, kOptional));
}

}  // namespace bench
