// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/tensor_core_section.hpp"

#include "base/text.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>

namespace bench {
namespace {

using ops::TensorCoreAnswer;
using ops::TensorCoreEligibility;
using ops::TensorCoreNode;
using ops::TensorCorePartVerdict;

std::string_view name_of_part(ops::TensorCorePart part) {
  return ops::tensor_core_part_names()[static_cast<std::size_t>(part)];
}

// Returns "yes" or "no"; for the alignment, its grade.
std::string_view word_of(const TensorCorePartVerdict& part, const TensorCoreEligibility& verdict) {
  if (part.answer == ops::RuleAnswer::no) return "no";
  if (part.part == ops::TensorCorePart::alignment_grade) return ops::name_of(*verdict.alignment);
  return "yes";
}

std::string parts_text(const TensorCoreEligibility& verdict) {
  std::string text;
  for (const TensorCorePartVerdict& part : verdict.parts) {
    text += fmt::format("    {:<16}  {:<8}  {}  [{}]\n", name_of_part(part.part),
                        word_of(part, verdict), part.reason, part.rule);
  }
  for (const std::string& hint : verdict.hints) text += fmt::format("    hint: {}\n", hint);
  return text;
}

std::string verdict_text(const TensorCoreEligibility& verdict) {
  if (verdict.parts.empty()) {
    return fmt::format("  {}: {}  [{}]\n", name_of(verdict.answer), verdict.reason, verdict.rule);
  }
  return fmt::format("  {}\n{}", name_of(verdict.answer), parts_text(verdict));
}

// One line: why tensor cores cannot be used, or what could be better.
std::string node_text(const TensorCoreNode& node, std::size_t width) {
  const TensorCoreEligibility& verdict = node.verdict;
  const bool eligible = verdict.answer == TensorCoreAnswer::eligible;
  const std::string remark =
      eligible ? fmt::format("{}", fmt::join(verdict.hints, "; ")) : verdict.reason;
  return fmt::format("    {:<{}}  {:<4}  {:<12}  {:<8}  [{}]{}{}\n", node.node, width, node.op,
                     name_of(verdict.answer), eligible ? ops::name_of(*verdict.alignment) : "",
                     verdict.rule, remark.empty() ? "" : "  ", remark);
}

std::string network_text(const std::vector<TensorCoreNode>& nodes) {
  std::size_t width = 0;
  std::map<TensorCoreAnswer, std::size_t> counts;
  std::string lines;
  for (const TensorCoreNode& node : nodes) width = std::max(width, node.node.size());
  for (const TensorCoreNode& node : nodes) {
    ++counts[node.verdict.answer];
    if (node.verdict.answer != TensorCoreAnswer::not_applicable) lines += node_text(node, width);
  }
  const std::size_t eligible = counts[TensorCoreAnswer::eligible];
  const std::size_t others = counts[TensorCoreAnswer::not_applicable];
  return fmt::format("  {} of {} convolutions and products eligible; {} other node{}: no product\n",
                     eligible, eligible + counts[TensorCoreAnswer::not_eligible], others,
                     others == 1 ? "" : "s") +
         lines;
}

nlohmann::ordered_json verdict_json(const TensorCoreEligibility& verdict) {
  nlohmann::ordered_json entry = {
      {"verdict", name_of(verdict.answer)}, {"reason", verdict.reason}, {"rule", verdict.rule}};
  for (const TensorCorePartVerdict& part : verdict.parts) {
    entry["parts"][std::string(name_of_part(part.part))] = {
        {"ok", part.answer == ops::RuleAnswer::yes}, {"reason", part.reason}, {"rule", part.rule}};
  }
  if (verdict.alignment) entry["alignment"] = ops::name_of(*verdict.alignment);
  if (verdict.copies) {
    entry["copies"] = {{"tensors", verdict.copies->tensors},
                       {"workspace_bytes", verdict.copies->workspace_bytes},
                       {"conversion_bytes", verdict.copies->conversion_bytes}};
  }
  if (!verdict.hints.empty()) entry["hints"] = verdict.hints;
  return entry;
}

using NetworkPointer = std::shared_ptr<const ops::Network>;

}  // namespace

std::string tensor_core_text(const Case& spec, const ops::Platform& platform) {
  const std::string head = fmt::format(
      "tensor cores ({}: {}, {}; {})\n", platform.architecture->name, platform.architecture->family,
      platform.architecture->devices, info(platform.libraries).libraries);
  if (const auto* network = std::get_if<NetworkPointer>(&spec.work)) {
    return head + network_text(verdicts_of(**network, platform));
  }
  return head + verdict_text(verdict_of(std::get<ops::Problem>(spec.work), platform));
}

nlohmann::ordered_json tensor_core_json(const Case& spec, const ops::Platform& platform) {
  nlohmann::ordered_json entry = {{"arch", platform.architecture->name},
                                  {"libraries", info(platform.libraries).name}};
  if (const auto* network = std::get_if<NetworkPointer>(&spec.work)) {
    entry["nodes"] = nlohmann::ordered_json::array();
    for (const TensorCoreNode& node : verdicts_of(**network, platform)) {
      nlohmann::ordered_json row = {{"node", node.node}, {"op", node.op}};
      row.update(verdict_json(node.verdict));
      entry["nodes"].push_back(std::move(row));
    }
    return entry;
  }
  entry.update(verdict_json(verdict_of(std::get<ops::Problem>(spec.work), platform)));
  return entry;
}

}  // namespace bench
