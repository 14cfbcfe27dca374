// SPDX-License-Identifier: Apache-2.0
#include "harness/run/tensor_core_facts.hpp"

#include "harness/host/cuda_status.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace bench {
namespace {

using Details = std::map<std::string, std::string>;
using ops::TensorCoreAnswer;
using ops::TensorCoreEligibility;

void describe(const TensorCoreEligibility& verdict, Details& details) {
  details["tensor_cores.eligible"] = name_of(verdict.answer);
  if (!verdict.reason.empty()) details["tensor_cores.reason"] = verdict.reason;
  if (!verdict.rule.empty()) details["tensor_cores.rule"] = verdict.rule;
  if (verdict.answer != TensorCoreAnswer::eligible) return;
  if (verdict.alignment) details["tensor_cores.alignment"] = name_of(*verdict.alignment);
}

void describe(const std::vector<ops::TensorCoreNode>& nodes, Details& details) {
  std::size_t products = 0;
  std::vector<std::string> others;
  for (const ops::TensorCoreNode& node : nodes) {
    if (node.verdict.answer == TensorCoreAnswer::not_applicable) continue;
    ++products;
    if (node.verdict.answer == TensorCoreAnswer::not_eligible) {
      others.push_back(fmt::format("{} [{}]", node.node, node.verdict.rule));
    }
  }
  details["tensor_cores.eligible"] =
      fmt::format("{} of {} convolutions and products", products - others.size(), products);
  if (!others.empty()) {
    details["tensor_cores.reason"] = fmt::format("not eligible: {}", fmt::join(others, ", "));
  }
}

}  // namespace

Details tensor_core_details(const Case& spec, std::string_view capability) {
  const auto backends = cuda_backend_names();
  if (std::ranges::find(backends, spec.key.backend) == backends.end()) return {};
  const auto platform = ops::parse_platform(capability);
  if (!platform) return {{"tensor_cores.reason", platform.error().what}};
  Details details = {{"tensor_cores.arch", fmt::format("{}, {}", platform->architecture->name,
                                                       info(platform->libraries).name)}};
  if (const auto* problem = std::get_if<ops::Problem>(&spec.work)) {
    describe(verdict_of(*problem, *platform), details);
  } else {
    const auto& network = std::get<std::shared_ptr<const ops::Network>>(spec.work);
    describe(verdicts_of(*network, *platform), details);
  }
  return details;
}

}  // namespace bench
