// SPDX-License-Identifier: Apache-2.0
#include "base/data_type.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/operator_registry.hpp"
#include "ops/plugin/c_interface.hpp"
#include "ops/plugin/c_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

bool is_code(std::int32_t code, std::size_t count) {
  return code >= 0 && static_cast<std::size_t>(code) < count;
}

bool is_type(std::int32_t code) { return is_code(code, data_types().size()); }

// Reads the fields that requests and problems share.
template <class Row>
Result<ProblemRequest> read_problem_request(const Row& row) {
  const std::string name = string_or_empty(row.op);
  const Operator* op = built_in_operators().find(name);
  if (op == nullptr) return Error{fmt::format("no built-in operator `{}`", name), "op", ""};
  if (!is_code(row.direction, enumerator_names<Direction>().size()) || !is_type(row.dtype) ||
      !is_code(row.layout, enumerator_names<Layout>().size()) ||
      !is_code(row.math, enumerator_names<Math>().size())) {
    return Error{fmt::format("a request for `{}` with a code out of range", name), "", ""};
  }
  BENCH_ASSIGN_OR_RETURN(ProblemTokens tokens,
                         parse_problem_tokens(*op, string_or_empty(row.tokens)));
  return ProblemRequest{.op = op,
                        .direction = static_cast<Direction>(row.direction),
                        .dtype = static_cast<DataType>(row.dtype),
                        .layout = static_cast<Layout>(row.layout),
                        .math = static_cast<Math>(row.math),
                        .parameters = std::move(tokens.parameters),
                        .post_ops = std::move(tokens.post_ops)};
}

bool is_same(const Tensor& tensor, const bench_tensor& row) {
  const std::span<const std::int64_t> dims(row.dims, row.rank);
  return tensor.name == string_or_empty(row.name) &&
         static_cast<std::int32_t>(tensor.role) == row.role &&
         static_cast<std::int32_t>(tensor.dtype) == row.dtype &&
         std::equal(tensor.dims.begin(), tensor.dims.end(), dims.begin(), dims.end());
}

Status check_tensors(const Problem& problem, const bench_problem& given) {
  bool is_equal = problem.tensors.size() == given.tensor_count;
  for (std::size_t i = 0; is_equal && i < given.tensor_count; ++i) {
    is_equal = is_same(problem.tensors[i], *given.tensors[i]);
  }
  if (is_equal) return Done{};
  return Error{
      fmt::format("`{}` {} has different tensors here than in its source", given.op, given.tokens),
      "", "use a plugin of this program's version"};
}

Result<Tensor> read_tensor(const bench_tensor& row) {
  const bool is_valid = is_type(row.dtype) && row.role >= BENCH_ROLE_INPUT &&
                        row.role <= BENCH_ROLE_OUTPUT && (row.rank == 0 || row.dims != nullptr);
  if (!is_valid) {
    return Error{
        fmt::format("a network with a tensor `{}` of an unknown kind", string_or_empty(row.name)),
        "", ""};
  }
  return Tensor{string_or_empty(row.name), static_cast<TensorRole>(row.role),
                static_cast<DataType>(row.dtype), Dims(row.dims, row.dims + row.rank), row.touched};
}

// Returns the source of a code (BENCH_NETWORK_INPUT and the like) and its number.
Source read_source(std::int32_t code, std::optional<std::int32_t> number) {
  if (code == BENCH_NETWORK_INPUT) return from_input(0);
  if (code < BENCH_NETWORK_PARAMETER) {
    return from_input(static_cast<std::size_t>(BENCH_NETWORK_PARAMETER - code));
  }
  if (code == BENCH_NETWORK_PARAMETER) {
    return from_parameter(number ? static_cast<std::size_t>(*number) : kUnnumbered);
  }
  return from_node(static_cast<std::size_t>(code), static_cast<std::size_t>(number.value_or(0)));
}

Result<Node> read_node(const bench_node& row) {
  BENCH_ASSIGN_OR_RETURN(Problem problem, read_problem(*row.problem));
  Node node{
      .name = string_or_empty(row.name), .layer = {}, .problem = std::move(problem), .sources = {}};
  const bool has_numbers =
      BENCH_HAS(bench_node, &row, source_numbers) && row.source_numbers != nullptr;
  for (std::size_t i = 0; i < row.source_count; ++i) {
    node.sources.push_back(read_source(
        row.sources[i], has_numbers ? std::optional(row.source_numbers[i]) : std::nullopt));
  }
  return node;
}

// Hosts of earlier versions do not number the parameters, each of which has one reader.
void number_by_places(Network& network) {
  for (std::size_t i = 0; i < network.parameter_places.size(); ++i) {
    const auto [node, tensor] = network.parameter_places[i];
    Source& source = network.nodes[node].sources[tensor];
    if (source == from_parameter(kUnnumbered)) source.index = i;
  }
}

// Whether a source exists for a node: an earlier node's result, or an input or parameter.
bool exists_before(const Network& network, const Source& source, std::size_t node) {
  switch (source.kind) {
    case Source::Kind::input:
      return source.index < network.input_count();
    case Source::Kind::parameter:
      return source.index < network.parameter_places.size();
    case Source::Kind::unknown:
      return false;
    case Source::Kind::node:
      break;
  }
  if (source.index >= node) return false;
  return source.output < network.nodes[source.index].problem.output_count();
}

