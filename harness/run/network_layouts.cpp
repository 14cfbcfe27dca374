// SPDX-License-Identifier: Apache-2.0
#include "harness/run/network_layouts.hpp"

namespace bench {

bool NetworkLayouts::needs_layouts(const Case& spec) {
  return spec.layer_of != nullptr && spec.key.device == "cpu";
}

bool NetworkLayouts::is_settled(const Case& spec) const {
  return !needs_layouts(spec) || by_node_.contains(make_key(spec));
}

void NetworkLayouts::ask(WorkerSession& session, const Case& layer) {
  const auto reply =
      session.ask(StepsRequest{layer.key.dtype, layer.layer_of}, layer.measure.timeout);
  learn(layer, reply ? reply->steps : std::vector<ops::KernelStep>{});
}

void NetworkLayouts::learn(const Case& layer, const std::vector<ops::KernelStep>& steps) {
  auto& nodes = by_node_[make_key(layer)];
  for (const ops::KernelStep& step : steps) {
    if (!step.input_layouts.empty()) nodes[step.node] = step.input_layouts;
  }
}

ops::InputLayouts NetworkLayouts::input_layouts(const Case& spec) const {
  const auto network = by_node_.find(make_key(spec));
  if (!needs_layouts(spec) || network == by_node_.end()) return {};
  const auto node = network->second.find(spec.memberships.front().layers.front());
  return node == network->second.end() ? ops::InputLayouts{} : node->second;
}

}  // namespace bench
