// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"

#include "base/json_fields.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "harness/report/regret.hpp"
#include "harness/result/fields.hpp"
#include "harness/result/roofline.hpp"
#include "harness/run/case_progress.hpp"
#include "ops/regret.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

std::optional<Roofline> compute_ideal(const Case& spec,
                                      const std::optional<PreparedReply>& prepared,
                                      const Ceilings& ceilings) {
  CaseRecord record = case_facts(spec);
  if (!ceilings.capability.empty()) {
    record.details = tensor_core_details(spec, ceilings.capability);
  }
  if (prepared) {
    record.memory = prepared->memory;
    record.details.insert(prepared->details.begin(), prepared->details.end());
  }
  record.time = TimeSummary{};
  // compute_roofline() needs a time, but only for the efficiency, which is not used here.
  record.time->median = Nanoseconds(1);
  const auto input = make_roofline_input(record, ceilings);
  return input ? compute_roofline(*input, ceilings) : std::nullopt;
}

std::string format_ideal(const Roofline& ideal) {
  std::string text = fmt::format("ceilings\n  ideal time  {}, bound by {}\n",
                                 format_time(ideal.ideal), to_string(ideal.bound));
  if (ideal.peak_flops_per_s) {
    text += fmt::format("  arithmetic  {}\n", format_rate(*ideal.peak_flops_per_s));
  }
  if (ideal.peak_bytes_per_s) {
    text += fmt::format("  {:<10}  {}\n", ideal.level, format_rate(*ideal.peak_bytes_per_s));
  }
  return text + "\n";
}

namespace {

constexpr std::size_t kIndent = 2;

std::optional<ops::Regret> find_regret(const PreparedReply& prepared) {
  std::map<std::string, std::string> details = prepared.details;
  return ops::take_regret(details);
}

std::string find_detail(const PreparedReply& prepared, const std::string& name) {
  const auto found = prepared.details.find(name);
  return found == prepared.details.end() ? "" : found->second;
}

// Names the option that measures the other candidates. Empty if there are none.
std::string format_offer(const Case& spec) {
  const bool is_operator = std::holds_alternative<ops::Problem>(spec.work);
  if (!is_operator || !offers_choice(spec.key.backend)) return "";
  return "\nchoice\n  the library's own; `--set tune=true` measures its other candidates too\n";
}

// Formats why there is no other candidate to compare with, and what to do. Empty if there is one.
std::string format_gap(const Case& spec, const PreparedReply& prepared,
                       const std::optional<ops::Regret>& regret) {
  const auto gap = find_choice_gap({spec.key.op, spec.key.backend, spec.key.device,
                                    prepared.details, regret ? &*regret : nullptr});
  return gap ? fmt::format("  {};\n  {}\n", gap->reason, gap->next_step) : "";
}

}  // namespace

std::string format_choice(const Case& spec, const PreparedReply& prepared) {
  const auto regret = find_regret(prepared);
  const bool is_tuned = spec.measure.tune != 0 || prepared.details.contains("tuned");
  if (!regret && !is_tuned) return format_offer(spec);
  const std::string gap = format_gap(spec, prepared, regret);
  if (!regret) return "\nchoice\n  no other candidate was measured\n" + gap;
  const std::string caches =
      regret->is_compared() ? find_detail(prepared, "tuned_caches") : std::string();
  return fmt::format("\nchoice\n  {}\n{}{}{}", describe_regret(*regret),
                     caches.empty() ? "" : fmt::format("  measured with caches {}\n", caches), gap,
                     format_candidates(*regret, 2 * kIndent));
}

void write_choice(JsonWriter& writer, const PreparedReply& prepared) {
  writer.optional("regret", find_regret(prepared));
}

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