// Checks that every node reads only what exists before it, and has as many sources as its problem
// has inputs.
Status check_nodes(const Network& network) {
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    bool is_valid = node.sources.size() == node.problem.input_count();
    for (const Source& source : node.sources) {
      is_valid = is_valid && exists_before(network, source, i);
    }
    if (!is_valid) return Error{fmt::format("the node `{}` has invalid inputs", node.name), "", ""};
  }
  return Done{};
}

Status check_parameter_places(const Network& network) {
  for (const Network::ParameterPlace& place : network.parameter_places) {
    const bool is_valid = place.node < network.nodes.size() &&
                          place.tensor < network.nodes[place.node].problem.input_count();
    if (!is_valid) return Error{"a network with a parameter that belongs to no node", "", ""};
  }
  return Done{};
}

// Checks that the tensors are inputs, parameters and outputs, and that nodes produce the outputs.
Status check_tensor_roles(const Network& network) {
  const std::size_t outputs = network.outputs.size();
  const std::size_t others = network.parameter_places.size() + outputs;
  bool is_valid = !network.nodes.empty() && outputs > 0 && network.tensors.size() > others;
  for (std::size_t i = 0; is_valid && i < network.tensors.size(); ++i) {
    const TensorRole role = i < network.input_count()              ? TensorRole::input
                            : i + outputs < network.tensors.size() ? TensorRole::weights
                                                                   : TensorRole::output;
    is_valid = network.tensors[i].role == role;
  }
  for (const Source& output : network.outputs) {
    is_valid = is_valid && output.kind == Source::Kind::node &&
               exists_before(network, output, network.nodes.size());
  }
  if (is_valid) return Done{};
  return Error{"a network with other tensors than inputs, parameters and outputs", "", ""};
}

// Hosts of earlier versions do not have the field: the last node produces the only output.
std::vector<Source> read_outputs(const bench_network& given) {
  if (!BENCH_HAS(bench_network, &given, outputs) || given.output_count == 0) {
    return {from_node(given.node_count - 1)};
  }
  const bool has_numbers =
      BENCH_HAS(bench_network, &given, output_numbers) && given.output_numbers != nullptr;
  std::vector<Source> outputs;
  for (std::size_t i = 0; i < given.output_count; ++i) {
    outputs.push_back(read_source(
        given.outputs[i], has_numbers ? std::optional(given.output_numbers[i]) : std::nullopt));
  }
  return outputs;
}

}  // namespace

Result<Problem> read_problem(const bench_request& request) {
  BENCH_ASSIGN_OR_RETURN(ProblemRequest problem_request, read_problem_request(request));
  return make_problem(std::move(problem_request));
}

Result<Problem> read_problem(const bench_problem& problem) {
  BENCH_ASSIGN_OR_RETURN(ProblemRequest request, read_problem_request(problem));
  request.post_ops.clear();
  for (std::size_t i = 0; i < problem.post_op_count; ++i) {
    const bench_post_op& row = *problem.post_ops[i];
    request.post_ops.push_back({string_or_empty(row.function), row.alpha, row.beta});
  }
  BENCH_ASSIGN_OR_RETURN(Problem result, make_problem(std::move(request)));
  BENCH_RETURN_IF_ERROR(check_tensors(result, problem));
  return result;
}

Result<Network> read_network(const bench_network& given) {
  if (!is_type(given.dtype)) return Error{"a network with a code out of range", "", ""};
  Network network;
  network.name = string_or_empty(given.name);
  network.batch = given.batch;
  network.dtype = static_cast<DataType>(given.dtype);
  network.mode = given.training != 0 ? Mode::training : Mode::inference;
  network.fusion = given.fused != 0 ? Fusion::fused : Fusion::separate;
  // Hosts of earlier versions do not have the field.
  const bool has_layout = BENCH_HAS(bench_network, &given, input_nhwc);
  if (has_layout && given.input_nhwc != 0) network.input_layout = Layout::nhwc;
  for (std::size_t i = 0; i < given.node_count; ++i) {
    BENCH_ASSIGN_OR_RETURN(Node node, read_node(*given.nodes[i]));
    network.nodes.push_back(std::move(node));
  }
  network.outputs = read_outputs(given);
  for (std::size_t i = 0; i < given.tensor_count; ++i) {
    BENCH_ASSIGN_OR_RETURN(Tensor tensor, read_tensor(*given.tensors[i]));
    network.tensors.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < given.place_count; ++i) {
    network.parameter_places.push_back({static_cast<std::size_t>(given.places[i]->node),
                                        static_cast<std::size_t>(given.places[i]->tensor)});
  }
  BENCH_RETURN_IF_ERROR(check_parameter_places(network));
  number_by_places(network);
  BENCH_RETURN_IF_ERROR(check_tensor_roles(network));
  BENCH_RETURN_IF_ERROR(check_nodes(network));
  BENCH_RETURN_IF_ERROR(count_work(network));
  return network;
}

}  // namespace bench::ops
