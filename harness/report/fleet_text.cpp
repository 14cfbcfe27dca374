// SPDX-License-Identifier: Apache-2.0
// The answer about a fleet, its tables and its heat maps in a terminal and in Markdown.
#include "harness/report/fleet_text.hpp"

#include "base/markup.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/stats/outliers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

using enum ColumnKind;

std::string format_part_of_time(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

// Returns the machines with a verdict, the slowest first.
std::vector<const JudgedMachine*> machines_with(const FleetVerdict& verdict,
                                                MachineVerdict wanted) {
  std::vector<const JudgedMachine*> found;
  for (const SiblingGroup& group : verdict.groups) {
    for (const JudgedMachine& machine : group.machines) {
      if (machine.verdict == wanted) found.push_back(&machine);
    }
  }
  std::ranges::stable_sort(found, std::greater(), [](const JudgedMachine* machine) {
    return machine->slowdown.value_or(0);
  });
  return found;
}

// Returns "node7 (+5.2 %), node9 (+3.1 %) and 2 more".
std::string list_machines(const std::vector<const JudgedMachine*>& machines,
                          std::string (*describe)(const JudgedMachine& machine)) {
  constexpr std::size_t kMaxNames = 3;
  std::vector<std::string> names;
  for (const JudgedMachine* machine : machines) {
    if (names.size() == kMaxNames) break;
    names.push_back(describe(*machine));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (machines.size() > kMaxNames) text += fmt::format(" and {} more", machines.size() - kMaxNames);
  return text;
}

std::string describe_slow(const JudgedMachine& machine) {
  return fmt::format("{} takes {} more time than its siblings", machine.name,
                     format_part_of_time(machine.slowdown.value_or(0)));
}

std::string describe_slow_cases(const JudgedMachine& machine) {
  return fmt::format("{} is slow in {}, by up to {}", machine.name,
                     pluralise(machine.slow_cases.size(), "case"),
                     format_part_of_time(*machine.effects[machine.slow_cases.front()]));
}

std::string describe_failed(const JudgedMachine& machine) {
  if (!machine.no_device.empty())
    return fmt::format("{} has no GPU, unlike most of its siblings", machine.name);
  return fmt::format("{} has no time of {} that its siblings measured", machine.name,
                     pluralise(machine.failures.size(), "case"));
}

std::string describe_fast(const JudgedMachine& machine) {
  return fmt::format("{} takes {} less time than its siblings", machine.name,
                     format_part_of_time(-machine.slowdown.value_or(0)));
}

struct VerdictSentence {
  MachineVerdict verdict;
  std::string (*describe)(const JudgedMachine& machine);
};
constexpr std::array<VerdictSentence, 4> kSentences = {
    {{MachineVerdict::slow, describe_slow},
     {MachineVerdict::slow_in_cases, describe_slow_cases},
     {MachineVerdict::failed, describe_failed},
     {MachineVerdict::fast, describe_fast}}};

std::string count_machines(std::size_t count) { return pluralise(count, "machine"); }

// Returns the sentence about a fleet in which nothing was found, for the groups that were judged.
std::string describe_healthy(const FleetVerdict& verdict) {
  std::size_t machines = 0;
  double spread = 0, detectable = 0;
  for (const SiblingGroup& group : verdict.groups) {
    if (!group.is_judged()) continue;
    machines += group.machines.size();
    spread = std::max(spread, group.spread);
    detectable = std::max(detectable, group.detectable.value_or(0));
  }
  if (machines == 0) return "";
  return fmt::format(
      "No machine is slow: {} differ by {}, and one that is {} slower would be found.",
      count_machines(machines), format_part_of_time(spread), format_part_of_time(detectable));
}

// A row of the table of a group.
struct MachineRow {
  const JudgedMachine* machine;
  const SiblingGroup* group;
};

std::optional<std::size_t> worst_case(const JudgedMachine& machine) {
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < machine.effects.size(); ++i) {
    if (machine.effects[i] && (!worst || *machine.effects[i] > *machine.effects[*worst])) worst = i;
  }
  return worst;
}

Tone verdict_tone(MachineVerdict verdict) {
  constexpr std::array<Tone, 6> kTones = {Tone::bad,     Tone::bad,  Tone::bad,
                                          Tone::warning, Tone::good, Tone::warning};
  return kTones[static_cast<std::size_t>(verdict)];
}

TableCell machine_cell(const MachineRow& row) { return make_text_cell(row.machine->name); }
TableCell verdict_cell(const MachineRow& row) {
  return make_text_cell(to_string(row.machine->verdict), verdict_tone(row.machine->verdict));
}
TableCell slowdown_cell(const MachineRow& row) { return make_change_cell(row.machine->slowdown); }
TableCell worst_change_cell(const MachineRow& row) {
  const auto worst = worst_case(*row.machine);
  return make_change_cell(worst ? row.machine->effects[*worst] : std::nullopt);
}
TableCell worst_case_cell(const MachineRow& row) {
  const auto worst = worst_case(*row.machine);
  return worst ? make_text_cell(row.group->cases[*worst]) : TableCell{std::string(kUnknown)};
}
TableCell clock_cell(const MachineRow& row) {
  const auto& clock = row.machine->clock;
  return make_change_cell(clock ? std::optional(*clock - 1) : std::nullopt);
}

constexpr unsigned kWithoutCsv = in_text | in_markdown | in_page;
constexpr std::array<TableField<MachineRow>, 6> kMachineFields = {
    {{kWithoutCsv, "machine", text, machine_cell, std::nullopt, 0, ""},
     {kWithoutCsv, "verdict", text, verdict_cell, std::nullopt, 0, ""},
     {kWithoutCsv, "slower by", number, slowdown_cell, std::nullopt, 0, ""},
     {kWithoutCsv, "clock", number, clock_cell, std::nullopt, 2, ""},
     {kWithoutCsv, "worst", number, worst_change_cell, std::nullopt, 0, ""},
     {kWithoutCsv, "worst case", id, worst_case_cell, 16, 1, ""}}};

// Returns what is known about the cause: failures, and what differs from the siblings.
std::string describe_cause(const SiblingGroup& group, const JudgedMachine& machine) {
  constexpr std::size_t kMaxFailures = 2;
  std::vector<std::string> parts;
  if (!machine.no_device.empty()) parts.push_back(machine.no_device);
  for (const auto& [index, reason] : machine.failures) {
    if (parts.size() == kMaxFailures) break;
    parts.push_back(fmt::format("{}: {}", group.cases[index], reason));
  }
  if (!machine.differences.empty())
    parts.push_back("differs from its siblings: " + format_changes(machine.differences));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// The heat map in a terminal: a character per machine and case.
constexpr std::string_view kHeatLegend =
    "Per cent slower than the siblings, rounded: `.` 0, a digit, `#` 10 or more; `-` faster; `!` "
    "no "
    "time. The letters are cases:";

char heat_character(const std::optional<double>& effect) {
  if (!effect) return '!';
  const auto percent = std::lround(std::clamp(100 * *effect, -99.0, 99.0));
  if (percent < 1) return percent < 0 ? '-' : '.';
  return percent >= 10 ? '#' : static_cast<char>('0' + percent);
}

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Returns the cases of the heat map: all, or if there is no room those in which machines differ
// most, in the order of the group.
std::vector<std::size_t> choose_heat_cases(const SiblingGroup& group, std::size_t limit) {
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t i = 0; i < group.cases.size(); ++i) {
    double largest = 0;
    for (const JudgedMachine& machine : group.machines)
      largest = std::max(largest, std::abs(machine.effects[i].value_or(0)));
    ranked.emplace_back(-largest, i);
  }
  std::ranges::stable_sort(ranked);
  ranked.resize(std::min(ranked.size(), limit));
  std::vector<std::size_t> cases;
  for (const auto& [largest, index] : ranked) cases.push_back(index);
  std::ranges::sort(cases);
  return cases;
}

std::string heat_map_text(const SiblingGroup& group, std::size_t top, std::size_t width) {
  constexpr std::size_t kColumn = 2;  // a blank and a character
  const std::size_t rows = std::min(top, group.machines.size());
  std::size_t name_width = 0;
  for (std::size_t i = 0; i < rows; ++i)
    name_width = std::max(name_width, group.machines[i].name.size());
  const std::size_t room = width > name_width + kColumn ? (width - name_width) / kColumn : 1;
  const auto cases = choose_heat_cases(group, std::min(room, kLetters.size()));
  std::string text(name_width, ' ');
  for (std::size_t i = 0; i < cases.size(); ++i) text += fmt::format(" {}", kLetters[i]);
  text += '\n';
  for (std::size_t row = 0; row < rows; ++row) {
    const JudgedMachine& machine = group.machines[row];
    text += fmt::format("{:<{}}", machine.name, name_width);
    for (const std::size_t c : cases)
      text += fmt::format(" {}", heat_character(machine.effects[c]));
    text += '\n';
  }
  text += wrap(kHeatLegend, width, 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string& id = group.cases[cases[i]];
    text += fmt::format("  {} {}\n", kLetters[i], id);
  }
  if (cases.size() < group.cases.size())
    text += wrap(fmt::format("The machines differ less in the other {}.",
                             pluralise(group.cases.size() - cases.size(), "case")),
                 width, 0);
  return text;
}

std::string list_causes(const SiblingGroup& group, std::size_t top, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < std::min(top, group.machines.size()); ++i) {
    const std::string cause = describe_cause(group, group.machines[i]);
    if (!cause.empty())
      text += wrap(fmt::format("{}: {}.", group.machines[i].name, cause), width, 0);
  }
  return text;
}

}  // namespace

