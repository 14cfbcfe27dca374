// SPDX-License-Identifier: Apache-2.0
// A fleet for other programs: CSV and JSON.
#include "base/json_fields.hpp"
#include "harness/report/fleet_text.hpp"

#include <cstdint>
#include <utility>

namespace bench {
namespace {

void write_effects(JsonWriter& writer, const SiblingGroup& group, const JudgedMachine& machine) {
  std::vector<std::pair<std::size_t, double>> known;
  for (std::size_t i = 0; i < machine.effects.size(); ++i) {
    if (machine.effects[i]) known.emplace_back(i, *machine.effects[i]);
  }
  writer.required_list("effects", known, [&](JsonWriter& entry, const auto& effect) {
    entry.required("case", group.cases[effect.first]);
    entry.required("change", effect.second);
  });
}

void write_machine(JsonWriter& writer, const SiblingGroup& group, const JudgedMachine& machine) {
  writer.required("machine", machine.name);
  writer.required("verdict", to_string(machine.verdict));
  writer.optional("slowdown", machine.slowdown);
  writer.optional("clock", machine.clock);
  if (!machine.no_device.empty()) writer.required("no_device", machine.no_device);
  std::vector<std::string> slow;
  for (const std::size_t index : machine.slow_cases) slow.push_back(group.cases[index]);
  writer.required("slow_cases", slow);
  writer.required_list("failures", machine.failures, [&](JsonWriter& entry, const auto& failure) {
    entry.required("case", group.cases[failure.first]);
    entry.required("reason", failure.second);
  });
  writer.required_list("differences", machine.differences,
                       [](JsonWriter& entry, const Change& change) {
                         BENCH_MEMBERS(entry, change, field, from, to);
                       });
  write_effects(writer, group, machine);
}

void write_group(JsonWriter& writer, const SiblingGroup& group) {
  writer.required("siblings", group.siblings);
  writer.required("judged", group.is_judged());
  if (!group.is_judged()) writer.required("reason", group.not_judged_reason);
  writer.required("compared", static_cast<std::int64_t>(group.compared));
  writer.required("spread", group.spread);
  writer.optional("detectable", group.detectable);
  writer.required("cases", group.cases);
  writer.required_list("machines", group.machines,
                       [&](JsonWriter& entry, const JudgedMachine& machine) {
                         write_machine(entry, group, machine);
                       });
}

}  // namespace

std::string fleet_json(const FleetVerdict& verdict, const FleetView&, const ConsoleOptions&) {
  return printed_json([&](JsonWriter& writer) {
    writer.required("answer", fleet_answer(verdict));
    writer.required("judged", verdict.is_judged());
    writer.required_list("groups", verdict.groups, write_group);
  });
}

std::string fleet_csv(const FleetVerdict& verdict, const FleetView&, const ConsoleOptions&) {
  std::string text = "machine,siblings,verdict,slowdown,case,change,reason\n";
  const auto add_line = [&](const std::vector<analysis::Cell>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text += ',';
      analysis::append_csv(cells[i], text);
    }
    text += '\n';
  };
  for (const SiblingGroup& group : verdict.groups) {
    for (const JudgedMachine& machine : group.machines) {
      for (std::size_t i = 0; i < group.cases.size(); ++i) {
        const auto failure = machine.failures.find(i);
        analysis::Cell reason;
        if (failure != machine.failures.end()) reason = failure->second;
        add_line({machine.name, group.siblings, std::string(to_string(machine.verdict)),
                  to_cell(machine.slowdown), group.cases[i], to_cell(machine.effects[i]), reason});
      }
    }
  }
  return text;
}

}  // namespace bench
