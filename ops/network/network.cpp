// SPDX-License-Identifier: Apache-2.0
#include "ops/network/network.hpp"

#include "base/checked.hpp"
#include "ops/model.hpp"
#include "ops/network/graph.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

// Weights that are not learned: statistics, and the angles of rope.
constexpr std::array<std::string_view, 4> kNotLearned = {"mean", "variance", "cosine", "sine"};

Error in_layer(const std::string& layer, Error error) {
  error.where = error.where.empty() ? layer : fmt::format("{}.{}", layer, error.where);
  return error;
}

const Tensor& output_tensor(const Problem& problem) {
  return problem.tensors[problem.input_count()];
}

// Returns `sizes` with the batch: as one more dimension, or in the first one.
Result<Dims> with_batch(Dims sizes, std::int64_t batch, const std::string& where) {
  Checked elements = 1;
  for (std::int64_t& size : sizes) {
    if (size < 1) {
      return Error{.what = fmt::format("`{}` {} has an empty dimension", where, join_dims(sizes)),
                   .where = where,
                   .next = {}};
    }
    elements *= size;
  }
  elements *= batch;
  if (sizes.empty() || !elements.value()) {
    return Error{.what = fmt::format("`{}` {}", where,
                                     sizes.empty() ? "has no size" : "exceeds 2^63 - 1 elements"),
                 .where = where,
                 .next = {}};
  }
  sizes.front() *= batch;
  return sizes;
}

// Returns the network's inputs, as tensors without the number of elements that are used.
Result<std::vector<Tensor>> make_inputs(const NetworkDefinition& definition, std::int64_t batch,
                                        DataType dtype) {
  if (batch < 1) {
    return Error{.what = fmt::format("the batch is {}, expected at least 1", batch),
                 .where = "batch",
                 .next = {}};
  }
  std::vector<Tensor> inputs;
  const auto add = [&](const std::string& name, Dims dims) {
    inputs.push_back({.name = name,
                      .role = TensorRole::input,
                      .dtype = dtype,
                      .dims = std::move(dims),
                      .touched = 0});
  };
  for (const InputDefinition& input : definition.inputs) {
    BENCH_ASSIGN_OR_RETURN(Dims dims, with_batch(input.sizes, batch, input.name));
    add(input.name, std::move(dims));
  }
  if (!inputs.empty()) return inputs;
  Dims sizes = definition.input;
  if (!sizes.empty()) sizes.insert(sizes.begin(), 1);
  BENCH_ASSIGN_OR_RETURN(Dims dims, with_batch(std::move(sizes), batch, "input"));
  add("input", std::move(dims));
  return inputs;
}

// A result or an input of the network, in the sizes in which a layer sees it.
struct SeenValue {
  int source = kNetworkInput;  // a node or an input of the network
  Dims dims;
};

// Creates one node per layer that is not a view.
class NodeMaker {
 public:
  NodeMaker(std::span<const Tensor> inputs, std::int64_t batch, DataType dtype)
      : inputs_(inputs), batch_(batch), dtype_(dtype) {}

  Status add(const GraphLayer& layer) {
    const Status added = layer.op == nullptr ? add_view(layer) : add_node(layer);
    if (!added) return in_layer(layer.definition->name, added.error());
    return Done{};
  }
  // Returns the node of a layer that is not a view.
  int node_of(int layer) const { return values_[static_cast<std::size_t>(layer)].source; }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  SeenValue value_of(int input) const {
    if (const auto index = network_input_index(input)) return {input, inputs_[*index].dims};
    return values_[static_cast<std::size_t>(input)];
  }

  Status add_view(const GraphLayer& layer) {
    SeenValue value = value_of(layer.inputs.front());
    BENCH_ASSIGN_OR_RETURN(Dims dims, with_batch(*layer.definition->reshape, batch_, "reshape"));
    if (element_count(dims) != element_count(value.dims)) {
      return Error{
          .what = fmt::format("`reshape` makes {} of {}, which has {} elements", join_dims(dims),
                              join_dims(value.dims), *element_count(value.dims)),
          .where = "reshape",
          .next = "the first size is multiplied by the batch"};
    }
    value.dims = std::move(dims);
    values_.push_back(std::move(value));
    return Done{};
  }

  Status add_node(const GraphLayer& layer) {
    BENCH_ASSIGN_OR_RETURN(Node node, make(layer));
    values_.push_back({static_cast<int>(nodes_.size()), output_tensor(node.problem).dims});
    nodes_.push_back(std::move(node));
    return Done{};
  }

