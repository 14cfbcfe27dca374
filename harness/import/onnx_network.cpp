// SPDX-License-Identifier: Apache-2.0
#include "harness/import/onnx_network.hpp"

#include "base/characters.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "ops/network/network_steps.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench::onnx {
namespace {

using ops::Dims;

// "/layer1/layer1.0/conv1/Conv" becomes "layer1.layer1.0.conv1.Conv".
std::string tidy_name(std::string_view name) {
  constexpr std::size_t kMaxName = 100;
  constexpr std::string_view kOthers = "_-";
  std::string tidy;
  for (const char character : name) {
    const bool is_plain = is_letter_or_digit(character) || kOthers.find(character) != kOthers.npos;
    if (is_plain)
      tidy += character;
    else if (!tidy.empty() && tidy.back() != '.')
      tidy += '.';
  }
  while (!tidy.empty() && tidy.back() == '.') tidy.pop_back();
  if (tidy.size() > kMaxName) tidy.erase(0, tidy.size() - kMaxName);
  return tidy.empty() ? "value" : tidy;
}

// A layer sees a number as a tensor with one element.
Dims seen_dims(const Dims& dims) { return dims.empty() ? Dims{1} : dims; }

// Whether an input of a layer holds positions in another tensor.
bool takes_indices(std::string_view op, std::size_t input) {
  return (op == "embedding" && input == 0) || (op == "gather" && input == 1);
}

// Whether layers compute with elements of the type; integers of 8 bits are those of products.
bool has_layer_type(int type) {
  return is_floating(type) || type == kUint8 || type == kInt8 || type == 0;
}

bool may_swap(std::string_view function) {
  constexpr std::string_view kCommutative[] = {"add", "mul", "max", "min"};
  return std::ranges::find(kCommutative, function) != std::end(kCommutative);
}

}  // namespace

Value with_dims(Value value, Dims dims) {
  value.dims = std::move(dims);
  return value;
}

double as_written(double attribute) {
  return parse_number<double>(fmt::format("{}", static_cast<float>(attribute))).value_or(attribute);
}

void NetworkBuilder::begin_node(std::size_t number, const Node& node) {
  node_ = number;
  const bool has_result = !node.outputs.empty();
  node_name_ = tidy_name(!node.name.empty() || !has_result ? node.name : node.outputs.front());
  first_layer_ = layers_.size();
  first_input_ = inputs_.size();
  new_views_.clear();
  new_inputs_.clear();
  had_gap_ = has_gap_;
}

void NetworkBuilder::discard_node() {
  for (std::size_t i = first_layer_; i < layers_.size(); ++i) {
    names_.erase(layers_[i].definition.name);
    layer_numbers_.erase(layers_[i].definition.name);
  }
  layers_.erase(layers_.begin() + static_cast<std::ptrdiff_t>(first_layer_), layers_.end());
  for (const ViewKey& view : new_views_) views_.erase(view);
  for (std::size_t i = first_input_; i < inputs_.size(); ++i) names_.erase(inputs_[i].name);
  for (const std::string& value : new_inputs_) input_numbers_.erase(value);
  inputs_.resize(first_input_);
  has_gap_ = had_gap_;
}

std::int64_t NetworkBuilder::node_flops() const {
  Checked flops = 0;
  for (std::size_t i = first_layer_; i < layers_.size(); ++i) flops += layers_[i].flops;
  return flops.value().value_or(0);
}

bool NetworkBuilder::has_parameters_of_node() const {
  return std::any_of(layers_.begin() + static_cast<std::ptrdiff_t>(first_layer_), layers_.end(),
                     [](const BuiltLayer& layer) { return layer.has_parameters; });
}

std::string NetworkBuilder::make_name(std::string_view wanted) {
  std::string name(wanted);
  while (!names_.insert(name).second) {
    int& number = last_numbers_.try_emplace(std::string(wanted), 1).first->second;
    name = fmt::format("{}.{}", wanted, ++number);
  }
  return name;
}

Result<std::string> NetworkBuilder::add_view(const std::string& source, const Dims& dims) {
  const auto known = views_.find({source, dims});
  if (known != views_.end()) return known->second;
  const std::string name = make_name(source + ".view");
  ops::LayerDefinition view{.name = name, .op = "", .inputs = {source}, .reshape = dims};
  layer_numbers_.emplace(name, layers_.size());
  layers_.push_back({.definition = std::move(view), .flops = 0, .node = node_});
  views_.emplace(ViewKey(source, dims), name);
  new_views_.emplace_back(source, dims);
  return name;
}

// Returns the name of the layer, view or input with the elements of a value in its sizes.
Result<std::string> NetworkBuilder::find_source(const Value& value) {
  const Dims dims = seen_dims(value.dims);
  const auto count = ops::element_count(dims);
  if (!count || *count == 0) return Error{"a tensor has no elements", "", ""};
  if (value.origin == Value::Origin::layer) {
    if (dims == value.source_dims) return value.source;
    return add_view(value.source, dims);
  }
  if (value.is_after_layers) has_gap_ = true;
  auto known = input_numbers_.find(value.source);
  if (known == input_numbers_.end()) {
    known = input_numbers_.emplace(value.source, inputs_.size()).first;
    new_inputs_.push_back(value.source);
    inputs_.push_back({make_name(tidy_name(value.source)),
                       seen_dims(value.is_constant() ? value.dims : value.source_dims)});
  }
  const ops::InputDefinition& input = inputs_[known->second];
  if (input.sizes == dims) return input.name;
  return add_view(input.name, dims);
}

