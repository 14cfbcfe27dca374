// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/network/network_chain.hpp"

#include "ops/backend/chain_planner.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Place = ChainPlace;

// Sizes, type and layout of a value.
struct ArrangedForm {
  Dims dims;
  DataType dtype;
  MemoryLayout layout;
  friend bool operator==(const ArrangedForm&, const ArrangedForm&) = default;
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

class NetworkChainBuilder final : ChainPlanner<ArrangedForm> {
 public:
  NetworkChainBuilder(const Network& network, const KernelMaker& maker, const ReorderMaker& reorder)
      : ChainPlanner(network), maker_(maker), reorder_(reorder), layout_(network_layout(network)) {}

  Result<KernelChain, BackendError> build();

 private:
  using Form = ArrangedForm;
  using KernelResult = Result<std::unique_ptr<Kernel>, BackendError>;
  KernelResult make_kernel(const Node& node) const;

  Form input_form(std::size_t input) const override {
    const Tensor& tensor = network_.tensors[input];
    return {tensor.dims, tensor.dtype, input_layout(network_, input)};
  }
  Form plain_form(const Tensor& tensor) const override {
    return {tensor.dims, tensor.dtype, MemoryLayout::plain};
  }
  Form row_major(const Form& sizes, const Form& type) const override {
    return {sizes.dims, type.dtype, MemoryLayout::plain};
  }
  bool same_order(const Form& a, const Form& b) const override {
    return a.dims == b.dims && cuda::same_order(a.dims, a.layout, b.layout);
  }
  // A kernel knows the size of its result, which its views do not increase.
  std::int64_t bytes(const Form& /*form*/) const override { return 0; }
  Planned reorder(std::size_t node, std::size_t value, const Form& required) override;
  Result<Done, BackendError> add_node(std::size_t index) override;

  Result<Place, BackendError> add_input(std::size_t index, std::size_t tensor,
                                        const Kernel& kernel);
  void place_values();
  void describe_inputs_and_outputs();
  void describe_input(std::size_t input);
  // Until place_values(), the number of an intermediate is that of its storage.
  Place place_of(std::size_t value) const { return intermediate_place(values_[value].storage); }

  const KernelMaker& maker_;
  const ReorderMaker& reorder_;
  MemoryLayout layout_;
  KernelChain chain_;
};

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

NetworkChainBuilder::Planned NetworkChainBuilder::reorder(std::size_t index, std::size_t value,
                                                          const Form& required) {
  const Node& node = network_.nodes[index];
  const Form from = values_[value].form;
  auto kernel = reorder_(from.dims, from.dtype, from.layout, required.layout);
  if (!kernel) return prefix_node_name(node, std::move(kernel).error());
  const std::size_t copy = add_value(required, (*kernel)->buffers()[1].size.count);
  chain_.steps.push_back({.node = node.name,
                          .kernel = *std::move(kernel),
                          .tensors = {place_of(value), place_of(copy)},
                          .kind = "reorder",
                          .input_layouts = {},
                          .moved = MovedTensor{from.dims, from.dtype}});
  return copy;
}

Result<Place, BackendError> NetworkChainBuilder::add_input(std::size_t index, std::size_t tensor,
                                                           const Kernel& kernel) {
  const Node& node = network_.nodes[index];
  const Source& source = node.sources[tensor];
  if (is_own_parameter(source)) {
    return Place{Place::Kind::tensor, network_.input_count() + source.index};
  }
  const Form required = {node.problem.tensors[tensor].dims, form_of(source).dtype,
                         buffer_layout(kernel.buffers()[tensor])};
  BENCH_ASSIGN_OR_RETURN(const std::size_t value, arrange(index, value_of(source), required));
  return place_of(value);
}

Result<Done, BackendError> NetworkChainBuilder::add_node(std::size_t index) {
  const Node& node = network_.nodes[index];
  const Problem& problem = node.problem;
  const std::size_t inputs = problem.input_count();
  InputLayouts input_layouts;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (node.sources[i].kind == Source::Kind::parameter) continue;
    input_layouts[problem.tensors[i].name] = to_string(form_of(node.sources[i]).layout);
  }
  auto created = make_kernel(node);
  if (!created) return prefix_node_name(node, std::move(created).error());
  std::unique_ptr<Kernel> kernel = *std::move(created);
  std::vector<Place> places;
  for (std::size_t i = 0; i < inputs; ++i) {
    BENCH_ASSIGN_OR_RETURN(const Place place, add_input(index, i, *kernel));
    places.push_back(place);
  }
  for (std::size_t i = inputs; i < problem.tensors.size(); ++i) {
    const KernelBuffer& result = kernel->buffers()[i];
    const Tensor& output = problem.tensors[i];
    add_result(add_value({output.dims, output.dtype, buffer_layout(result)}, result.size.count));
    places.push_back(place_of(values_.size() - 1));
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

// Assigns the storages to the tensors of the chain, and numbers the intermediate results.
void NetworkChainBuilder::place_values() {
  const std::size_t begins[] = {0, network_.input_count(), first_output()};  // by kind
  std::vector<Place> places;
  for (const ChainStorage& storage : storages_) {
    if (storage.kind == ChainStorage::Kind::internal) {
      places.push_back(intermediate_place(chain_.intermediates.size()));
      chain_.intermediates.push_back(storage.life.bytes);
    } else {
      places.push_back(
          tensor_place(begins[static_cast<std::size_t>(storage.kind)] + storage.index));
    }
  }
  for (ChainStep& step : chain_.steps) {
    for (Place& place : step.tensors) {
      if (place.kind == Place::Kind::intermediate) place = places[place.number];
    }
  }
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
  for (const ChainStorage& storage : storages_) {  // parameters that several nodes read
    if (storage.kind != ChainStorage::Kind::parameter) continue;
    const std::size_t number = network_.input_count() + storage.index;
    chain_.tensors[number] = plain_tensor(BufferRole::weights, network_.tensors[number]);
  }
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

Result<KernelChain, BackendError> NetworkChainBuilder::build() {
  chain_.tensors.resize(network_.tensors.size());
  BENCH_RETURN_IF_ERROR(plan_values());
  place_values();
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
