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

Error in_layer(const std::string& layer, Error error) {
  error.where = error.where.empty() ? layer : fmt::format("{}.{}", layer, error.where);
  return error;
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
  Source source;
  Dims dims;
};

// Creates one node per layer that is not a view.
class NodeMaker {
 public:
  NodeMaker(std::span<const Tensor> inputs, std::int64_t batch, DataType dtype, Mode mode)
      : inputs_(inputs), batch_(batch), dtype_(dtype), mode_(mode) {}

  Status add(const GraphLayer& layer) {
    const Status added = layer.op == nullptr ? add_view(layer) : add_node(layer);
    if (!added) return in_layer(layer.definition->name, added.error());
    return Done{};
  }
  // Returns the result of a layer that is not a view.
  Source result_of(int layer) const { return values_[static_cast<std::size_t>(layer)].source; }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  SeenValue value_of(int input) const {
    if (const auto index = network_input_index(input)) {
      return {from_input(*index), inputs_[*index].dims};
    }
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
    values_.push_back({from_node(nodes_.size()), node.problem.output().dims});
    nodes_.push_back(std::move(node));
    return Done{};
  }

  Result<Node> make(const GraphLayer& layer) {
    std::vector<Dims> dims;
    for (const int input : layer.inputs) dims.push_back(value_of(input).dims);
    ProblemRequest request{.op = layer.op, .dtype = dtype_, .post_ops = {}};
    BENCH_ASSIGN_OR_RETURN(request.parameters,
                           infer_parameters(*layer.op, layer.definition->parameters, dims));
    if (mode_ == Mode::training) choose_training(request.parameters);
    Node node{.name = layer.definition->name,
              .layer = layer.definition->name,
              .fused = {},
              .problem = {},
              .sources = {}};
    BENCH_ASSIGN_OR_RETURN(node.problem, make_problem(std::move(request)));
    BENCH_RETURN_IF_ERROR(check_inputs(node.problem, layer.inputs.size()));
    auto next_input = layer.inputs.begin();
    for (std::size_t i = 0; i < node.problem.input_count(); ++i) {
      const Tensor& tensor = node.problem.tensors[i];
      if (tensor.role == TensorRole::weights) {
        node.sources.push_back(from_parameter(kUnnumbered));
        continue;
      }
      const SeenValue& value = value_of(*next_input++);
      const Source source = value.source;
      BENCH_RETURN_IF_ERROR(check_type(tensor, source));
      BENCH_RETURN_IF_ERROR(check_elements(tensor, value.dims));
      node.sources.push_back(source);
    }
    return node;
  }

  // Operators that compute something else in training, such as norms, have a parameter `mode`.
  static void choose_training(ParameterSet& parameters) {
    constexpr std::string_view kMode = "mode";
    constexpr std::string_view kTraining = "training";
    const Parameter* mode = find_parameter(parameters.table(), kMode);
    if (mode == nullptr || parameters.has(kMode)) return;
    if (std::ranges::find(mode->words, kTraining) == mode->words.end()) return;
    parameters.set(kMode, std::string(kTraining));
  }

  // Built-in operators were checked before. For a plugin's operator, the model shows the number of
  // inputs. In training, a norm has further results, its statistics.
  Status check_inputs(const Problem& problem, std::size_t given_inputs) const {
    if (mode_ == Mode::inference && problem.output_count() > 1) {
      return Error{.what = fmt::format("`{}` has {} results, a layer passes on one",
                                       problem.op->name, problem.output_count()),
                   .where = "op",
                   .next = "write a `slice` for each part that a layer reads"};
    }
    const auto inputs = static_cast<std::size_t>(
        std::ranges::count(problem.tensors, TensorRole::input, &Tensor::role));
    if (inputs == given_inputs) return Done{};
    return Error{.what = fmt::format("the layer has {} inputs, expected {}", given_inputs, inputs),
                 .where = "inputs",
                 .next = {}};
  }

  // A parameter that does not follow from the inputs can contradict them.
  static Status check_elements(const Tensor& required_tensor, const Dims& given) {
    if (element_count(given) == required_tensor.elements()) return Done{};
    return Error{.what = fmt::format("its input `{}` has the sizes {}, its parameters make it {}",
                                     required_tensor.name, join_dims(given),
                                     join_dims(required_tensor.dims)),
                 .where = "inputs",
                 .next = {}};
  }

