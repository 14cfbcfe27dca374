// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/network/network_chain.hpp"

#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Place = ChainPlace;

// The network's input, a result, or a view or reordered copy of one.
struct Value {
  Dims dims;
  DataType dtype;
  MemoryLayout layout;
  Place place;
};

MemoryLayout buffer_layout(const KernelBuffer& buffer) {
  return buffer.layout == to_string(MemoryLayout::nhwc) ? MemoryLayout::nhwc : MemoryLayout::plain;
}

Layout to_problem_layout(MemoryLayout layout) {
  return layout == MemoryLayout::nhwc ? Layout::nhwc : Layout::nchw;
}

MemoryLayout opposite_layout(MemoryLayout layout) {
  return layout == MemoryLayout::nhwc ? MemoryLayout::plain : MemoryLayout::nhwc;
}

bool has_images(const Problem& problem) {
  return problem.output().dims.size() > 2 && problem.op->name != "gemm";
}

bool may_choose_layout(const Problem& problem) {
  return has_images(problem) && problem.layout == Layout::any;
}

Problem in_layout(Problem problem, MemoryLayout layout) {
  problem.layout = to_problem_layout(layout);
  return problem;
}

// Returns the layout in which an input of the network is given.
MemoryLayout input_layout(const Network& network, std::size_t input) {
  const bool is_nhwc =
      network.input_layout == Layout::nhwc && network.tensors[input].dims.size() > 2;
  return is_nhwc ? MemoryLayout::nhwc : MemoryLayout::plain;
}

BackendError prefix_node_name(const Node& node, BackendError error) {
  error.reason = node.name + ": " + error.reason;
  return error;
}

class NetworkChainBuilder {
 public:
  NetworkChainBuilder(const Network& network, const KernelMaker& maker, const ReorderMaker& reorder)
      : network_(network), maker_(maker), reorder_(reorder), layout_(network_layout(network)) {}

  Result<KernelChain, BackendError> build();

 private:
  using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;
  KernelResult make_kernel(const Node& node) const;
  Result<Done, BackendError> add_node(std::size_t index);
  Result<Place, BackendError> add_input(std::size_t index, std::size_t tensor,
                                        const Kernel& kernel);
  Result<std::size_t, BackendError> arrange_value(const Node& node, std::size_t value,
                                                  const Dims& dims, MemoryLayout layout);
  Result<std::size_t, BackendError> reorder_value(const Node& node, std::size_t value,
                                                  MemoryLayout layout);
  std::size_t add_view(std::size_t value, const Dims& dims);
  std::size_t add_derived(std::size_t from, Value value);
  Result<Done, BackendError> finish_output(std::size_t output);
  void describe_inputs_and_outputs();
  void describe_input(std::size_t input);
  Place add_intermediate(Bytes size);
  // The values of the network's inputs are the first ones.
  std::size_t value_index(const Source& source) const {
    if (source.kind == Source::Kind::parameter) return *parameters_[source.index];
    return source.kind == Source::Kind::input ? source.index
                                              : results_[source.index][source.output];
  }
  // Whether a node has the parameter for itself, in the layout of its kernel.
  bool is_own_parameter(const Source& source) const {
    return source.kind == Source::Kind::parameter && !parameters_[source.index];
  }
  void add_shared_parameters();
  std::size_t first_output() const { return network_.tensors.size() - network_.outputs.size(); }

  const Network& network_;
  const KernelMaker& maker_;
  const ReorderMaker& reorder_;
  MemoryLayout layout_;
  std::vector<Value> values_;
  // Indices in values_: of the parameters that several nodes read, which are plain, and of each
  // node's results.
  std::vector<std::optional<std::size_t>> parameters_;
  std::vector<std::vector<std::size_t>> results_;
  struct DerivedValue {
    std::size_t source, value;  // indices in values_
  };
  std::vector<DerivedValue> derived_values_;  // views and reordered copies created so far
  KernelChain chain_;
};

Place NetworkChainBuilder::add_intermediate(Bytes size) {
  chain_.intermediates.push_back(size.count);
  return {Place::Kind::intermediate, chain_.intermediates.size() - 1};
}

// Creates the kernel in the network's layout or, if no such kernel exists, in the other layout.
NetworkChainBuilder::KernelResult NetworkChainBuilder::make_kernel(const Node& node) const {
  if (!may_choose_layout(node.problem)) return maker_(node.problem);
  std::optional<BackendError> error;
  for (const MemoryLayout layout : {layout_, opposite_layout(layout_)}) {
    KernelResult kernel = maker_(in_layout(node.problem, layout));
    if (kernel || kernel.error().kind != BackendError::Kind::unsupported) return kernel;
    if (!error) error = std::move(kernel).error();
  }
  return *std::move(error);
}

std::size_t NetworkChainBuilder::add_derived(std::size_t from, Value value) {
  values_.push_back(std::move(value));
  derived_values_.push_back({from, values_.size() - 1});
  return values_.size() - 1;
}

