// SPDX-License-Identifier: Apache-2.0
// Networks: graphs of operators with named inputs. A definition is data (YAML). make_network sets
// batch and data type, infers shapes, and folds and fuses layers.
#pragma once

#include "base/result.hpp"
#include "ops/operator_registry.hpp"
#include "ops/problem.hpp"

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
  std::string op;               // an operator's name
  ParameterSet parameters{{}};  // as written
  // Names of layers, or "input". If none is written, the loader fills in the previous layer.
  std::vector<std::string> inputs;
};

struct NetworkDefinition {
  std::string name;  // "resnet50_v1_5"
  Dims input;        // without batch: {3, 224, 224}
  // In any order without cycles. The last layer in the list is the output.
  std::vector<LayerDefinition> layers;
};

enum class Mode { inference, training };
enum class Fusion { fused, separate };  // YAML `fuse: true`, `fuse: false`

// A node of the executable graph: one problem and the sources of its inputs.
struct Node {
  std::string name;  // Name of its layer. A fused node has the name of its convolution or gemm.
  std::vector<std::string> fused;  // names of the layers folded or fused into it
  Problem problem;
  // For each tensor of the problem that is not an output, in order: the producing node,
  // kNetworkInput, or kParameter (the node's own weights).
  std::vector<int> sources;
};
inline constexpr int kNetworkInput = -1;
inline constexpr int kParameter = -2;

struct Network {
  std::string name;
  std::int64_t batch = 1;
  DataType dtype = DataType::f32;
  Mode mode = Mode::inference;
  Fusion fusion = Fusion::fused;
  // nhwc: the input's images are given with channels innermost. Otherwise the input is plain.
  Layout input_layout = Layout::any;
  std::vector<Node> nodes;  // in execution order; the last one produces the output

  // The network's own tensors: its input, then each node's parameters (role weights) in order, then
  // its output.
  std::vector<Tensor> tensors;
  // The node and tensor that each network tensor with role weights belongs to.
  struct ParameterPlace {
    int node;
    int tensor;
  };
  std::vector<ParameterPlace> parameter_places;  // for tensors[1 .. size-2]
  // FLOPs: sum over nodes. Bytes: input + parameters + output (intermediate results are not
  // compulsory).
  Work work;
  std::int64_t parameters = 0;  // learned values before folding (batch norm has 2 per channel)
  Bytes weights_size() const;   // total of all tensors with role weights
};

// Errors: unknown input name, cycle, shape mismatch, and the errors of the operators' own checks.
// `where` is "LAYER" or "LAYER.PARAMETER". `registry` must outlive the network.
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
// fold_parameters() folds them for the fused network. result[i] belongs to tensors[1 + i] of the
// network. `separate` and `fused` must come from the same definition, batch and data type.
std::vector<std::vector<double>> random_parameters(const Network& network, std::uint64_t seed);
std::vector<std::vector<double>> fold_parameters(const Network& separate,
                                                 const std::vector<std::vector<double>>& values,
                                                 const Network& fused);

}  // namespace bench::ops
