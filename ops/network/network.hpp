// SPDX-License-Identifier: Apache-2.0
// Networks: graphs of operators with named inputs. A definition is data (YAML). make_network sets
// batch and data type, infers shapes, and folds and fuses layers.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  // How a training step ends: the parameters of the operators `loss` and `optimizer` that do not
  // follow from the network. An operator that is missing has its default function. The only input
  // of the loss is one of the network's outputs; it has none if the network has one output.
  std::vector<LayerDefinition> training = {};
};

BENCH_ENUM(Mode, inference, training);
enum class Fusion { fused, separate };  // YAML `fuse: true`, `fuse: false`

// Where a node's tensor, or an output of the network, comes from.
struct Source {
  // unknown: a gradient that no operator computes. Only training networks with Network::gap have
  // it.
  enum class Kind { node, input, parameter, unknown };
  Kind kind = Kind::node;
  // Number of the node, of the network's input, or of the parameter (in the order of
  // Network::parameter_places).
  std::size_t index = 0;
  std::size_t output = 0;  // output of the node
  friend bool operator==(const Source&, const Source&) = default;
};
constexpr Source from_node(std::size_t node, std::size_t output = 0) {
  return {Source::Kind::node, node, output};
}
constexpr Source from_input(std::size_t input) { return {Source::Kind::input, input, 0}; }
constexpr Source from_parameter(std::size_t parameter) {
  return {Source::Kind::parameter, parameter, 0};
}

// Returns the number of a source in texts that identify a network: the node; -1, -3, -4, ... for
// the inputs; -2 for a parameter. All outputs of a node, and all parameters, have the same code.
int source_code(const Source& source);

// What a node is part of. backward_data: gradients of activations, and their sums.
// backward_weights: gradients of parameters; for a norm, also that of its source, which libraries
// compute in the same pass. Inference is forward only.
enum class Pass { forward, loss, backward_data, backward_weights, optimizer };
std::span<const std::string_view> pass_names();  // in the order of the enumerators

// A node of the executable graph: one problem and the sources of its inputs.
struct Node {
  // The name of its layer, with the suffix ".backward_data" or the like behind the forward pass. A
  // fused node has the name of its convolution or gemm.
  std::string name;
  std::string layer;  // the layer that it belongs to
  Pass pass = Pass::forward;
  std::vector<std::string> fused = {};  // names of the layers folded or fused into it
  Problem problem;
  // For each tensor of the problem that is not an output, in order.
  std::vector<Source> sources;
  // Forward: the gradients that a training step needs and no operator computes.
  std::vector<Direction> without_gradient = {};
};

struct Network {
  std::string name;
  std::int64_t batch = 1;
  DataType dtype = DataType::f32;
  Mode mode = Mode::inference;
  Fusion fusion = Fusion::fused;
  // nhwc: the input's images are given with channels innermost. Otherwise the input is plain.
  Layout input_layout = Layout::any;
  std::vector<Node> nodes;      // in execution order
  std::vector<Source> outputs;  // results of nodes

  // The network's own tensors: its inputs, then the nodes' parameters (role weights) in order, then
  // its outputs.
  std::vector<Tensor> tensors;
  // The node and tensor that each network tensor with role weights belongs to: the first one that
  // reads it.
  struct ParameterPlace {
    std::size_t node;
    std::size_t tensor;
  };
  std::vector<ParameterPlace> parameter_places;  // for the tensors between inputs and outputs
  // FLOPs: sum over nodes. Bytes: inputs + parameters + outputs (intermediate results are not
  // compulsory).
  Work work;
  // Why no backend can run the whole network as one case. Only of training: there is no loss of its
  // output, or a gradient is missing.
  std::optional<std::string> gap = std::nullopt;
  std::int64_t parameters = 0;  // learned values before folding (batch norm has 2 per channel)
  Bytes weights_size() const;   // total of all tensors with role weights
  std::size_t input_count() const {
    return tensors.size() - parameter_places.size() - outputs.size();
  }
};

// Returns whether a tensor of a layer is a learned parameter: weights but no statistics and angles.
bool is_learned(const Tensor& tensor);

// Whether an operator works on images: its sizes are channels and spatial ones. The others follow
// the layout of their input.
bool takes_images(const Operator& op);

// Returns for each parameter whether several tensors of nodes read it. Then no kernel has it in a
// layout of its own.
std::vector<bool> find_shared_parameters(const Network& network);

// Returns the same network with operators on images in plain layouts, which other kernels compute.
// nullopt: it has no such operators.
std::optional<Network> in_plain_layout(Network network);

// The places that read an input of the network, in order.
struct InputReader {
  std::size_t node;
  std::size_t tensor;
};
std::vector<InputReader> readers_of_input(const Network& network, std::size_t input);
// Whether the elements of an input of the network are positions in another tensor (ops/tensor.hpp).
bool holds_indices(const Network& network, std::size_t input);

// A network in training is one step: the forward pass, the loss of one output, the gradients of the
// learned parameters that the loss depends on, and the optimizer. It has two more inputs,
// `loss.labels` and `loss.gradient` (the weight of each row's loss), and its outputs are the loss
// of each row and the new parameters, with the optimizer's state. Parameters are not updated in
// place, so that all iterations compute the same.
//
// Errors: unknown name of an input or output, cycle, shape mismatch, and the errors of the
// operators' own checks. `where` is "LAYER" or "LAYER.PARAMETER". `registry` must outlive the
// network.
Result<Network> make_network(const NetworkDefinition& definition, std::int64_t batch,
                             DataType dtype, Mode mode, Fusion fusion,
                             const OperatorRegistry& registry = built_in_operators());

// The distinct problems of a network, in order of first use, with the names of their layers.
struct DistinctLayer {
  Problem problem;
  Pass pass = Pass::forward;
  std::vector<std::string> layers;               // multiplicity = size
  std::vector<Direction> without_gradient = {};  // as in Node
};
std::vector<DistinctLayer> distinct_layers(const Network& network);

// Returns random values for an input of the network, in the format that the first layer reading it
// requires; zeros if no layer reads it.
std::vector<double> random_input(const Network& network, std::size_t input, std::uint64_t seed);

// random_parameters() returns random values for the parameters of a network without fusion.
// fold_parameters() folds them for the fused network. result[i] belongs to parameter_places[i] of
// the network. `separate` and `fused` must come from the same definition, batch and data type.
std::vector<std::vector<double>> random_parameters(const Network& network, std::uint64_t seed);
std::vector<std::vector<double>> fold_parameters(const Network& separate,
                                                 const std::vector<std::vector<double>>& values,
                                                 const Network& fused);

}  // namespace bench::ops
