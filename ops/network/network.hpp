// SPDX-License-Identifier: Apache-2.0
// Networks: graphs of operators with named inputs. A definition is data (YAML); make_network binds
// batch and data type, infers shapes, folds and fuses.
#pragma once

#include "base/result.hpp"
#include "ops/catalogue.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// A layer as written. Sizes that follow from its inputs (n, c, h, w, shape, a, b, m, k of gemm) are
// not written.
struct LayerDefinition {
  std::string name;
  std::string op;                   // an operator's name
  ParameterSet parameters{{}};      // as written
  std::vector<std::string> inputs;  // names of layers, or "input"; the loader fills in "the layer
                                    // before" where none is written
};

struct NetworkDefinition {
  std::string name;  // "resnet50_v1_5"
  Dims input;        // without batch: {3, 224, 224}
  std::vector<LayerDefinition>
      layers;  // any order that is acyclic; the last one in the list is the output
};

enum class Mode { inference, training };
enum class Fusion { fused, separate };  // YAML `fuse: true`, `fuse: false`

// A node of the executable graph: one problem, and where its inputs come from.
struct Node {
  std::string name;  // of the layer that it stands for; a fused node bears the name of its
                     // convolution or gemm
  std::vector<std::string> fused;  // names of the layers folded or fused into it
  Problem problem;
  // For each tensor of the problem that is not an output, in order: the producing node,
  // kNetworkInput, or kParameter (own weights).
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
  std::vector<Node> nodes;  // in execution order; the last one makes the output

  // The network's own tensors: its input, then each node's parameters (role weights) in order, then
  // its output.
  std::vector<Tensor> tensors;
  // For tensor i with role weights: which node's which tensor it is.
  struct ParameterPlace {
    int node;
    int tensor;
  };
  std::vector<ParameterPlace> parameter_places;  // for tensors[1 .. size-2]
  Work work;  // FLOPs: sum over nodes; bytes: input + parameters + output (intermediates are not
              // compulsory)
  std::int64_t parameters = 0;  // learned values before folding (batch norm counts 2 a channel)
  Bytes weights_size() const;   // of all tensors with role weights
};

// Errors: unknown input name, cycle, shape mismatch, what an operator's own checks say; `where` is
// "LAYER" or "LAYER.PARAMETER". `catalogue` must outlive the network.
Result<Network> make_network(const NetworkDefinition& definition, std::int64_t batch,
                             DataType dtype, Mode mode, Fusion fusion,
                             const Catalogue& catalogue = built_in_catalogue());

// Why the backends of this program do not run the network as one case; absent where they do.
// `backend`: its name for people, "oneDNN".
std::optional<std::string> why_not_as_one(const Network& network, std::string_view backend);

// The distinct problems of a network with the names of the layers that they stand for, in order of
// first use.
struct DistinctLayer {
  Problem problem;
  std::vector<std::string> layers;  // multiplicity = size
  // Those of `layers` whose data gradient a training step computes: something learned lies before
  // them. The first layer of a network has none.
  std::vector<std::string> data_gradient_layers = {};
  bool learns = false;  // it has parameters that a training step computes gradients of
};
std::vector<DistinctLayer> distinct_layers(const Network& network);

// Values for the parameters of a network without fusion (random), and the same parameters folded
// for the fused one: result[i] belongs to tensors[1 + i] of the network. `separate` and `fused`
// stem from the same definition, batch and data type.
std::vector<std::vector<double>> random_parameters(const Network& network, std::uint64_t seed);
std::vector<std::vector<double>> fold_parameters(const Network& separate,
                                                 const std::vector<std::vector<double>>& values,
                                                 const Network& fused);

}  // namespace bench::ops
