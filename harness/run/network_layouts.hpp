// SPDX-License-Identifier: Apache-2.0
// The layouts of layer inputs inside their networks, as far as a run has asked for them.
#pragma once

#include "base/data_type.hpp"
#include "harness/config/plan.hpp"
#include "harness/run/worker_session.hpp"
#include "ops/kernel_facts.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {

class NetworkLayouts {
 public:
  // Also true if nothing needs to be asked: for a case that is not a layer, and for devices other
  // than the CPU, where these layouts do not apply.
  bool is_settled(const Case& spec) const;
  // Asks the session's worker. If it does not answer, or the network cannot run as a whole, its
  // layers keep the layouts that they choose by themselves.
  void ask(WorkerSession& session, const Case& layer);
  // `steps`: the steps of the network that contains `layer`; empty if it cannot run as a whole.
  void learn(const Case& layer, const std::vector<ops::KernelStep>& steps);
  // Empty for a case that is not a layer, and if nothing is known.
  ops::InputLayouts input_layouts(const Case& spec) const;

 private:
  static bool needs_layouts(const Case& spec);
  using Key = std::pair<const PlannedNetwork*, DataType>;
  static Key make_key(const Case& spec) { return {spec.layer_of.get(), spec.key.dtype}; }

  std::map<Key, std::map<std::string, ops::InputLayouts>> by_node_;
};

}  // namespace bench