namespace {

using ops::TensorCoreAnswer;
using ops::TensorCoreEligibility;
using ops::TensorCoreNode;
using ops::TensorCorePartVerdict;

// Returns "yes" or "no". For the alignment, returns its grade instead of "yes".
std::string_view to_word(const TensorCorePartVerdict& part, const TensorCoreEligibility& verdict) {
  if (part.answer == ops::RuleAnswer::no) return "no";
  if (part.part == ops::TensorCorePart::alignment_grade) return ops::to_string(*verdict.alignment);
  return "yes";
}

std::string format_parts(const TensorCoreEligibility& verdict) {
  std::string text;
  for (const TensorCorePartVerdict& part : verdict.parts) {
    text += fmt::format("    {:<16}  {:<8}  {}  [{}]\n", to_string(part.part),
                        to_word(part, verdict), part.reason, part.rule);
  }
  for (const std::string& hint : verdict.hints) text += fmt::format("    hint: {}\n", hint);
  return text;
}

std::string format_verdict(const TensorCoreEligibility& verdict) {
  if (verdict.parts.empty()) {
    return fmt::format("  {}: {}  [{}]\n", to_string(verdict.answer), verdict.reason, verdict.rule);
  }
  return fmt::format("  {}\n{}", to_string(verdict.answer), format_parts(verdict));
}

// Formats one line of a network: the verdict for a node, and why tensor cores cannot be used or
// what could be better.
std::string format_node(const TensorCoreNode& node, std::size_t width) {
  const TensorCoreEligibility& verdict = node.verdict;
  const bool is_eligible = verdict.answer == TensorCoreAnswer::eligible;
  const std::string note =
      is_eligible ? fmt::format("{}", fmt::join(verdict.hints, "; ")) : verdict.reason;
  return fmt::format("    {:<{}}  {:<4}  {:<12}  {:<8}  [{}]{}{}\n", node.node, width, node.op,
                     to_string(verdict.answer),
                     is_eligible ? ops::to_string(*verdict.alignment) : "", verdict.rule,
                     note.empty() ? "" : "  ", note);
}

std::string format_network(const std::vector<TensorCoreNode>& nodes) {
  std::size_t width = 0;
  std::map<TensorCoreAnswer, std::size_t> counts;
  std::string lines;
  for (const TensorCoreNode& node : nodes) width = std::max(width, node.node.size());
  for (const TensorCoreNode& node : nodes) {
    ++counts[node.verdict.answer];
    if (node.verdict.answer != TensorCoreAnswer::not_applicable) lines += format_node(node, width);
  }
  const std::size_t eligible = counts[TensorCoreAnswer::eligible];
  const std::size_t others = counts[TensorCoreAnswer::not_applicable];
  return fmt::format("  {} of {} convolutions and products eligible; {}: no product\n", eligible,
                     eligible + counts[TensorCoreAnswer::not_eligible],
                     pluralise(others, "other node")) +
         lines;
}

void write_verdict(JsonWriter& writer, const TensorCoreEligibility& verdict) {
  writer.required("verdict", verdict.answer);
  BENCH_MEMBERS(writer, verdict, reason, rule);
  writer.object("parts", [&](JsonWriter& parts) {
    for (const TensorCorePartVerdict& part : verdict.parts) {
      parts.required_object(to_string(part.part), [&](JsonWriter& section) {
        section.required("ok", part.answer == ops::RuleAnswer::yes);
        BENCH_MEMBERS(section, part, reason, rule);
      });
    }
  });
  writer.optional("alignment", verdict.alignment);
  writer.group("copies", verdict.copies, [](JsonWriter& copies, const auto& value) {
    BENCH_MEMBERS(copies, value, tensors, workspace_bytes, conversion_bytes);
  });
  writer.optional("hints", verdict.hints);
}

using NetworkPointer = std::shared_ptr<const ops::Network>;

}  // namespace

std::string format_tensor_cores(const Case& spec, const ops::Platform& platform) {
  const std::string head = fmt::format(
      "tensor cores ({}: {}, {}; {})\n", platform.architecture->name, platform.architecture->family,
      platform.architecture->devices, info(platform.libraries).libraries);
  if (const auto* network = std::get_if<NetworkPointer>(&spec.work)) {
    return head + format_network(assess_tensor_cores(**network, platform));
  }
  return head + format_verdict(assess_tensor_cores(std::get<ops::Problem>(spec.work), platform));
}

void write_tensor_cores(JsonWriter& writer, const Case& spec, const ops::Platform& platform) {
  writer.required("arch", platform.architecture->name);
  writer.required("libraries", info(platform.libraries).name);
  if (const auto* network = std::get_if<NetworkPointer>(&spec.work)) {
    writer.required_list("nodes", assess_tensor_cores(**network, platform),
                         [](JsonWriter& row, const TensorCoreNode& node) {
                           row.required("node", node.node);
                           row.required("op", node.op);
                           write_verdict(row, node.verdict);
                         });
    return;
  }
  write_verdict(writer, assess_tensor_cores(std::get<ops::Problem>(spec.work), platform));
}

}  // namespace bench