Result<Value> NetworkBuilder::add(std::string_view op_name, const LayerParameters& parameters,
                                  const std::vector<Value>& inputs) {
  const ops::Operator* op = ops::find_operator(op_name);
  std::vector<std::string> sources;
  std::vector<Dims> dims;
  for (const Value& input : inputs) {
    if (!has_layer_type(input.type) && !takes_indices(op_name, sources.size()))
      return Error{fmt::format("its operand is {}: layers do not compute positions or masks",
                               type_name(input.type)),
                   "", ""};
    BENCH_ASSIGN_OR_RETURN(std::string source, find_source(input));
    sources.push_back(std::move(source));
    dims.push_back(seen_dims(input.dims));
  }
  ops::ParameterSet written(op->parameters);
  for (const auto& [name, value] : parameters) {
    BENCH_RETURN_IF_ERROR(ops::check_value(*ops::find_parameter(op->parameters, name), value));
    written.set(name, value);
  }
  BENCH_ASSIGN_OR_RETURN(ops::ParameterSet complete, ops::infer_parameters(*op, written, dims));
  ops::ProblemRequest request{.op = op, .parameters = std::move(complete)};
  BENCH_ASSIGN_OR_RETURN(const ops::Problem problem, ops::make_problem(std::move(request)));
  const std::string name = make_name(node_name_);
  layer_numbers_.emplace(name, layers_.size());
  layers_.push_back({.definition = {.name = name,
                                    .op = std::string(op_name),
                                    .parameters = std::move(written),
                                    .inputs = std::move(sources)},
                     .flops = problem.work.flops,
                     .node = node_,
                     .has_parameters = std::ranges::any_of(problem.tensors, ops::is_learned)});
  Value result;
  result.origin = Value::Origin::layer;
  const bool is_product = op_name == "gemm" || op_name == "conv";
  result.type = is_product && !is_floating(inputs.front().type) ? kFloat : inputs.front().type;
  result.dims = problem.output().dims;
  result.source = name;
  result.source_dims = result.dims;
  return result;
}

Result<Value> NetworkBuilder::add_unary(std::string_view function, const Value& input,
                                        LayerParameters coefficients) {
  coefficients.insert(coefficients.begin(), {"function", std::string(function)});
  BENCH_ASSIGN_OR_RETURN(Value result, add("pointwise", coefficients, {input}));
  return with_dims(std::move(result), input.dims);
}

Result<Value> NetworkBuilder::add_binary(std::string_view function, const Value& a,
                                         const Value& b) {
  const auto dims = broadcast_dims(a.dims, b.dims);
  if (!dims) return Error{"the operands do not broadcast", "", ""};
  const bool is_swapped = a.dims != *dims && b.dims == *dims && may_swap(function);
  const LayerParameters parameters = {{"function", std::string(function)}};
  BENCH_ASSIGN_OR_RETURN(Value result,
                         add("pointwise", parameters,
                             is_swapped ? std::vector<Value>{b, a} : std::vector<Value>{a, b}));
  return with_dims(std::move(result), *dims);
}

Result<Value> NetworkBuilder::add_permutation(const Value& input,
                                              const std::vector<std::int64_t>& axes) {
  Dims dims;
  std::vector<std::int64_t> moved;  // axes with more than one index, in their new order
  for (const std::int64_t axis : axes) {
    const std::int64_t size = input.dims[static_cast<std::size_t>(axis)];
    dims.push_back(size);
    if (size != 1) moved.push_back(axis);
  }
  if (std::ranges::is_sorted(moved)) return with_dims(input, std::move(dims));
  BENCH_ASSIGN_OR_RETURN(Value result, add("reorder", {{"permutation", axes}}, {input}));
  return with_dims(std::move(result), std::move(dims));
}

void NetworkBuilder::mark_integers(const Value& result, IntegerProduct integers) {
  const auto layer = layer_numbers_.find(result.source);
  if (layer != layer_numbers_.end()) layers_[layer->second].integers = std::move(integers);
}

std::optional<IntegerProduct>* NetworkBuilder::integers_of_layer(const Value& value) {
  if (value.origin != Value::Origin::layer) return nullptr;
  const auto layer = layer_numbers_.find(value.source);
  return layer == layer_numbers_.end() ? nullptr : &layers_[layer->second].integers;
}

ops::NetworkDefinition NetworkBuilder::take(std::string name,
                                            std::span<const Value> results) const {
  ops::NetworkDefinition network;
  network.name = std::move(name);
  std::set<std::string, std::less<>> read;
  for (const BuiltLayer& layer : layers_) {
    read.insert(layer.definition.inputs.begin(), layer.definition.inputs.end());
    network.layers.push_back(layer.definition);
  }
  for (const ops::InputDefinition& input : inputs_)
    if (read.contains(input.name)) network.inputs.push_back(input);
  const auto add_output = [&](const std::string& layer) {
    if (std::ranges::find(network.outputs, layer) == network.outputs.end())
      network.outputs.push_back(layer);
  };
  for (const Value& result : results)
    if (result.origin == Value::Origin::layer) add_output(result.source);
  for (const BuiltLayer& layer : layers_)
    if (!read.contains(layer.definition.name)) add_output(layer.definition.name);
  return network;
}

}  // namespace bench::onnx