std::string fleet_answer(const FleetVerdict& verdict) {
  std::vector<std::string> sentences;
  for (const VerdictSentence& sentence : kSentences) {
    const auto machines = machines_with(verdict, sentence.verdict);
    if (machines.empty()) continue;
    std::string text = list_machines(machines, sentence.describe) + ".";
    if (sentence.verdict == MachineVerdict::slow)
      text =
          fmt::format("{} of {} {} slow: {}", machines.size(), count_machines(verdict.machines()),
                      machines.size() == 1 ? "is" : "are", text);
    sentences.push_back(std::move(text));
  }
  const bool has_slow =
      verdict.count(MachineVerdict::slow) > 0 || verdict.count(MachineVerdict::slow_in_cases) > 0;
  if (!has_slow) {
    if (std::string healthy = describe_healthy(verdict); !healthy.empty())
      sentences.insert(sentences.begin(), std::move(healthy));
  }
  for (const SiblingGroup& group : verdict.groups) {
    if (group.is_judged()) continue;
    sentences.push_back(fmt::format("Cannot judge {} of {}: {}.",
                                    count_machines(group.machines.size()), group.siblings,
                                    group.not_judged_reason));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string describe_group(const SiblingGroup& group) {
  std::string text = fmt::format("{} of {}, {}", count_machines(group.machines.size()),
                                 group.siblings, pluralise(group.cases.size(), "case"));
  if (group.compared >= 2)
    text += fmt::format("; they differ by {}", format_part_of_time(group.spread));
  if (group.detectable)
    text += fmt::format("; one that is {} slower would be found",
                        format_part_of_time(*group.detectable));
  return text + ".";
}

Table fleet_table(const SiblingGroup& group, InFormat format, std::size_t max_rows) {
  std::vector<MachineRow> rows;
  for (const JudgedMachine& machine : group.machines) {
    if (rows.size() == max_rows) break;
    rows.push_back({&machine, &group});
  }
  Table table = make_table(kMachineFields, format, rows);
  const bool has_clock = std::ranges::any_of(
      group.machines, [](const JudgedMachine& machine) { return machine.clock.has_value(); });
  if (has_clock) return table;
  const auto clock = std::ranges::find(table.columns, "clock", &TableColumn::heading);
  const auto column = clock - table.columns.begin();
  table.columns.erase(clock);
  for (TableRow& row : table.rows) row.cells.erase(row.cells.begin() + column);
  return table;
}

std::string describe_left_out(const SiblingGroup& group, std::size_t max_rows) {
  if (group.machines.size() <= max_rows) return "";
  const std::size_t left_out = group.machines.size() - max_rows;
  return fmt::format("{} not shown: the most conspicuous come first; --top N shows more.",
                     left_out == 1 ? "1 machine is" : fmt::format("{} machines are", left_out));
}

NextCommand next_fleet_command(const FleetVerdict& verdict, const FleetView& view) {
  const std::string config =
      verdict.config.empty() ? "configs/fitness.yaml" : shell_quoted(verdict.config);
  for (const MachineVerdict wanted :
       {MachineVerdict::slow, MachineVerdict::slow_in_cases, MachineVerdict::failed}) {
    const auto machines = machines_with(verdict, wanted);
    if (machines.empty()) continue;
    std::string file = machines.front()->name;
    std::ranges::replace(file, '/', '-');
    return {fmt::format("Next: measure {} again, and report again with this file as the last one:",
                        machines.front()->name),
            fmt::format("{} run {} --out {}", view.program, config,
                        shell_quoted(file + "-again.jsonl"))};
  }
  if (!verdict.is_judged()) {
    const bool has_few = std::ranges::any_of(
        verdict.groups, [](const SiblingGroup& group) { return group.compared < kMinSiblings; });
    if (has_few)
      return {"Next: measure more machines of the same kind, at least 4 and better 12; on each:",
              fmt::format("{} run {} --out \"$(hostname).jsonl\"", view.program, config)};
    return {"Next: measure longer, with no other load on the machines; on each:",
            fmt::format("{} run {} --set measure.processes=15 --out \"$(hostname).jsonl\"",
                        view.program, config)};
  }
  const std::string inputs =
      view.inputs.size() == 1 ? shell_quoted(view.inputs.front()) : std::string("NODE*.jsonl");
  return {"Next: look at all machines and cases:",
          fmt::format("{} report {} --by machine -o fleet.html", view.program, inputs)};
}

std::string fleet_console(const FleetVerdict& verdict, const FleetView& view,
                          const ConsoleOptions& console) {
  std::string text = wrap(fleet_answer(verdict), console.width, 0);
  for (const SiblingGroup& group : verdict.groups) {
    text += "\n" + wrap(describe_group(group), console.width, 0) + "\n" +
            text_table(fleet_table(group, in_text, view.top), console.width, console.colour);
    if (const std::string left_out = describe_left_out(group, view.top); !left_out.empty())
      text += wrap(left_out, console.width, 0);
    text += list_causes(group, view.top, console.width);
    if (group.has_effects()) text += "\n" + heat_map_text(group, view.top, console.width);
  }
  const NextCommand next = next_fleet_command(verdict, view);
  return text + "\n" + wrap(next.announcement, console.width, 0) + "  " + next.command + "\n";
}

std::string fleet_markdown(const FleetVerdict& verdict, const FleetView& view,
                           const ConsoleOptions&) {
  constexpr std::size_t kBlockWidth = 100;
  std::string text = markdown_sentence(fleet_answer(verdict)) + "\n";
  for (const SiblingGroup& group : verdict.groups) {
    text += "\n" + markdown_sentence(describe_group(group)) + "\n\n" +
            markdown_table(fleet_table(group, in_markdown, view.top));
    for (const std::string& sentence :
         {describe_left_out(group, view.top), list_causes(group, view.top, kUnlimitedWidth)}) {
      if (!sentence.empty()) text += "\n" + markdown_sentence(sentence) + "\n";
    }
    if (group.has_effects())
      text += "\n```text\n" + heat_map_text(group, view.top, kBlockWidth) + "```\n";
  }
  const NextCommand next = next_fleet_command(verdict, view);
  return text + "\n" + markdown_sentence(next.announcement) + "\n\n```\n" + next.command +
         "\n```\n";
}

namespace {

constexpr std::array<FleetFormat, 5> kFleetFormats = {{{"text", fleet_console},
                                                       {"html", fleet_page},
                                                       {"md", fleet_markdown},
                                                       {"csv", fleet_csv},
                                                       {"json", fleet_json}}};

}  // namespace

std::span<const FleetFormat> fleet_formats() { return kFleetFormats; }

}  // namespace bench