  Result<Node> make(const GraphLayer& layer) {
    std::vector<Dims> dims;
    for (const int input : layer.inputs) dims.push_back(value_of(input).dims);
    ProblemRequest request{.op = layer.op, .dtype = dtype_, .post_ops = {}};
    BENCH_ASSIGN_OR_RETURN(request.parameters,
                           infer_parameters(*layer.op, layer.definition->parameters, dims));
    Node node{.name = layer.definition->name, .fused = {}, .problem = {}, .sources = {}};
    BENCH_ASSIGN_OR_RETURN(node.problem, make_problem(std::move(request)));
    BENCH_RETURN_IF_ERROR(check_inputs(node.problem, layer.inputs.size()));
    auto next_input = layer.inputs.begin();
    for (std::size_t i = 0; i < node.problem.input_count(); ++i) {
      const Tensor& tensor = node.problem.tensors[i];
      if (tensor.role == TensorRole::weights) {
        node.sources.push_back(kParameter);
        continue;
      }
      const int source = value_of(*next_input++).source;
      BENCH_RETURN_IF_ERROR(check_type(tensor, source));
      node.sources.push_back(source);
    }
    return node;
  }

  // Built-in operators were checked before. For a plugin's operator, the model shows the number of
  // inputs.
  static Status check_inputs(const Problem& problem, std::size_t given_inputs) {
    const auto inputs = static_cast<std::size_t>(
        std::ranges::count(problem.tensors, TensorRole::input, &Tensor::role));
    if (inputs == given_inputs) return Done{};
    return Error{.what = fmt::format("the layer has {} inputs, expected {}", given_inputs, inputs),
                 .where = "inputs",
                 .next = {}};
  }

  // An s8 convolution produces s32, which no operator accepts directly.
  Status check_type(const Tensor& required_tensor, int source) const {
    if (holds_indices(required_tensor)) {
      return Error{.what = fmt::format("its input `{}` holds indices: layers of networks pass on "
                                       "numbers only",
                                       required_tensor.name),
                   .where = "op",
                   .next = "measure it as a case of its own"};
    }
    if (network_input_index(source)) return Done{};
    const DataType input_dtype =
        output_tensor(nodes_[static_cast<std::size_t>(source)].problem).dtype;
    if (input_dtype == required_tensor.dtype) return Done{};
    return Error{.what = fmt::format("its input is {}, expected {}: networks do not requantize",
                                     info(input_dtype).name, info(required_tensor.dtype).name),
                 .where = "dtype",
                 .next = "use a floating-point type"};
  }

  std::span<const Tensor> inputs_;
  std::int64_t batch_;
  DataType dtype_;
  std::vector<Node> nodes_;
  std::vector<SeenValue> values_;  // by layer
};

bool is_learned(const Tensor& tensor) {
  return tensor.role == TensorRole::weights &&
         std::ranges::find(kNotLearned, tensor.name) == kNotLearned.end();
}

Result<std::int64_t> count_learned(const std::vector<Node>& nodes) {
  Checked learned = 0;
  for (const Node& node : nodes) {
    for (const Tensor& tensor : node.problem.tensors) {
      if (is_learned(tensor)) learned += tensor.elements();
    }
  }
  return in_range(learned, "parameters", "layers");
}

// Returns how many elements of an input the consumers use: exact for one consumer, all elements for
// several.
std::int64_t count_touched_input(const std::vector<Node>& nodes, std::size_t input,
                                 std::int64_t elements) {
  std::vector<std::int64_t> touched;
  for (const Node& node : nodes) {
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (network_input_index(node.sources[i]) != input) continue;
      touched.push_back(node.problem.tensors[i].touched);
    }
  }
  return touched.size() == 1 ? touched.front() : elements;
}

// Returns the nodes that compute the layers: those of their names, or those that they joined.
std::vector<int> find_nodes(const std::vector<Node>& nodes, std::span<const std::string> layers) {
  std::vector<int> found;
  for (const std::string& layer : layers) {
    const auto node = std::ranges::find_if(nodes, [&](const Node& each) {
      return each.name == layer || std::ranges::find(each.fused, layer) != each.fused.end();
    });
    assert(node != nodes.end() && "fusion keeps every layer");
    found.push_back(static_cast<int>(node - nodes.begin()));
  }
  return found;
}

