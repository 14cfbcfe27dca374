// SPDX-License-Identifier: Apache-2.0
// Values of a network's parameters: random, and folded for the fused network.
#include "ops/fill.hpp"
#include "ops/network/network.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

using Values = std::vector<double>;

// The parameters of single layers, by layer and tensor name.
class LayerParameters {
 public:
  LayerParameters(const Network& separate, const std::vector<Values>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [node, tensor] = separate.parameter_places[i];
      const Node& owner = separate.nodes[static_cast<std::size_t>(node)];
      const Tensor& description = owner.problem.tensors[static_cast<std::size_t>(tensor)];
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

// Rewrites scale*(W x + b - mean)/sqrt(variance + epsilon) + shift as W' x + b'.
void fold_batch_norm(const LayerParameters& layers, std::string_view layer, Folded& folded) {
  const double epsilon = layers.problem(layer).parameters.real("epsilon");
  const Values& mean = layers.at(layer, "mean");
  const Values& variance = layers.at(layer, "variance");
  const Values& scale = layers.at(layer, "scale");
  const Values& shift = layers.at(layer, "shift");
  const std::size_t channels = scale.size();
  const std::size_t each = folded.weights.size() / channels;
  for (std::size_t k = 0; k < channels; ++k) {
    const double factor = scale[k] / std::sqrt(variance[k] + epsilon);
    for (std::size_t i = k * each; i < (k + 1) * each; ++i) folded.weights[i] *= factor;
    folded.bias[k] = (folded.bias[k] - mean[k]) * factor + shift[k];
  }
}

// For a node that batch norms may have joined.
Folded fold_node(const LayerParameters& layers, const Node& node, std::size_t channels) {
  Folded folded{.weights = layers.at(node.name, "weights"), .bias = Values(channels, 0.0)};
  if (const Values* bias = layers.find(node.name, "bias")) folded.bias = *bias;
  for (const std::string& joined : node.fused) {
    if (layers.problem(joined).op->name == "batch_norm") fold_batch_norm(layers, joined, folded);
  }
  return folded;
}

Values rounded(DataType dtype, Values values) {
  for (double& value : values) value = round_to(dtype, value);
  return values;
}

}  // namespace

std::vector<Values> random_parameters(const Network& network, std::uint64_t seed) {
  // An odd multiplier makes the seeds of different nodes differ for every seed.
  constexpr std::uint64_t kNodeStride = 0x9e3779b97f4a7c15u;
  std::vector<Values> values;
  for (const auto& [node, tensor] : network.parameter_places) {
    const std::uint64_t node_seed = seed + kNodeStride * (static_cast<std::uint64_t>(node) + 1);
    values.push_back(random_values(network.nodes[static_cast<std::size_t>(node)].problem,
                                   static_cast<std::size_t>(tensor), node_seed));
  }
  return values;
}

std::vector<Values> fold_parameters(const Network& separate, const std::vector<Values>& values,
                                    const Network& fused) {
  assert(values.size() == separate.parameter_places.size());
  const LayerParameters layers(separate, values);
  std::vector<Values> result;
  for (const auto& [node_index, tensor_index] : fused.parameter_places) {
    const Node& node = fused.nodes[static_cast<std::size_t>(node_index)];
    const Tensor& tensor = node.problem.tensors[static_cast<std::size_t>(tensor_index)];
    const Values* same = layers.find(node.name, tensor.name);
    const bool folds = std::ranges::any_of(node.fused, [&](const std::string& joined) {
      return layers.problem(joined).op->name == "batch_norm";
    });
    if (!folds) {
      result.push_back(*same);
      continue;
    }
    const auto channels =
        static_cast<std::size_t>(node.problem.tensors[node.problem.input_count()].dims[1]);
    Folded folded = fold_node(layers, node, channels);
    result.push_back(rounded(
        tensor.dtype, tensor.name == "bias" ? std::move(folded.bias) : std::move(folded.weights)));
  }
  return result;
}

}  // namespace bench::ops
