// SPDX-License-Identifier: Apache-2.0
// Values of a network's parameters: random, and folded for the fused network.
#include "ops/fill.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using Values = std::vector<double>;

// The parameters of single layers, by layer and tensor name.
class LayerParameters {
 public:
  LayerParameters(const Network& separate, const std::vector<Values>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [node, tensor] = separate.parameter_places[i];
      const Node& owner = separate.nodes[node];
      const Tensor& description = owner.problem.tensors[tensor];
      values_[{owner.name, description.name}] = &values[i];
    }
    for (const Node& node : separate.nodes) problems_[node.name] = &node.problem;
  }

  // Returns nullptr if the layer has no such tensor.
  const Values* find(std::string_view layer, std::string_view tensor) const {
    const auto entry = values_.find({layer, tensor});
    return entry == values_.end() ? nullptr : entry->second;
  }
  const Values& at(std::string_view layer, std::string_view tensor) const {
    return *values_.at({layer, tensor});
  }
  const Problem& problem(std::string_view layer) const { return *problems_.at(layer); }

 private:
  std::map<std::pair<std::string_view, std::string_view>, const Values*> values_;
  std::map<std::string_view, const Problem*> problems_;
};

// A convolution's weights (output channels outermost) and bias.
struct Folded {
  Values weights;
  Values bias;
};

// Rewrites (W x + b - centre)*factor + shift as W' x + b'.
void fold_affine(const std::vector<ChannelAffine>& channels, Folded& folded) {
  const std::size_t channel_size = folded.weights.size() / channels.size();
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const auto& [centre, factor, shift] = channels[k];
    for (std::size_t i = k * channel_size; i < (k + 1) * channel_size; ++i) {
      folded.weights[i] *= factor;
    }
    folded.bias[k] = (folded.bias[k] - centre) * factor + shift;
  }
}

bool is_folded(const Problem& joined) {
  if (joined.op->joining.join == nullptr) return false;
  const std::optional<Join> join = joined.op->joining.join(joined);
  return join && join->kind == Join::Kind::into_weights;
}

// Folds the layers that joined a node into its weights and bias.
Folded fold_node(const LayerParameters& layers, const Node& node, std::size_t channels) {
  Folded folded{.weights = layers.at(node.name, "weights"), .bias = Values(channels, 0.0)};
  if (const Values* bias = layers.find(node.name, "bias")) folded.bias = *bias;
  for (const std::string& name : node.fused) {
    const Problem& joined = layers.problem(name);
    if (!is_folded(joined)) continue;
    std::vector<Values> values;
    for (const Tensor& tensor : joined.tensors) {
      const Values* parameter = layers.find(name, tensor.name);
      values.push_back(parameter == nullptr ? Values() : *parameter);
    }
    fold_affine(joined.op->joining.affine(joined, values), folded);
  }
  return folded;
}

Values rounded(DataType dtype, Values values) {
  round_all_to(dtype, values);
  return values;
}

}  // namespace

std::vector<double> random_input(const Network& network, std::size_t input, std::uint64_t seed) {
  const std::vector<InputReader> readers = readers_of_input(network, input);
  if (readers.empty()) {
    return Values(static_cast<std::size_t>(network.tensors[input].elements()), 0.0);
  }
  return random_values(network.nodes[readers.front().node].problem, readers.front().tensor, seed);
}

std::vector<Values> random_parameters(const Network& network, std::uint64_t seed) {
  // An odd multiplier makes the seeds of different nodes differ for every seed.
  constexpr std::uint64_t kNodeStride = 0x9e3779b97f4a7c15u;
  std::vector<Values> values;
  for (const auto& [node, tensor] : network.parameter_places) {
    const std::uint64_t node_seed = seed + kNodeStride * (node + 1);
    values.push_back(random_values(network.nodes[node].problem, tensor, node_seed));
  }
  return values;
}

std::vector<Values> fold_parameters(const Network& separate, const std::vector<Values>& values,
                                    const Network& fused) {
  assert(values.size() == separate.parameter_places.size());
  const LayerParameters layers(separate, values);
  std::vector<Values> result;
  for (const auto& [node_index, tensor_index] : fused.parameter_places) {
    const Node& node = fused.nodes[node_index];
    const Tensor& tensor = node.problem.tensors[tensor_index];
    const Values* unfolded = layers.find(node.name, tensor.name);
    const bool has_folded_layer = std::ranges::any_of(
        node.fused, [&](const std::string& joined) { return is_folded(layers.problem(joined)); });
    if (!has_folded_layer) {
      result.push_back(*unfolded);
      continue;
    }
    const auto channels = static_cast<std::size_t>(node.problem.output().dims[1]);
    Folded folded = fold_node(layers, node, channels);
    result.push_back(
        rounded(representable_type(node.problem, tensor),
                tensor.name == "bias" ? std::move(folded.bias) : std::move(folded.weights)));
  }
  return result;
}

}  // namespace bench::ops