Result<std::size_t, BackendError> NetworkChainBuilder::reorder_value(const Node& node,
                                                                     std::size_t value,
                                                                     MemoryLayout layout) {
  const Value from = values_[value];
  for (const DerivedValue& earlier : derived_values_) {
    const Value& candidate = values_[earlier.value];
    if (earlier.source == value && candidate.layout == layout && candidate.dims == from.dims) {
      return earlier.value;
    }
  }
  auto kernel = reorder_(from.dims, from.dtype, from.layout, layout);
  if (!kernel) return prefix_node_name(node, std::move(kernel).error());
  const Place place = add_intermediate((*kernel)->buffers()[1].size);
  chain_.steps.push_back({.node = node.name,
                          .kernel = *std::move(kernel),
                          .tensors = {from.place, place},
                          .kind = "reorder",
                          .input_layouts = {},
                          .moved = MovedTensor{from.dims, from.dtype}});
  return add_derived(value, {from.dims, from.dtype, layout, place});
}

std::size_t NetworkChainBuilder::add_view(std::size_t value, const Dims& dims) {
  Value view = values_[value];
  view.dims = dims;
  return add_derived(value, std::move(view));
}

// Returns the index of the value with these sizes in this layout: `value` itself, a view of it, or
// a reordered copy. Adds the views and reorders that are needed. A view with other sizes requires
// the plain form.
Result<std::size_t, BackendError> NetworkChainBuilder::arrange_value(const Node& node,
                                                                     std::size_t value,
                                                                     const Dims& dims,
                                                                     MemoryLayout layout) {
  const Value from = values_[value];
  if (from.dims == dims) {
    if (same_order(dims, from.layout, layout)) return value;
    return reorder_value(node, value, layout);
  }
  BENCH_ASSIGN_OR_RETURN(const std::size_t plain,
                         arrange_value(node, value, from.dims, MemoryLayout::plain));
  const std::size_t view = add_view(plain, dims);
  // `plain` may be an nhwc value whose elements are in plain order. Its new sizes hold for the
  // plain layout only.
  values_[view].layout = MemoryLayout::plain;
  return arrange_value(node, view, dims, layout);
}

Result<Place, BackendError> NetworkChainBuilder::add_input(std::size_t index, std::size_t tensor,
                                                           const Kernel& kernel) {
  const Node& node = network_.nodes[index];
  const Source& source = node.sources[tensor];
  if (is_own_parameter(source)) {
    return Place{Place::Kind::tensor, network_.input_count() + source.index};
  }
  const Dims& dims = node.problem.tensors[tensor].dims;
  BENCH_ASSIGN_OR_RETURN(
      const std::size_t value,
      arrange_value(node, value_index(source), dims, buffer_layout(kernel.buffers()[tensor])));
  return values_[value].place;
}

Result<Done, BackendError> NetworkChainBuilder::add_node(std::size_t index) {
  const Node& node = network_.nodes[index];
  const Problem& problem = node.problem;
  const std::size_t inputs = problem.input_count();
  InputLayouts input_layouts;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (node.sources[i].kind == Source::Kind::parameter) continue;
    const Value& value = values_[value_index(node.sources[i])];
    input_layouts[problem.tensors[i].name] = to_string(value.layout);
  }
  auto created = make_kernel(node);
  if (!created) return prefix_node_name(node, std::move(created).error());
  std::unique_ptr<Kernel> kernel = *std::move(created);
  std::vector<Place> places;
  for (std::size_t i = 0; i < inputs; ++i) {
    BENCH_ASSIGN_OR_RETURN(const Place place, add_input(index, i, *kernel));
    places.push_back(place);
  }
  results_.emplace_back();
  for (std::size_t i = inputs; i < problem.tensors.size(); ++i) {
    const KernelBuffer& result = kernel->buffers()[i];
    const Tensor& output = problem.tensors[i];
    places.push_back(add_intermediate(result.size));
    values_.push_back({output.dims, output.dtype, buffer_layout(result), places.back()});
    results_.back().push_back(values_.size() - 1);
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    if (!is_own_parameter(node.sources[i])) continue;
    chain_.tensors[places[i].number] = {kernel->buffers()[i], std::pair(chain_.steps.size(), i)};
    chain_.tensors[places[i].number].buffer.role = BufferRole::weights;
  }
  chain_.steps.push_back({node.name, std::move(kernel), std::move(places),
                          std::string(problem.op->name), input_layouts});
  return Done{};
}

