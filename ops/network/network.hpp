// SPDX-License-Identifier: Apache-2.0
// Networks: graphs of operators with named inputs. A definition is data (YAML). make_network sets
// batch and data type, infers shapes, and folds and fuses layers.
#pragma once

#include "base/result.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A layer as written. It omits sizes that follow from its inputs (n, c, h, w, shape, a, b, m, k of
// gemm).
struct LayerDefinition {
  std::string name;
  std::string op;               // an operator's name; empty for a view
  ParameterSet parameters{{}};  // as written
  // Names of layers, or "input". If none is written, the loader fills in the previous layer.
  std::vector<std::string> inputs;
  // Set for a view: the sizes in which other layers see its input. The first one is multiplied by
  // the batch. A view moves nothing, so it becomes no node.
  std::optional<Dims> reshape = std::nullopt;
};

// One of several inputs of a network. The first of its sizes is multiplied by the batch.
struct InputDefinition {
  std::string name;
  Dims sizes;
};

struct NetworkDefinition {
  std::string name;  // "resnet50_v1_5"
  // Sizes without batch of the only input, which is called "input": {3, 224, 224}. Empty if
  // `inputs` lists the inputs.
  Dims input;
  // In any order without cycles.
  std::vector<LayerDefinition> layers;
  std::vector<InputDefinition> inputs = {};
  // The layers whose results are the network's outputs. Empty: the last layer in the list.
  std::vector<std::string> outputs = {};
};

enum class Mode { inference, training };
enum class Fusion { fused, separate };  // YAML `fuse: true`, `fuse: false`

// A node of the executable graph: one problem and the sources of its inputs.
struct Node {
  std::string name;  // Name of its layer. A fused node has the name of its convolution or gemm.
  std::vector<std::string> fused;  // names of the layers folded or fused into it
  Problem problem;
  // For each tensor of the problem that is not an output, in order: the producing node, an input of
  // the network, or kParameter (the node's own weights).
  std::vector<int> sources;
};
inline constexpr int kNetworkInput = -1;  // the network's first input
inline constexpr int kParameter = -2;
// Returns the source that stands for an input of the network: -1, -3, -4, ...
constexpr int network_input_source(std::size_t input) {
  return input == 0 ? kNetworkInput : kParameter - static_cast<int>(input);
}
// Returns the network's input that a source stands for, nullopt for a node or a parameter.
constexpr std::optional<std::size_t> network_input_index(int source) {
  if (source >= 0 || source == kParameter) return std::nullopt;
  return source == kNetworkInput ? 0 : static_cast<std::size_t>(kParameter - source);
}

struct Network {
  std::string name;
  std::int64_t batch = 1;
  DataType dtype = DataType::f32;
  Mode mode = Mode::inference;
  Fusion fusion = Fusion::fused;
  // nhwc: the input's images are given with channels innermost. Otherwise the input is plain.
  Layout input_layout = Layout::any;
  std::vector<Node> nodes;   // in execution order
  std::vector<int> outputs;  // the nodes that produce the network's outputs

  // The network's own tensors: its inputs, then each node's parameters (role weights) in order,
  // then its outputs.
  std::vector<Tensor> tensors;
  // The node and tensor that each network tensor with role weights belongs to.
  struct ParameterPlace {
    int node;
    int tensor;
  };
  std::vector<ParameterPlace> parameter_places;  // for the tensors between inputs and outputs
  // FLOPs: sum over nodes. Bytes: inputs + parameters + outputs (intermediate results are not
  // compulsory).
  Work work;
  std::int64_t parameters = 0;  // learned values before folding (batch norm has 2 per channel)
  Bytes weights_size() const;   // total of all tensors with role weights
  std::size_t input_count() const {
    return tensors.size() - parameter_places.size() - outputs.size();
  }
};

// Errors: unknown name of an input or output, cycle, shape mismatch, and the errors of the
// operators' own checks. `where` is "LAYER" or "LAYER.PARAMETER". `registry` must outlive the
// network.
Result<Network> make_network(const NetworkDefinition& definition, std::int64_t batch,
                             DataType dtype, Mode mode, Fusion fusion,
                             const OperatorRegistry& registry = built_in_operators());

// Returns why this program's backends cannot run the whole network as one case, or nullopt if they
// can. `backend` is the human-readable name, "oneDNN".
std::optional<std::string> whole_network_unsupported_reason(const Network& network,
                                                            std::string_view backend);

// The distinct problems of a network, in order of first use, with the names of their layers.
struct DistinctLayer {
  Problem problem;
  std::vector<std::string> layers;  // multiplicity = size
  // Those of `layers` whose data gradient a training step computes, because a layer before them has
  // learned parameters. A network's first layer has no data gradient.
  std::vector<std::string> data_gradient_layers = {};
  bool learns = false;  // it has parameters whose gradients a training step computes
};
std::vector<DistinctLayer> distinct_layers(const Network& network);

// random_parameters() returns random values for the parameters of a network without fusion.
// fold_parameters() folds them for the fused network. result[i] belongs to parameter_places[i] of
// the network. `separate` and `fused` must come from the same definition, batch and data type.
std::vector<std::vector<double>> random_parameters(const Network& network, std::uint64_t seed);
std::vector<std::vector<double>> fold_parameters(const Network& separate,
                                                 const std::vector<std::vector<double>>& values,
                                                 const Network& fused);

}  // namespace bench::ops
