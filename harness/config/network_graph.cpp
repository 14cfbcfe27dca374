// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_graph.hpp"

#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "ops/network/graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kOnlyInput = "input";

// Resolves names of inputs and outputs, and reports unknown ones: once per place in the file, since
// the layers of a block are repeated.
class NameResolver {
 public:
  NameResolver(const Reader& reader, const WrittenGraph& graph) : reader_(reader), graph_(graph) {
    const ops::NetworkDefinition& definition = graph.definition;
    for (std::size_t i = 0; i < definition.layers.size(); ++i) {
      add(definition.layers[i].name, static_cast<int>(i));
    }
    for (const ops::InputDefinition& input : definition.inputs) add(input.name, -1);
    if (definition.inputs.empty()) add(kOnlyInput, -1);
  }

  // Returns the layer index of each input, per layer. -1 is an input of the network or an unknown
  // name.
  std::vector<std::vector<int>> resolve() {
    const auto& layers = graph_.definition.layers;
    std::vector<std::vector<int>> edges(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (std::size_t k = 0; k < layers[i].inputs.size(); ++k) {
        edges[i].push_back(find(layers[i].inputs[k], graph_.input_locations[i][k],
                                fmt::format("layer {} has an unknown input {}",
                                            quote(layers[i].name), quote(layers[i].inputs[k]))));
      }
    }
    const auto& outputs = graph_.definition.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      find(outputs[i], graph_.output_locations[i],
           fmt::format("unknown output {}", quote(outputs[i])));
    }
    return edges;
  }

 private:
  void add(std::string_view name, int layer) {
    indices_.emplace(name, layer);
    names_.push_back(name);
  }

  int find(const std::string& name, yaml::SourceLocation location, std::string what) {
    const auto index = indices_.find(name);
    if (index != indices_.end()) return index->second;
    if (!reported_.emplace(location.line, location.column).second) return -1;
    const auto nearest = nearest_name(name, names_);
    reader_.report_error(location, std::move(what),
                         nearest ? fmt::format("did you mean `{}`?", *nearest)
                                 : "expected a layer's name or `input`");
    return -1;
  }

  const Reader& reader_;
  const WrittenGraph& graph_;
  std::map<std::string_view, int> indices_;
  std::vector<std::string_view> names_;
  std::set<std::pair<int, int>> reported_;
};

// Reports a cycle if the layers have no order in which each comes after those that it reads.
void check_cycles(const Reader& reader, const WrittenGraph& graph,
                  const std::vector<std::vector<int>>& edges) {
  const auto& layers = graph.definition.layers;
  const std::vector<int> order = ops::topological_order(
      layers.size(), [&](int layer) { return edges[static_cast<std::size_t>(layer)]; });
  if (order.size() == layers.size()) return;
  std::vector<bool> is_ordered(layers.size(), false);
  for (const int layer : order) is_ordered[static_cast<std::size_t>(layer)] = true;
  // Every other layer reads one that is not ordered either. A path along such inputs reaches a
  // layer twice: from there on, it is a cycle.
  const auto first = std::ranges::find(is_ordered, false);
  std::vector<std::size_t> path = {static_cast<std::size_t>(first - is_ordered.begin())};
  std::vector<bool> seen(layers.size());
  while (!seen[path.back()]) {
    seen[path.back()] = true;
    for (const int source : edges[path.back()]) {
      if (source < 0 || is_ordered[static_cast<std::size_t>(source)]) continue;
      path.push_back(static_cast<std::size_t>(source));
      break;
    }
  }
  const auto begin = std::find(path.begin(), path.end(), path.back());
  std::vector<std::string_view> names;
  for (auto step = begin; step != path.end(); ++step) names.push_back(layers[*step].name);
  constexpr std::size_t kMaxShown = 8;
  const bool is_shortened = names.size() > kMaxShown;
  if (is_shortened) names.resize(kMaxShown);
  reader.report_error(
      graph.input_locations[*begin].front(),
      fmt::format("the inputs of layer {} lead back to it: {}{}", quote(names.front()),
                  fmt::join(names, " <- "), is_shortened ? " <- ..." : ""),
      "a network must not have a cycle");
}

}  // namespace

void check_graph(const Reader& reader, const WrittenGraph& graph) {
  check_cycles(reader, graph, NameResolver(reader, graph).resolve());
}

}  // namespace bench
