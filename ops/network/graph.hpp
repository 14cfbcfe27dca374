// SPDX-License-Identifier: Apache-2.0
// The graph of a network definition: names resolved, layers in execution order.
#pragma once

#include "base/result.hpp"
#include "ops/catalogue.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace bench::ops {

// A layer in execution order; `inputs` are places in that order, or kNetworkInput.
struct GraphLayer {
  const LayerDefinition* definition = nullptr;  // of the given definition, which must outlive it
  const Operator* op = nullptr;
  std::vector<int> inputs;
};

// Each layer after those that it reads, otherwise in the order of the list. Errors, with `where`
// the layer: no layers, two layers of one name, unknown operator or input, a cycle (named), a layer
// that leads nowhere.
Result<std::vector<GraphLayer>> order_layers(const NetworkDefinition& definition,
                                             const Catalogue& catalogue);

// A topological order of `count` nodes, at each step the ready node of the smallest number. Shorter
// than `count` where there is a cycle: the nodes left out are those that wait for one.
std::vector<int> topological_order(std::size_t count,
                                   const std::function<std::vector<int>(int)>& predecessors);

}  // namespace bench::ops
