// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor_core/eligibility.hpp"

#include "base/text.hpp"
#include "ops/operator.hpp"
#include "ops/tensor_core/facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bench::ops {
namespace {

AlignmentGrade to_grade(RowAlignment alignment) {
  switch (alignment) {
    case RowAlignment::below_4:
    case RowAlignment::below_16:
      return AlignmentGrade::degraded;
    case RowAlignment::at_16:
      return AlignmentGrade::ok;
    case RowAlignment::at_128:
      return AlignmentGrade::full;
  }
  return AlignmentGrade::degraded;
}

TensorCorePartVerdict make_part_verdict(TensorCorePart part, const TensorCoreFacts& facts) {
  const TensorCoreRule& rule = find_deciding_rule(part, facts);
  const std::string& detail = facts.details[static_cast<std::size_t>(part)];
  return {part, rule.answer, fmt::format("{} ({})", rule.sentence, detail), rule.id};
}

const TensorCorePartVerdict& find_part(const TensorCoreEligibility& verdict, TensorCorePart part) {
  return verdict.parts[static_cast<std::size_t>(part)];
}

bool denies(const TensorCoreEligibility& verdict, TensorCorePart part) {
  return find_part(verdict, part).answer == RuleAnswer::no;
}

// Returns whether larger sizes would help: they do if narrow rows are slow, copied or unsupported.
bool benefits_from_padding(const TensorCoreEligibility& verdict) {
  const std::string_view alignment = find_part(verdict, TensorCorePart::alignment_grade).rule;
  if (alignment == "align-first-layer") return false;
  return verdict.alignment == AlignmentGrade::degraded ||
         denies(verdict, TensorCorePart::alignment_grade) ||
         find_part(verdict, TensorCorePart::min_dims_ok).rule == "size-int8";
}

// In the order of TensorCoreLibrary.
constexpr std::string_view kLayoutChanges[] = {
    "store source as m x k and weights as n x k: `trans_a: false`, `trans_b: true`",
    "use `layout: nhwc`", "leave `layout` out"};

// Returns what a user could change, most important first. Empty if the data type is unsupported.
std::vector<std::string> list_changes(const TensorCoreEligibility& verdict,
                                      const ProblemFacts& problem) {
  std::vector<std::string> changes;
  if (denies(verdict, TensorCorePart::arch_supports)) return changes;
  const TensorCoreFacts& facts = problem.facts;
  if (denies(verdict, TensorCorePart::math_mode_allows)) {
    changes.emplace_back("allow TF32 with `math: tf32`");
  }
  if (denies(verdict, TensorCorePart::layout_ok)) {
    changes.emplace_back(kLayoutChanges[static_cast<std::size_t>(facts.library)]);
  }
  if (benefits_from_padding(verdict)) {
    for (const UnalignedSize& size : problem.unaligned) {
      changes.push_back(fmt::format("pad {} = {} to {}", size.name, size.size, size.padded));
    }
  }
  if (find_part(verdict, TensorCorePart::layout_ok).rule == "layout-few-channels") {
    changes.emplace_back("use `layout: nhwc`, in which cuDNN takes tensor cores for few channels");
  }
  return changes;
}

std::vector<std::string> list_hints(const TensorCoreEligibility& verdict,
                                    const TensorCoreFacts& facts) {
  std::vector<std::string> hints = verdict.changes;
  if (verdict.copies) {
    const LibraryCopies& copies = *verdict.copies;
    hints.push_back(fmt::format(
        "cuDNN copies {}: {} of workspace, {} more traffic", fmt::join(copies.tensors, ", "),
        format_bytes({copies.workspace_bytes}), format_bytes({copies.conversion_bytes})));
    if (facts.layout == OperandLayout::nchw)
      hints.emplace_back("`layout: nhwc` needs no such copy");
  }
  return hints;
}

TensorCoreEligibility make_not_applicable(std::string_view op) {
  const std::vector<NoTensorCoreRule> rules = no_tensor_core_rules();
  const auto row = std::find_if(rules.begin(), rules.end() - 1,
                                [&](const NoTensorCoreRule& rule) { return rule.op == op; });
  TensorCoreEligibility verdict;
  verdict.reason = row->sentence;
  verdict.rule = row->id;
  return verdict;
}

}  // namespace

TensorCoreEligibility assess_tensor_cores(const Problem& problem, const Platform& platform) {
  const MatrixProduct& product = problem.op->product;
  if (product.facts == nullptr) return make_not_applicable(problem.op->name);
  const ProblemFacts problem_facts = product.facts(problem, platform);
  TensorCoreEligibility verdict;
  const TensorCoreFacts& facts = problem_facts.facts;
  for (std::size_t i = 0; i < kTensorCoreParts; ++i) {
    verdict.parts.push_back(make_part_verdict(static_cast<TensorCorePart>(i), facts));
  }
  verdict.alignment = to_grade(facts.alignment);
  const auto first_denied =
      std::find_if(verdict.parts.begin(), verdict.parts.end(),
                   [](const TensorCorePartVerdict& part) { return part.answer == RuleAnswer::no; });
  const bool is_eligible = first_denied == verdict.parts.end();
  verdict.answer = is_eligible ? TensorCoreAnswer::eligible : TensorCoreAnswer::not_eligible;
  const TensorCorePartVerdict& decisive =
      is_eligible ? find_part(verdict, TensorCorePart::alignment_grade) : *first_denied;
  verdict.reason = decisive.reason;
  verdict.rule = decisive.rule;
  if (is_eligible && product.copies != nullptr) verdict.copies = product.copies(problem, facts);
  verdict.changes = list_changes(verdict, problem_facts);
  verdict.hints = list_hints(verdict, facts);
  return verdict;
}

std::vector<TensorCoreNode> assess_tensor_cores(const Network& network, const Platform& platform) {
  std::vector<TensorCoreNode> nodes;
  for (const Node& node : network.nodes) {
    nodes.push_back(
        {node.name, node.problem.op->name, assess_tensor_cores(node.problem, platform)});
  }
  return nodes;
}

}  // namespace bench::ops