  // An s8 convolution produces s32, which no operator accepts directly. Only inputs of the network
  // can be indices, which have their values before it runs.
  Status check_type(const Tensor& required_tensor, const Source& source) const {
    if (source.kind == Source::Kind::input) return Done{};
    if (holds_indices(required_tensor)) {
      return Error{.what = fmt::format("its input `{}` holds indices, which layers do not compute",
                                       required_tensor.name),
                   .where = "inputs",
                   .next = "name an input of the network"};
    }
    const DataType input_dtype = nodes_[source.index].problem.output(source.output).dtype;
    if (input_dtype == required_tensor.dtype) return Done{};
    return Error{.what = fmt::format("its input is {}, expected {}: networks do not requantize",
                                     info(input_dtype).name, info(required_tensor.dtype).name),
                 .where = "dtype",
                 .next = "use a floating-point type"};
  }

  std::span<const Tensor> inputs_;
  std::int64_t batch_;
  DataType dtype_;
  Mode mode_;
  std::vector<Node> nodes_;
  std::vector<SeenValue> values_;  // by layer
};

Result<std::int64_t> count_learned(const std::vector<Node>& nodes) {
  Checked learned = 0;
  for (const Node& node : nodes) {
    for (const Tensor& tensor : node.problem.tensors) {
      if (is_learned(tensor)) learned += tensor.elements();
    }
  }
  return in_range(learned, "parameters", "layers");
}

// Gives the inputs of the network that hold indices their data type. Error: a layer reads such an
// input as numbers.
Status set_index_types(const Network& network, std::vector<Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<InputReader> readers = readers_of_input(network, i);
    const auto reads_indices = [&](const InputReader& reader) {
      return holds_indices(network.nodes[reader.node].problem.tensors[reader.tensor]);
    };
    const auto indices = std::ranges::find_if(readers, reads_indices);
    if (indices == readers.end()) continue;
    const auto numbers = std::ranges::find_if_not(readers, reads_indices);
    if (numbers != readers.end()) {
      return Error{.what = fmt::format("`{}` reads the input `{}` as numbers, `{}` as indices",
                                       network.nodes[numbers->node].name, inputs[i].name,
                                       network.nodes[indices->node].name),
                   .where = inputs[i].name,
                   .next = "give each of them an input of its own"};
    }
    inputs[i].dtype = network.nodes[indices->node].problem.tensors[indices->tensor].dtype;
  }
  return Done{};
}

// Returns how many elements of an input the consumers use: exact for one consumer, all elements for
// several.
std::int64_t count_touched_input(const Network& network, std::size_t input, std::int64_t elements) {
  const std::vector<InputReader> readers = readers_of_input(network, input);
  if (readers.size() != 1) return elements;
  return network.nodes[readers.front().node].problem.tensors[readers.front().tensor].touched;
}

// Returns the results that the layers compute: of the nodes of their names, or of those that they
// joined.
std::vector<Source> find_results(const std::vector<Node>& nodes,
                                 std::span<const std::string> layers) {
  std::vector<Source> found;
  for (const std::string& layer : layers) {
    const auto node = std::ranges::find_if(nodes, [&](const Node& each) {
      return each.name == layer || std::ranges::find(each.fused, layer) != each.fused.end();
    });
    assert(node != nodes.end() && "fusion keeps every layer");
    found.push_back(from_node(static_cast<std::size_t>(node - nodes.begin())));
  }
  return found;
}

// `inputs`: the network's. `output_names`: one per output.
void collect_tensors(Network& network, std::vector<Tensor> inputs,
                     std::span<const std::string> output_names) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].touched = count_touched_input(network, i, inputs[i].elements());
    network.tensors.push_back(std::move(inputs[i]));
  }
  for (const auto& [node_index, tensor] : network.parameter_places) {
    const Node& node = network.nodes[node_index];
    Tensor parameter = node.problem.tensors[tensor];
    parameter.name = fmt::format("{}.{}", node.name, parameter.name);
    parameter.role = TensorRole::weights;
    network.tensors.push_back(std::move(parameter));
  }
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    const Source& result = network.outputs[i];
    Tensor output = network.nodes[result.index].problem.output(result.output);
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

bool is_learned(const Tensor& tensor) {
  // Statistics, and the angles of rope.
  constexpr std::array<std::string_view, 4> kNotLearned = {"mean", "variance", "cosine", "sine"};
  return tensor.role == TensorRole::weights &&
         std::ranges::find(kNotLearned, tensor.name) == kNotLearned.end();
}

int source_code(const Source& source) {
  constexpr int kFirstInput = -1;
  constexpr int kParameter = -2;
  switch (source.kind) {
    case Source::Kind::input:
      return source.index == 0 ? kFirstInput : kParameter - static_cast<int>(source.index);
    case Source::Kind::parameter:
      return kParameter;
    case Source::Kind::node:
    case Source::Kind::unknown:
      break;
  }
  return static_cast<int>(source.index);
}

