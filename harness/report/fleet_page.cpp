// SPDX-License-Identifier: Apache-2.0
// The heat maps of a fleet as pictures, and its page.
#include "base/text.hpp"
#include "harness/report/fleet_text.hpp"
#include "harness/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

// The colours of a cell: nearly equal, then by how much the machine is slower or faster.
struct HeatColour {
  double from;  // smallest absolute change
  std::string_view slower, faster;
};
constexpr std::array<HeatColour, 4> kHeatColours = {{{0.10, "s1", "s0"},
                                                     {0.05, "s1 light", "s0 light"},
                                                     {0.02, "s1 area", "s0 area"},
                                                     {0, "band", "band"}}};

std::string heat_classes(double change) {
  const auto colour = std::ranges::find_if(
      kHeatColours, [&](const HeatColour& entry) { return std::abs(change) >= entry.from; });
  return std::string(change > 0 ? colour->slower : colour->faster);
}

ChartRow make_heat_row(const SiblingGroup& group, const JudgedMachine& machine) {
  constexpr double kHeight = 14;
  constexpr double kHalf = 0.47;  // leaves a gap between cells
  const std::string value =
      machine.slowdown ? fmt::format("{:+.1f} %", 100 * *machine.slowdown) : "n/a";
  ChartRow row{machine.name, value, kHeight};
  for (std::size_t i = 0; i < group.cases.size(); ++i) {
    if (!machine.effects[i]) continue;
    const double at = static_cast<double>(i + 1);
    Mark mark{
        fmt::format("{}\n{}: {:+.1f} %", machine.name, group.cases[i], 100 * *machine.effects[i]),
        {Bar{{at - kHalf, at + kHalf}, Extent{0, kHeight}, heat_classes(*machine.effects[i])}}};
    row.marks.push_back(std::move(mark));
  }
  return row;
}

Plot heat_plot(const SiblingGroup& group, std::size_t number, std::size_t max_rows) {
  const std::string name = number == 0 ? "machines" : fmt::format("machines-{}", number + 1);
  const std::string title = fmt::format("Machines of {}", group.siblings);
  if (!group.has_effects())
    return make_absent_plot(name, title, "No case was measured on enough machines.");
  RowChart chart{title, {.title = "number of the case"}};
  chart.x.values = {0.5, static_cast<double>(group.cases.size()) + 0.5};
  for (std::size_t i = 0; i < std::min(max_rows, group.machines.size()); ++i)
    chart.rows.push_back(make_heat_row(group, group.machines[i]));
  const std::size_t left_out = group.machines.size() - chart.rows.size();
  return make_plot(name, title,
                   "Each cell is a case on a machine. Orange is slower than the siblings and blue "
                   "faster: pale from 2 %, medium from 5 %, full from 10 % on. No cell: no time." +
                       format_left_out(left_out, "further machine"),
                   chart);
}

void add_cases(const SiblingGroup& group, Page& page) {
  Table table{{{"number", ColumnKind::number}, {"case", ColumnKind::id}}, {}};
  for (std::size_t i = 0; i < group.cases.size(); ++i) {
    table.rows.push_back({{{std::to_string(i + 1), static_cast<std::int64_t>(i + 1)},
                           make_text_cell(group.cases[i])}});
  }
  page.heading("Cases");
  page.table(table);
}

void add_differences(const SiblingGroup& group, Page& page) {
  std::vector<std::string> lines;
  for (const JudgedMachine& machine : group.machines) {
    if (!machine.no_device.empty())
      lines.push_back(fmt::format("{} has no GPU: {}", machine.name, machine.no_device));
    for (const auto& [index, reason] : machine.failures)
      lines.push_back(fmt::format("{}, {}: {}", machine.name, group.cases[index], reason));
    if (!machine.differences.empty())
      lines.push_back(fmt::format("{} differs from its siblings: {}", machine.name,
                                  format_changes(machine.differences)));
  }
  if (lines.empty()) return;
  page.heading("What differs");
  page.list(lines);
}

PageFindings fleet_findings(const FleetVerdict& verdict) {
  PageFindings findings;
  for (const SiblingGroup& group : verdict.groups) {
    for (const JudgedMachine& machine : group.machines) {
      const bool is_remarkable = machine.verdict < MachineVerdict::fast;
      if (!is_remarkable || findings.list.size() == kMaxFindings) continue;
      std::string text = fmt::format("{} is {}", machine.name, to_string(machine.verdict));
      if (machine.slowdown) text += fmt::format(", {:+.1f} %", 100 * *machine.slowdown);
      if (!machine.differences.empty())
        text += "; it differs from its siblings: " + format_changes(machine.differences);
      findings.list.push_back({text + ".", machine.name});
    }
  }
  if (findings.list.empty())
    findings.none = verdict.is_judged() ? "No machine is conspicuous."
                                        : "No finding: not all machines could be judged.";
  return findings;
}

}  // namespace

std::vector<Plot> fleet_plots(const FleetVerdict& verdict, std::size_t max_rows) {
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < verdict.groups.size(); ++i)
    plots.push_back(heat_plot(verdict.groups[i], i, max_rows));
  return plots;
}

std::string fleet_page(const FleetVerdict& verdict, const FleetView& view, const ConsoleOptions&) {
  Page page("Machines", fleet_answer(verdict));
  const std::vector<Plot> opening = fleet_plots(verdict, kMaxOpeningRows);
  page.open(opening.front(), fleet_findings(verdict));
  for (const SiblingGroup& group : verdict.groups) {
    page.section(group.siblings, describe_group(group));
    page.table(fleet_table(group, in_page, kAllRows));
    add_differences(group, page);
    add_cases(group, page);
  }
  const std::vector<Plot> all = fleet_plots(verdict, std::max<std::size_t>(view.top, 100));
  page.plots("Heat maps", "machines and cases", all);
  return std::move(page).finish();
}

}  // namespace bench
