// SPDX-License-Identifier: Apache-2.0
// The graph of a network definition: names resolved, layers in execution order.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/operator_registry.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace bench::ops {

// A layer in execution order. `inputs` are indexes in that order, or inputs of the network
// (network_input_source()).
struct GraphLayer {
  // Points into the network definition, which must outlive it.
  const LayerDefinition* definition = nullptr;
  const Operator* op = nullptr;  // null for a view
  std::vector<int> inputs;
};

struct LayerGraph {
  std::vector<GraphLayer> layers;
  std::vector<int> outputs;  // indexes of layers
};

// Sorts the layers so that each comes after the layers that it reads; otherwise keeps their order.
// Errors, with the layer as `where`: no layers, a duplicate name, an unknown operator, input or
// output, a view of several inputs or as an output, a cycle (the message names it), a layer or an
// input that is never used.
Result<LayerGraph> order_layers(const NetworkDefinition& definition,
                                const OperatorRegistry& registry);

// Returns a topological order of `count` nodes; of several ready nodes the lowest number comes
// first. If there is a cycle, the result is shorter: it omits the cycle's nodes and those that
// depend on them.
std::vector<int> topological_order(std::size_t count,
                                   const std::function<std::vector<int>(int)>& predecessors);

}  // namespace bench::ops
