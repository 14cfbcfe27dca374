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

// name -> index in the list of layers, or an input of the network
using NameTable = std::map<std::string_view, int>;

Result<NameTable> make_name_table(const NetworkDefinition& definition) {
  if (definition.layers.empty()) {
    return Error{.what = "the network has no layers", .where = definition.name, .next = {}};
  }
  NameTable names;
  if (definition.inputs.empty()) names.emplace(kInputName, network_input_number(0));
  for (std::size_t i = 0; i < definition.inputs.size(); ++i) {
    const std::string& name = definition.inputs[i].name;
    if (names.emplace(name, network_input_number(i)).second) continue;
    return Error{.what = fmt::format("two inputs are called `{}`", name),
                 .where = name,
                 .next = "rename one of them"};
  }
  for (std::size_t i = 0; i < definition.layers.size(); ++i) {
    const std::string& name = definition.layers[i].name;
    const auto [entry, is_new] = names.emplace(name, static_cast<int>(i));
    if (is_new) continue;
    if (network_input_index(entry->second)) {
      return Error{
          .what = fmt::format("a layer cannot be called `{}`: that is the network's input", name),
          .where = name,
          .next = "rename the layer"};
    }
    return Error{.what = fmt::format("two layers are called `{}`", name),
                 .where = name,
                 .next = "rename one of them"};
  }
  return names;
}

std::string suggest_name(std::string_view written, const NameTable& names) {
  std::vector<std::string_view> candidates;
  for (const auto& entry : names) candidates.push_back(entry.first);
  const std::optional<std::string_view> nearest = nearest_name(written, candidates);
  return nearest ? fmt::format("did you mean `{}`?", *nearest)
                 : "expected the name of a layer, or `input`";
}

Error unknown_input(const LayerDefinition& layer, std::string_view input, const NameTable& names) {
  return {.what = fmt::format("`{}` reads `{}`, which is not a layer", layer.name, input),
          .where = layer.name + ".inputs",
          .next = suggest_name(input, names)};
}

// Returns the operator of a layer, nullptr for a view.
Result<const Operator*> find_layer_operator(const LayerDefinition& layer,
                                            const OperatorRegistry& registry) {
  if (layer.reshape) {
    if (layer.op.empty() && layer.inputs.size() == 1) return nullptr;
    return Error{.what = "a layer with `reshape` is a view of one input and has no operator",
                 .where = layer.name,
                 .next = "write the operator as a layer of its own"};
  }
  const Operator* op = registry.find(layer.op);
  if (op != nullptr) return op;
  return Error{.what = fmt::format("unknown operator `{}`", layer.op),
               .where = layer.name + ".op",
               .next = expected_word(layer.op, registry.operator_names())};
}

// Returns the layers in the order of the list.
Result<std::vector<GraphLayer>> resolve_layers(const NetworkDefinition& definition,
                                               const NameTable& names,
                                               const OperatorRegistry& registry) {
  std::vector<GraphLayer> layers;
  for (const LayerDefinition& layer : definition.layers) {
    GraphLayer resolved{.definition = &layer, .op = nullptr, .inputs = {}};
    BENCH_ASSIGN_OR_RETURN(resolved.op, find_layer_operator(layer, registry));
    for (const std::string& input : layer.inputs) {
      const auto entry = names.find(input);
      if (entry == names.end()) return unknown_input(layer, input, names);
      resolved.inputs.push_back(entry->second);
    }
    layers.push_back(std::move(resolved));
  }
  return layers;
}

// Returns the layers in the list whose results are the network's outputs.
Result<std::vector<int>> resolve_outputs(const NetworkDefinition& definition,
                                         const NameTable& names) {
  std::vector<std::string> outputs = definition.outputs;
  if (outputs.empty()) outputs.push_back(definition.layers.back().name);
  std::vector<int> layers;
  for (const std::string& name : outputs) {
    const auto entry = names.find(name);
    if (entry == names.end() || entry->second < 0) {
      return Error{.what = fmt::format("the output `{}` is not a layer", name),
                   .where = "outputs",
                   .next = suggest_name(name, names)};
    }
    if (definition.layers[static_cast<std::size_t>(entry->second)].reshape) {
      return Error{.what = fmt::format("the output `{}` is a view", name),
                   .where = name,
                   .next = "name the layer that it views: a view computes nothing"};
    }
    if (std::ranges::find(layers, entry->second) != layers.end()) {
      return Error{.what = fmt::format("the output `{}` is listed twice", name),
                   .where = "outputs",
                   .next = "list it once"};
    }
    layers.push_back(entry->second);
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
      return input >= 0 && !is_ordered[static_cast<std::size_t>(input)];
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

Status check_used(const NetworkDefinition& definition, const LayerGraph& graph) {
  std::vector<bool> is_used(graph.layers.size(), false);
  std::vector<bool> is_input_used(definition.inputs.size(), false);
  for (const int output : graph.outputs) is_used[static_cast<std::size_t>(output)] = true;
  for (const GraphLayer& layer : graph.layers) {
    for (const int input : layer.inputs) {
      const std::optional<std::size_t> network_input = network_input_index(input);
      if (!network_input) is_used[static_cast<std::size_t>(input)] = true;
      if (network_input && !is_input_used.empty()) is_input_used[*network_input] = true;
    }
  }
  const auto unused_input = std::ranges::find(is_input_used, false);
  if (unused_input != is_input_used.end()) {
    const auto index = static_cast<std::size_t>(unused_input - is_input_used.begin());
    return Error{
        .what = fmt::format("no layer reads the input `{}`", definition.inputs[index].name),
        .where = "inputs",
        .next = "leave the input out"};
  }
  const auto unused = std::ranges::find(is_used, false);
  if (unused == is_used.end()) return Done{};
  const std::string& name =
      graph.layers[static_cast<std::size_t>(unused - is_used.begin())].definition->name;
  return Error{.what = fmt::format("no layer reads `{}`", name),
               .where = name,
               .next = "only an output, by default the last layer of the list, may have no reader"};
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

Result<LayerGraph> order_layers(const NetworkDefinition& definition,
                                const OperatorRegistry& registry) {
  BENCH_ASSIGN_OR_RETURN(const NameTable names, make_name_table(definition));
  BENCH_ASSIGN_OR_RETURN(std::vector<GraphLayer> layers,
                         resolve_layers(definition, names, registry));
  BENCH_ASSIGN_OR_RETURN(std::vector<int> outputs, resolve_outputs(definition, names));
  const std::vector<int> order = topological_order(
      layers.size(), [&](int layer) { return layers[static_cast<std::size_t>(layer)].inputs; });
  if (order.size() < layers.size()) {
    std::vector<bool> is_ordered(layers.size(), false);
    for (const int index : order) is_ordered[static_cast<std::size_t>(index)] = true;
    return cycle_error(layers, is_ordered);
  }
  std::vector<int> new_indexes(layers.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    new_indexes[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  LayerGraph sorted;
  for (const int index : order) {
    GraphLayer& layer = layers[static_cast<std::size_t>(index)];
    for (int& input : layer.inputs) {
      if (input >= 0) input = new_indexes[static_cast<std::size_t>(input)];
    }
    sorted.layers.push_back(std::move(layer));
  }
  for (const int output : outputs) {
    sorted.outputs.push_back(new_indexes[static_cast<std::size_t>(output)]);
  }
  BENCH_RETURN_IF_ERROR(check_used(definition, sorted));
  return sorted;
}

}  // namespace bench::ops