std::vector<InputReader> readers_of_input(const Network& network, std::size_t input) {
  std::vector<InputReader> readers;
  for (std::size_t n = 0; n < network.nodes.size(); ++n) {
    const std::vector<Source>& sources = network.nodes[n].sources;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] == from_input(input)) readers.push_back({n, i});
    }
  }
  return readers;
}

bool takes_images(const Operator& op) {
  const Parameter* channels = find_parameter(op.parameters, "c");
  return channels != nullptr && channels->kind == ParameterKind::count;
}

std::vector<bool> find_shared_parameters(const Network& network) {
  std::vector<std::size_t> reader_counts(network.parameter_places.size(), 0);
  for (const Node& node : network.nodes) {
    for (const Source& source : node.sources) {
      if (source.kind == Source::Kind::parameter) ++reader_counts[source.index];
    }
  }
  std::vector<bool> shared;
  for (const std::size_t count : reader_counts) shared.push_back(count > 1);
  return shared;
}

std::optional<Network> in_plain_layout(Network network) {
  bool has_images = false;
  for (Node& node : network.nodes) {
    if (!takes_images(*node.problem.op)) continue;
    node.problem.layout = Layout::nchw;
    has_images = true;
  }
  if (!has_images) return std::nullopt;
  return network;
}

bool holds_indices(const Network& network, std::size_t input) {
  const std::vector<InputReader> readers = readers_of_input(network, input);
  return std::ranges::any_of(readers, [&](const InputReader& reader) {
    return holds_indices(network.nodes[reader.node].problem.tensors[reader.tensor]);
  });
}

void number_parameters(Network& network) {
  for (std::size_t n = 0; n < network.nodes.size(); ++n) {
    std::vector<Source>& sources = network.nodes[n].sources;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] != from_parameter(kUnnumbered)) continue;
      sources[i].index = network.parameter_places.size();
      network.parameter_places.push_back({n, i});
    }
  }
}

Result<Network> make_network(const NetworkDefinition& definition, std::int64_t batch,
                             DataType dtype, Mode mode, Fusion fusion,
                             const OperatorRegistry& registry) {
  BENCH_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, make_inputs(definition, batch, dtype));
  BENCH_ASSIGN_OR_RETURN(const LayerGraph graph, order_layers(definition, registry));
  NodeMaker maker(inputs, batch, dtype, mode);
  for (const GraphLayer& layer : graph.layers) BENCH_RETURN_IF_ERROR(maker.add(layer));
  std::vector<std::string> output_names;
  Network network{.name = definition.name,
                  .batch = batch,
                  .dtype = dtype,
                  .mode = mode,
                  .fusion = fusion,
                  .nodes = maker.take(),
                  .outputs = {},
                  .tensors = {},
                  .parameter_places = {},
                  .work = {}};
  for (const int layer : graph.outputs) {
    output_names.push_back(graph.layers[static_cast<std::size_t>(layer)].definition->name);
    network.outputs.push_back(maker.result_of(layer));
  }
  BENCH_ASSIGN_OR_RETURN(network.parameters, count_learned(network.nodes));
  // Training needs the results between the layers that fusion would remove.
  if (fusion == Fusion::fused && mode == Mode::inference) {
    BENCH_ASSIGN_OR_RETURN(network.nodes, fuse(network.nodes, network.outputs));
    network.outputs = find_results(network.nodes, output_names);
  }
  number_parameters(network);
  if (mode == Mode::training) {
    BENCH_RETURN_IF_ERROR(add_training(definition.training, network, inputs, output_names));
  }
  BENCH_RETURN_IF_ERROR(set_index_types(network, inputs));
  collect_tensors(network, std::move(inputs), output_names);
  BENCH_RETURN_IF_ERROR(count_work(network));
  return network;
}

std::vector<DistinctLayer> distinct_layers(const Network& network) {
  std::vector<DistinctLayer> distinct;
  std::map<std::string, std::size_t> layer_indexes;
  for (const Node& node : network.nodes) {
    const std::string key =
        fmt::format("{}/{}", static_cast<int>(node.pass), problem_key(node.problem));
    const auto [entry, is_new] = layer_indexes.emplace(key, distinct.size());
    if (is_new) distinct.push_back({.problem = node.problem, .pass = node.pass, .layers = {}});
    DistinctLayer& layer = distinct[entry->second];
    layer.layers.push_back(node.layer);
    if (is_new) layer.without_gradient = node.without_gradient;
  }
  return distinct;
}

}  // namespace bench::ops
