// SPDX-License-Identifier: Apache-2.0
#include "base/plural.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/cli/explain_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t kPlanIndent = 2;

struct PlanWayRow {
  std::string_view way;
  std::string_view one, several;  // nouns of the steps
};
// In the order of the sentence.
constexpr PlanWayRow kPlanWays[] = {{"graph", "graph of cuDNN", "graphs of cuDNN"},
                                    {"product", "product of cuBLASLt", "products of cuBLASLt"},
                                    {"parts", "part of a split layer", "parts of split layers"},
                                    {"native", "native kernel", "native kernels"},
                                    {"padded", "step with padding", "steps with padding"}};
constexpr std::string_view kTransposeWay = "transpose";

// "57 steps: 56 kernels (54 graphs of cuDNN, 1 product of cuBLASLt, 1 native kernel) and 1
// transpose."
std::string plan_sentence(const std::vector<PlannedStep>& steps, std::string_view gpu) {
  const auto count_way = [&](std::string_view way) {
    return std::ranges::count(steps, way, &PlannedStep::way);
  };
  std::vector<std::string> kinds;
  for (const auto& [way, one, several] : kPlanWays) {
    if (const auto count = count_way(way); count > 0)
      kinds.push_back(pluralise(count, one, several));
  }
  const auto transposes = count_way(kTransposeWay);
  return fmt::format("On {} the network runs in {}: {} ({}) and {}.", gpu,
                     pluralise(std::ssize(steps), "step"),
                     pluralise(std::ssize(steps) - transposes, "kernel"), fmt::join(kinds, ", "),
                     transposes == 0 ? "no transpose" : pluralise(transposes, "transpose"));
}

// Says how many layers the GPU decides itself; empty if there are none.
std::string choice_sentence(const std::vector<PlannedStep>& steps) {
  std::set<std::string_view> layers;
  for (const PlannedStep& step : steps) {
    if (!step.other_ways.empty()) layers.insert(step.node);
  }
  if (layers.empty()) return "";
  return fmt::format(
      " {} can run in another way, too: the GPU measures which one is the fastest and begins "
      "with the first one of the table.",
      pluralise(std::ssize(layers), "layer"));
}

// "graph", or "graph or parts" if the GPU decides, or "graph/parts/padded", so that the table fits
// into 80 columns.
std::string format_ways(const PlannedStep& step) {
  const std::string_view separator = step.other_ways.size() > 1 ? "/" : " or ";
  std::string text = step.way;
  for (const std::string& way : step.other_ways) text.append(separator).append(way);
  return text;
}

std::string format_plan_table(const std::vector<PlannedStep>& steps, std::size_t width) {
  constexpr std::size_t kMinLayerWidth = 12, kMinKernelWidth = 14;
  const std::vector<TextColumn> columns = {{"layer", Align::left, kMinLayerWidth},
                                           {"runs as"},
                                           {"kernel", Align::left, kMinKernelWidth},
                                           {"layouts"}};
  std::vector<TextRow> rows;
  for (const PlannedStep& step : steps) {
    const std::string layouts = step.layouts.substr(0, step.layouts.find(", weights "));
    rows.push_back({{{step.node}, {format_ways(step)}, {step.implementation}, {layouts}}, ""});
  }
  const std::string table =
      render_table(columns, std::move(rows), width - kPlanIndent, Colour::off);
  std::string text;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin) + 1;
    text += std::string(kPlanIndent, ' ') + table.substr(begin, end - begin);
    begin = end;
  }
  return text;
}

}  // namespace

std::string format_network_plan(const CudaSupport& support, std::string_view gpu,
                                std::string_view command, std::size_t width) {
  const std::string basis =
      support.basis.empty() ? "" : wrap(fmt::format("({})", support.basis), width, 0);
  if (support.steps.empty()) {
    const std::string_view answer = support.runs == "no"
                                        ? "the network does not run"
                                        : "it is not known whether the network runs";
    return wrap(fmt::format("On {} {}: {}.", gpu, answer, support.reason), width, 0) + basis + "\n";
  }
  return wrap(plan_sentence(support.steps, gpu) + choice_sentence(support.steps), width, 0) +
         basis + "\n" + format_plan_table(support.steps, width) +
         fmt::format("\nNext: measure the network on that GPU:\n  {}\n\n", command);
}

void write_network_plan(JsonWriter& writer, const CudaSupport& support) {
  writer.optional("basis", support.basis);
  writer.optional("steps", support.steps);
}

}  // namespace bench
