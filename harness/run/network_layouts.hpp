// SPDX-License-Identifier: Apache-2.0
// The layouts that layers meet in their networks, as far as a run has asked for them.
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
  // Also of a case that is no layer, or of another device than the CPU, whose layouts mean nothing
  // there: there is nothing to know.
  bool knows(const Case& spec) const;
  // Learns from the session's worker. Where it does not answer, or the network cannot run as one,
  // its layers are left to the layouts that they have alone.
  void ask(WorkerSession& session, const Case& layer);
  // The steps of the network that `layer` belongs to; empty where it cannot run as one.
  void learn(const Case& layer, const std::vector<ops::KernelStep>& steps);
  // Empty for a case that is no layer, and where nothing is known.
  ops::MetLayouts met_by(const Case& spec) const;

 private:
  static bool meets_layouts(const Case& spec);
  using Key = std::pair<const PlannedNetwork*, DataType>;
  static Key key_of(const Case& spec) { return {spec.layer_of.get(), spec.key.dtype}; }

  std::map<Key, std::map<std::string, ops::MetLayouts>> by_node_;
};

}  // namespace bench
