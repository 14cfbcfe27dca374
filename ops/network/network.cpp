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
#include <map>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

// Weights that are statistics and not learned.
constexpr std::array<std::string_view, 2> kStatistics = {"mean", "variance"};

Error in_layer(const std::string& layer, Error error) {
  error.where = error.where.empty() ? layer : fmt::format("{}.{}", layer, error.where);
  return error;
}

const Tensor& output_tensor(const Problem& problem) {
  return problem.tensors[problem.input_count()];
}

Status check_input(const NetworkDefinition& definition, std::int64_t batch) {
  if (batch < 1) {
    return Error{.what = fmt::format("the batch is {}, expected at least 1", batch),
                 .where = "batch",
                 .next = {}};
  }
  Checked elements = batch;
  for (const std::int64_t size : definition.input) {
    elements *= size;
    if (size < 1) {
      return Error{
          .what = fmt::format("the input {} has an empty dimension", join_dims(definition.input)),
          .where = "input",
          .next = {}};
    }
  }
  if (definition.input.empty() || !elements.value()) {
    return Error{.what = definition.input.empty() ? "the network's input has no size"
                                                  : "the input exceeds 2^63 - 1 elements",
                 .where = "input",
                 .next = {}};
  }
  return Done{};
}

// Creates one node per layer.
class NodeMaker {
 public:
  NodeMaker(Dims input, DataType dtype) : input_(std::move(input)), dtype_(dtype) {}

  Status add(const GraphLayer& layer) {
    Result<Node> node = make(layer);
    if (!node.ok()) return in_layer(layer.definition->name, std::move(node).error());
    nodes_.push_back(std::move(node).value());
    return Done{};
  }
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  Result<Node> make(const GraphLayer& layer) {
    std::vector<Dims> dims;
    for (const int input : layer.inputs) {
      dims.push_back(input == kNetworkInput
                         ? input_
                         : output_tensor(nodes_[static_cast<std::size_t>(input)].problem).dims);
    }
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
      BENCH_RETURN_IF_ERROR(check_type(tensor, *next_input));
      node.sources.push_back(*next_input++);
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
  Status check_type(const Tensor& required_tensor, int input) const {
    if (input == kNetworkInput) return Done{};
    const DataType input_dtype =
        output_tensor(nodes_[static_cast<std::size_t>(input)].problem).dtype;
    if (input_dtype == required_tensor.dtype) return Done{};
    return Error{.what = fmt::format("its input is {}, expected {}: networks do not requantize",
                                     info(input_dtype).name, info(required_tensor.dtype).name),
                 .where = "dtype",
                 .next = "use a floating-point type"};
  }

  Dims input_;
  DataType dtype_;
  std::vector<Node> nodes_;
};

bool is_learned(const Tensor& tensor) {
  return tensor.role == TensorRole::weights &&
         std::ranges::find(kStatistics, tensor.name) == kStatistics.end();
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

// Returns how many elements of the input the consumers use: exact for one consumer, all elements
// for several.
std::int64_t count_touched_input(const std::vector<Node>& nodes, std::int64_t elements) {
  std::vector<std::int64_t> touched;
  for (const Node& node : nodes) {
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (node.sources[i] == kNetworkInput) touched.push_back(node.problem.tensors[i].touched);
    }
  }
  return touched.size() == 1 ? touched.front() : elements;
}

void collect_tensors(Network& network, const Dims& input) {
  Tensor source{.name = "input",
                .role = TensorRole::input,
                .dtype = network.dtype,
                .dims = input,
                .touched = 0};
  source.touched = count_touched_input(network.nodes, source.elements());
  network.tensors.push_back(std::move(source));
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
  Tensor output = output_tensor(network.nodes.back().problem);
  output.name = "output";
  network.tensors.push_back(std::move(output));
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
  BENCH_RETURN_IF_ERROR(check_input(definition, batch));
  BENCH_ASSIGN_OR_RETURN(const std::vector<GraphLayer> layers, order_layers(definition, registry));
  Dims input = definition.input;
  input.insert(input.begin(), batch);
  NodeMaker maker(input, dtype);
  for (const GraphLayer& layer : layers) BENCH_RETURN_IF_ERROR(maker.add(layer));
  Network network{.name = definition.name,
                  .batch = batch,
                  .dtype = dtype,
                  .mode = mode,
                  .fusion = fusion,
                  .nodes = maker.take(),
                  .tensors = {},
                  .parameter_places = {},
                  .work = {}};
  BENCH_ASSIGN_OR_RETURN(network.parameters, count_learned(network.nodes));
  // Training needs the results between the layers that fusion would remove.
  if (fusion == Fusion::fused && mode == Mode::inference) {
    BENCH_ASSIGN_OR_RETURN(network.nodes, fuse(network.nodes));
  }
  collect_tensors(network, input);
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