// `inputs`: the network's. `output_names`: one per output.
void collect_tensors(Network& network, std::vector<Tensor> inputs,
                     std::span<const std::string> output_names) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].touched = count_touched_input(network.nodes, i, inputs[i].elements());
    network.tensors.push_back(std::move(inputs[i]));
  }
  for (std::size_t n = 0; n < network.nodes.size(); ++n) {
    const Node& node = network.nodes[n];
    for (std::size_t t = 0; t < node.problem.input_count(); ++t) {
      if (node.problem.tensors[t].role != TensorRole::weights) continue;
      Tensor parameter = node.problem.tensors[t];
      parameter.name = fmt::format("{}.{}", node.name, parameter.name);
      network.tensors.push_back(std::move(parameter));
      network.parameter_places.push_back(
          {.node = static_cast<int>(n), .tensor = static_cast<int>(t)});
    }
  }
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    const Node& node = network.nodes[static_cast<std::size_t>(network.outputs[i])];
    Tensor output = output_tensor(node.problem);
    output.name = network.outputs.size() == 1 ? "output" : output_names[i];
    network.tensors.push_back(std::move(output));
  }
}

// Equal problems have equal keys.
std::string problem_key(const Problem& problem) {
  return fmt::format("{}/{}/{}/{}/{}/{}", problem.op->name, static_cast<int>(problem.direction),
                     problem_tokens(problem), info(problem.dtype).name,
                     static_cast<int>(problem.layout), static_cast<int>(problem.math));
}

}  // namespace

Bytes Network::weights_size() const {
  Bytes size;
  for (const Tensor& tensor : tensors) {
    if (tensor.role == TensorRole::weights) size = size + tensor.size();
  }
  return size;
}

Result<Network> make_network(const NetworkDefinition& definition, std::int64_t batch,
                             DataType dtype, Mode mode, Fusion fusion,
                             const OperatorRegistry& registry) {
  BENCH_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, make_inputs(definition, batch, dtype));
  BENCH_ASSIGN_OR_RETURN(const LayerGraph graph, order_layers(definition, registry));
  NodeMaker maker(inputs, batch, dtype);
  for (const GraphLayer& layer : graph.layers) BENCH_RETURN_IF_ERROR(maker.add(layer));
  std::vector<std::string> output_names;
  std::vector<int> outputs;
  for (const int layer : graph.outputs) {
    output_names.push_back(graph.layers[static_cast<std::size_t>(layer)].definition->name);
    outputs.push_back(maker.node_of(layer));
  }
  Network network{.name = definition.name,
                  .batch = batch,
                  .dtype = dtype,
                  .mode = mode,
                  .fusion = fusion,
                  .nodes = maker.take(),
                  .outputs = outputs,
                  .tensors = {},
                  .parameter_places = {},
                  .work = {}};
  BENCH_ASSIGN_OR_RETURN(network.parameters, count_learned(network.nodes));
  // Training needs the results between the layers that fusion would remove.
  if (fusion == Fusion::fused && mode == Mode::inference) {
    BENCH_ASSIGN_OR_RETURN(network.nodes, fuse(network.nodes, outputs));
    network.outputs = find_nodes(network.nodes, output_names);
  }
  collect_tensors(network, std::move(inputs), output_names);
  BENCH_RETURN_IF_ERROR(count_work(network));
  return network;
}

std::optional<std::string> whole_network_unsupported_reason(const Network& network,
                                                            std::string_view backend) {
  if (network.mode == Mode::inference) return std::nullopt;
  return fmt::format("the {} backend runs networks in inference", backend);
}

std::vector<DistinctLayer> distinct_layers(const Network& network) {
  std::vector<DistinctLayer> distinct;
  std::map<std::string, std::size_t> layer_indexes;
  std::vector<bool> depends_on_learned;  // by node output
  for (const Node& node : network.nodes) {
    const auto [entry, is_new] = layer_indexes.emplace(problem_key(node.problem), distinct.size());
    if (is_new) distinct.push_back({.problem = node.problem, .layers = {}});
    DistinctLayer& layer = distinct[entry->second];
    layer.layers.push_back(node.name);
    const bool has_data_gradient = std::ranges::any_of(node.sources, [&](int source) {
      return source >= 0 && depends_on_learned[static_cast<std::size_t>(source)];
    });
    const bool learns = std::ranges::any_of(node.problem.tensors, is_learned);
    if (has_data_gradient) layer.data_gradient_layers.push_back(node.name);
    layer.learns = layer.learns || learns;
    depends_on_learned.push_back(has_data_gradient || learns);
  }
  return distinct;
}

}  // namespace bench::ops
