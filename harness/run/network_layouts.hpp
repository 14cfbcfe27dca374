// SPDX-License-Identifier: Apache-2.0
// Stores the layouts that layer inputs have inside their networks, so that a layer is measured with
// the same layouts.
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
  // Returns whether there is no need to call ask() for this case. True after the network's layouts
  // were stored, and for a case that is not a layer. Also true for other devices than the CPU, to
  // which these layouts do not apply.
  bool is_settled(const Case& spec) const;
  // Asks the session's worker for the steps of the layer's network. If the worker does not answer,
  // or the network cannot run as a whole, its layers use the layouts that their own kernels choose.
  void ask(WorkerSession& session, const Case& layer);
  // Stores the layouts of the network that contains `layer`. `steps`: steps of this network; empty
  // if it cannot run as a whole.
  void learn(const Case& layer, const std::vector<ops::KernelStep>& steps);
  // Returns the layouts of the layer's inputs. Empty if they are unknown or the case is not a
  // layer.
  ops::InputLayouts input_layouts(const Case& spec) const;

 private:
  static bool needs_layouts(const Case& spec);
  using Key = std::pair<const PlannedNetwork*, DataType>;
  static Key make_key(const Case& spec) { return {spec.layer_of.get(), spec.key.dtype}; }

  std::map<Key, std::map<std::string, ops::InputLayouts>> by_node_;
};

}  // namespace bench
