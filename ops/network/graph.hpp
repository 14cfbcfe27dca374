// SPDX-License-Identifier: Apache-2.0
// The graph of a network definition: names resolved, layers in execution order.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/operator_registry.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace bench::ops {

// Numbers of what a layer reads: a layer from 0 on, or an input of the network: -1, -2, ...
constexpr int network_input_number(std::size_t input) { return -1 - static_cast<int>(input); }
// Returns the network's input that a number stands for, nullopt for a layer.
constexpr std::optional<std::size_t> network_input_index(int number) {
  if (number >= 0) return std::nullopt;
  return static_cast<std::size_t>(-1 - number);
}

// A layer in execution order. `inputs` are indexes in that order, or inputs of the network
// (network_input_number()).
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
