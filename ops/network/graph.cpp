// SPDX-License-Identifier: Apache-2.0
#include "ops/network/graph.hpp"

#include "base/nearest_name.hpp"
#include "ops/foreign_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

constexpr std::string_view kInputName = "input";

using NameTable = std::map<std::string_view, int>;  // layer name -> index in the list

Result<NameTable> make_name_table(const NetworkDefinition& definition) {
  if (definition.layers.empty()) {
    return Error{.what = "the network has no layers", .where = definition.name, .next = {}};
  }
  NameTable names;
  for (std::size_t i = 0; i < definition.layers.size(); ++i) {
    const std::string& name = definition.layers[i].name;
    if (name == kInputName) {
      return Error{.what = "a layer cannot be called `input`: that is the network's input",
                   .where = name,
                   .next = "rename the layer"};
    }
    if (!names.emplace(name, static_cast<int>(i)).second) {
      return Error{.what = fmt::format("two layers are called `{}`", name),
                   .where = name,
                   .next = "rename one of them"};
    }
  }
  return names;
}

Error unknown_input(const LayerDefinition& layer, std::string_view input, const NameTable& names) {
  std::vector<std::string_view> candidates = {kInputName};
  for (const auto& entry : names) candidates.push_back(entry.first);
  const std::optional<std::string_view> nearest = nearest_name(input, candidates);
  return {.what = fmt::format("`{}` reads `{}`, which is not a layer", layer.name, input),
          .where = layer.name + ".inputs",
          .next = nearest ? fmt::format("did you mean `{}`?", *nearest)
                          : "expected the name of a layer, or `input`"};
}

// Returns the layers in the order of the list.
Result<std::vector<GraphLayer>> resolve_layers(const NetworkDefinition& definition,
                                               const NameTable& names,
                                               const OperatorRegistry& registry) {
  std::vector<GraphLayer> layers;
  for (const LayerDefinition& layer : definition.layers) {
    const Operator* op = registry.find(layer.op);
    if (op == nullptr) {
      return Error{.what = fmt::format("unknown operator `{}`", layer.op),
                   .where = layer.name + ".op",
                   .next = expected_word(layer.op, registry.operator_names())};
    }
    GraphLayer resolved{.definition = &layer, .op = op, .inputs = {}};
    for (const std::string& input : layer.inputs) {
      const auto entry = names.find(input);
      if (input != kInputName && entry == names.end()) return unknown_input(layer, input, names);
      resolved.inputs.push_back(input == kInputName ? kNetworkInput : entry->second);
    }
    layers.push_back(std::move(resolved));
  }
  return layers;
}

// Returns the error that names a cycle. Follows the inputs from one unordered layer until a layer
// repeats.
Error cycle_error(const std::vector<GraphLayer>& layers, const std::vector<bool>& is_ordered) {
  int current = static_cast<int>(std::ranges::find(is_ordered, false) - is_ordered.begin());
  std::vector<int> path;
  while (std::ranges::find(path, current) == path.end()) {
    path.push_back(current);
    const std::vector<int>& inputs = layers[static_cast<std::size_t>(current)].inputs;
    current = *std::ranges::find_if(inputs, [&](int input) {
      return input != kNetworkInput && !is_ordered[static_cast<std::size_t>(input)];
    });
  }
  path.erase(path.begin(), std::ranges::find(path, current));
  path.push_back(current);
  std::ranges::reverse(path);  // in the direction of the data
  std::vector<std::string_view> names;
  for (const int index : path) {
    names.emplace_back(layers[static_cast<std::size_t>(index)].definition->name);
  }
  return {.what = fmt::format("the layers form a cycle: {}", fmt::join(names, " -> ")),
          .where = std::string(names.front()),
          .next = "a layer may read only layers that do not depend on it"};
}

Status check_used(const std::vector<GraphLayer>& layers) {
  std::vector<bool> is_used(layers.size(), false);
  is_used.back() = true;  // the network's output
  for (const GraphLayer& layer : layers) {
    for (const int input : layer.inputs) {
      if (input != kNetworkInput) is_used[static_cast<std::size_t>(input)] = true;
    }
  }
  const auto unused = std::ranges::find(is_used, false);
  if (unused == is_used.end()) return Done{};
  const std::string& name =
      layers[static_cast<std::size_t>(unused - is_used.begin())].definition->name;
  return Error{.what = fmt::format("no layer reads `{}`", name),
               .where = name,
               .next = "only the last layer of the list, the output, may have no reader"};
}

// Returns the consumers of each node.
std::vector<std::vector<int>> find_successors(std::size_t count,
                                              const std::vector<std::vector<int>>& predecessors) {
  std::vector<std::vector<int>> successors(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const int predecessor : predecessors[i]) {
      successors[static_cast<std::size_t>(predecessor)].push_back(static_cast<int>(i));
    }
  }
  return successors;
}

}  // namespace

std::vector<int> topological_order(std::size_t count,
                                   const std::function<std::vector<int>(int)>& predecessors) {
  std::vector<std::vector<int>> predecessor_lists(count);
  std::vector<std::size_t> pending_counts(count);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    predecessor_lists[i] = predecessors(static_cast<int>(i));
    std::erase_if(predecessor_lists[i], [](int index) { return index < 0; });
    pending_counts[i] = predecessor_lists[i].size();
    if (pending_counts[i] == 0) ready.push(static_cast<int>(i));
  }
  const std::vector<std::vector<int>> successors = find_successors(count, predecessor_lists);
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int next : successors[static_cast<std::size_t>(order.back())]) {
      if (--pending_counts[static_cast<std::size_t>(next)] == 0) ready.push(next);
    }
  }
  return order;
}

Result<std::vector<GraphLayer>> order_layers(const NetworkDefinition& definition,
                                             const OperatorRegistry& registry) {
  BENCH_ASSIGN_OR_RETURN(const NameTable names, make_name_table(definition));
  BENCH_ASSIGN_OR_RETURN(std::vector<GraphLayer> layers,
                         resolve_layers(definition, names, registry));
  const std::vector<int> order = topological_order(
      layers.size(), [&](int layer) { return layers[static_cast<std::size_t>(layer)].inputs; });
  if (order.size() < layers.size()) {
    std::vector<bool> is_ordered(layers.size(), false);
    for (const int index : order) is_ordered[static_cast<std::size_t>(index)] = true;
    return cycle_error(layers, is_ordered);
  }
  BENCH_RETURN_IF_ERROR(check_used(layers));
  std::vector<int> new_indexes(layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    new_indexes[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  std::vector<GraphLayer> sorted;
  for (const int index : order) {
    GraphLayer& layer = layers[static_cast<std::size_t>(index)];
    for (int& input : layer.inputs) {
      if (input != kNetworkInput) input = new_indexes[static_cast<std::size_t>(input)];
    }
    sorted.push_back(std::move(layer));
  }
  return sorted;
}

}  // namespace bench::ops
