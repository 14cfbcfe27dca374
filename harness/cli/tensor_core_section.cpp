// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/plural.hpp"
#include "base/text.hpp"
#include "harness/cli/explain_sections.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

namespace bench {
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