// Stores a result in the network's output instead of an intermediate buffer.
Result<Done, BackendError> NetworkChainBuilder::finish_output(std::size_t output) {
  const std::size_t tensor = first_output() + output;
  const Source& result = network_.outputs[output];
  BENCH_ASSIGN_OR_RETURN(const std::size_t value,
                         arrange_value(network_.nodes[result.index], value_index(result),
                                       network_.tensors[tensor].dims, MemoryLayout::plain));
  const Place place = values_[value].place;
  assert(place.kind == Place::Kind::intermediate);
  const auto moved = [&](const Place& other) -> Place {
    if (other == place) return {Place::Kind::tensor, tensor};
    const bool is_behind = other.kind == Place::Kind::intermediate && other.number > place.number;
    return is_behind ? Place{other.kind, other.number - 1} : other;
  };
  for (ChainStep& step : chain_.steps) {
    for (Place& tensor_place : step.tensors) tensor_place = moved(tensor_place);
  }
  for (Value& each : values_) each.place = moved(each.place);
  chain_.intermediates.erase(chain_.intermediates.begin() +
                             static_cast<std::ptrdiff_t>(place.number));
  return Done{};
}

ChainTensor plain_tensor(BufferRole role, const Tensor& tensor) {
  return {{role, tensor.size(), tensor.dims.size() < 3 ? "plain" : "nchw"}};
}

// Describes the network's inputs and outputs. They are plain unless the network asks for inputs
// with channels innermost.
void NetworkChainBuilder::describe_inputs_and_outputs() {
  for (std::size_t i = first_output(); i < network_.tensors.size(); ++i) {
    chain_.tensors[i] = plain_tensor(BufferRole::output, network_.tensors[i]);
  }
  for (std::size_t i = 0; i < network_.input_count(); ++i) describe_input(i);
}

// The first step that reads an input with channels innermost converts the plain values.
void NetworkChainBuilder::describe_input(std::size_t index) {
  ChainTensor& input = chain_.tensors[index];
  const bool is_index = holds_indices(network_, index);
  input = plain_tensor(is_index ? BufferRole::index : BufferRole::input, network_.tensors[index]);
  if (input_layout(network_, index) == MemoryLayout::plain) return;
  const Place place = {Place::Kind::tensor, index};
  const auto reads = [&](const ChainStep& step) { return std::ranges::find(step.tensors, place); };
  const auto step = std::ranges::find_if(
      chain_.steps, [&](const ChainStep& each) { return reads(each) != each.tensors.end(); });
  if (step == chain_.steps.end()) return;
  const auto number = static_cast<std::size_t>(reads(*step) - step->tensors.begin());
  input = {step->kernel->buffers()[number],
           std::pair(static_cast<std::size_t>(step - chain_.steps.begin()), number)};
  input.buffer.role = BufferRole::input;
}

void NetworkChainBuilder::add_shared_parameters() {
  const std::vector<bool> shared = find_shared_parameters(network_);
  parameters_.resize(shared.size());
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (!shared[i]) continue;
    const std::size_t number = network_.input_count() + i;
    const Tensor& tensor = network_.tensors[number];
    chain_.tensors[number] = plain_tensor(BufferRole::weights, tensor);
    parameters_[i] = values_.size();
    values_.push_back(
        {tensor.dims, tensor.dtype, MemoryLayout::plain, {Place::Kind::tensor, number}});
  }
}

Result<KernelChain, BackendError> NetworkChainBuilder::build() {
  chain_.tensors.resize(network_.tensors.size());
  for (std::size_t i = 0; i < network_.input_count(); ++i) {
    const Tensor& input = network_.tensors[i];
    values_.push_back(
        {input.dims, input.dtype, input_layout(network_, i), {Place::Kind::tensor, i}});
  }
  add_shared_parameters();
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) BENCH_RETURN_IF_ERROR(add_node(i));
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    BENCH_RETURN_IF_ERROR(finish_output(i));
  }
  describe_inputs_and_outputs();
  return std::move(chain_);
}

}  // namespace

MemoryLayout network_layout(const Network& network) {
  constexpr std::int64_t kWordBytes = 4;
  const bool is_narrow = info(network.dtype).bytes < kWordBytes;
  const bool uses_tf32 = std::ranges::any_of(
      network.nodes, [](const Node& node) { return node.problem.math == Math::tf32; });
  const bool has_images = std::ranges::any_of(
      network.nodes, [](const Node& node) { return takes_images(*node.problem.op); });
  return has_images && (is_narrow || uses_tf32) ? MemoryLayout::nhwc : MemoryLayout::plain;
}

std::vector<Problem> preferred_problems(const Network& network) {
  const MemoryLayout layout = network_layout(network);
  std::vector<Problem> problems;
  for (const Node& node : network.nodes) {
    problems.push_back(may_choose_layout(node.problem) ? in_layout(node.problem, layout)
                                                       : node.problem);
  }
  return problems;
}

Result<KernelChain, BackendError> build_network_chain(const Network& network,
                                                      const KernelMaker& maker,
                                                      const ReorderMaker& reorder) {
  return NetworkChainBuilder(network, maker, reorder).build();
}

}  // namespace bench::ops::cuda
