// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/chain.hpp"

#include "ops/onednn/guard.hpp"
#include "ops/onednn/kernels.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/primitive.hpp"
#include "ops/onednn/support.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>

namespace bench::ops {
namespace {

using dnnl::memory;

constexpr std::string_view kReorder = "reorder";

// Returns the last node that reads the result of each node. Outputs of the network are read after
// all nodes.
std::vector<std::size_t> last_readers(const Network& network) {
  std::vector<std::size_t> last(network.nodes.size(), 0);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    for (const Source& source : network.nodes[i].sources) {
      if (source.kind == Source::Kind::node) last[source.index] = i;
    }
  }
  for (const Source& output : network.outputs) last[output.index] = network.nodes.size();
  return last;
}

constexpr std::string_view kOwnLayouts =
    "its kernel has its own layouts, but a network's layer needs plain tensors";

BackendError refuse(const Node& node, std::string_view why) {
  return {BackendError::Kind::unsupported, fmt::format("{}: {}", node.name, why)};
}

Result<std::unique_ptr<Kernel>, BackendError> make_layer(const KernelMaker& maker,
                                                         const Node& node) {
  auto made = maker(node.problem);
  if (!made) return BackendError{made.error().kind, node.name + ": " + made.error().reason};
  return made;
}

// Wraps a kernel as a primitive that takes plain activations. `kernel` may be null: only a worker
// has it.
std::unique_ptr<OnednnPrimitive> wrap_kernel(const Problem& problem,
                                             std::unique_ptr<Kernel> kernel) {
  auto primitive = std::make_unique<OnednnPrimitive>();
  primitive->kind = problem.op->name;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const memory::desc plain = row_major_desc(tensor.dims, onednn_type(tensor.dtype));
    primitive->tensors.push_back({.argument = static_cast<int>(i), .plain = plain, .desc = plain});
  }
  if (kernel == nullptr) return primitive;
  primitive->implementation = kernel->implementation();
  primitive->foreign = std::move(kernel);
  return primitive;
}

class ChainBuilder {
 public:
  ChainBuilder(OnednnContext& context, const Network& network, const LayerMakers& makers)
      : context_(context),
        network_(network),
        makers_(makers),
        last_readers_(last_readers(network)) {}

  Result<Chain, BackendError> build();

 private:
  Result<Done, BackendError> add_node(std::size_t node);
  CreatedPrimitive create(std::size_t node, ResidualAdd residual);
  CreatedPrimitive create_foreign(const Node& node, ResidualAdd residual) const;
  CreatedPrimitive create_parts(Node node) const;
  bool has_plain_activations(const Kernel& kernel, const Node& node) const;
  std::vector<memory::desc> collect_producer_descs(const Node& node) const;
  InputLayouts input_layouts(const Node& node) const;
  std::optional<std::size_t> find_in_place_residual(std::size_t node) const;
  Result<Done, BackendError> add_inputs(std::size_t node, const OnednnPrimitive& primitive,
                                        std::optional<std::size_t> residual, ChainStep& step);
  void add_outputs(std::size_t node, const OnednnPrimitive& primitive,
                   std::optional<std::size_t> in_place_value, ChainStep& step);
  void add_demanded(const OnednnPrimitive& primitive, ChainStep& step) const;
  Result<Done, BackendError> add_workspace(std::size_t node, const OnednnPrimitive& primitive,
                                           ChainStep& step);
  void add_preparation(std::size_t node, const OnednnPrimitive& primitive, std::size_t workspace);
  void add_parameters();
  // Returns the value of a parameter that several nodes read, nullopt for one that a single
  // primitive has in its own layout.
  std::optional<std::size_t> shared_parameter(const Source& source) const {
    return source.kind == Source::Kind::parameter ? parameters_[source.index] : std::nullopt;
  }
  std::size_t value_index(const Source& source) const {
    if (const auto parameter = shared_parameter(source)) return *parameter;
    return source.kind == Source::Kind::input ? inputs_[source.index]
                                              : results_[source.index][source.output];
  }

  std::size_t add_storage(ChainStorage::Kind kind, const memory::desc& desc);
  std::size_t add_value(const memory::desc& desc, std::size_t storage);
  std::size_t new_value(const memory::desc& desc);
  std::size_t convert_layout(std::size_t node, std::size_t value,
                             const memory::desc& required_desc);
  std::size_t view_as_stored(std::size_t node, std::size_t value, const memory::desc& plain);
  std::size_t find_or_add_view(std::size_t value, const memory::desc& required_desc);
  std::size_t find_or_add_reorder(std::size_t node, std::size_t value,
                                  const memory::desc& required_desc);
  std::optional<std::size_t> find_derived(std::size_t value,
                                          const memory::desc& required_desc) const;
  void finish_outputs();
  void plan_storages();

  OnednnContext& context_;
  const Network& network_;
  const LayerMakers& makers_;
  std::vector<std::size_t> last_readers_;
  std::vector<std::size_t> inputs_;                     // values of the network's inputs
  std::vector<std::optional<std::size_t>> parameters_;  // values of the shared parameters
  std::vector<std::vector<std::size_t>> results_;       // values of the nodes, by output
  std::map<std::string, std::size_t> workspaces_;       // values, by layer
  // Views and reordered copies created so far. A residual that an add in place overwrites is never
  // requested again, because nothing reads it afterwards.
  struct Derived {
    std::size_t from;
    std::size_t to;
  };
  std::vector<Derived> derived_;
  Chain chain_;
};

std::size_t ChainBuilder::add_storage(ChainStorage::Kind kind, const memory::desc& desc) {
  chain_.storages.push_back(
      {.kind = kind, .life = {.bytes = static_cast<std::int64_t>(desc.get_size())}, .index = 0});
  return chain_.storages.size() - 1;
}

std::size_t ChainBuilder::add_value(const memory::desc& desc, std::size_t storage) {
  std::int64_t& bytes = chain_.storages[storage].life.bytes;
  bytes = std::max(bytes, static_cast<std::int64_t>(desc.get_size()));
  chain_.values.push_back({desc, storage});
  return chain_.values.size() - 1;
}

std::size_t ChainBuilder::new_value(const memory::desc& desc) {
  return add_value(desc, add_storage(ChainStorage::Kind::internal, desc));
}

// Returns the layouts of the node's producers, in the sizes of the node's problem; and for a
// gradient the layout of what it is the gradient of.
std::vector<memory::desc> ChainBuilder::collect_producer_descs(const Node& node) const {
  constexpr std::string_view kDiff = "diff_";
  std::vector<memory::desc> descs(node.problem.tensors.size());
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    if (node.sources[i].kind == Source::Kind::parameter) continue;
    const Tensor& tensor = node.problem.tensors[i];
    const memory::desc& desc = chain_.values[value_index(node.sources[i])].desc;
    if (desc.get_data_type() != onednn_type(tensor.dtype)) continue;
    descs[i] = desc.get_dims() == tensor.dims ? desc : plain_desc(tensor.dims, tensor.dtype);
  }
  for (std::size_t i = node.sources.size(); i < descs.size(); ++i) {
    const std::string& name = node.problem.tensors[i].name;
    if (!name.starts_with(kDiff)) continue;
    const std::string_view of = std::string_view(name).substr(kDiff.size());
    const auto tensor = std::ranges::find(node.problem.tensors, of, &Tensor::name);
    if (tensor == node.problem.tensors.end()) continue;
    descs[i] = descs[static_cast<std::size_t>(tensor - node.problem.tensors.begin())];
  }
  return descs;
}

InputLayouts ChainBuilder::input_layouts(const Node& node) const {
  InputLayouts layouts;
  const std::vector<memory::desc> descs = collect_producer_descs(node);
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    if (!descs[i].is_zero()) layouts[node.problem.tensors[i].name] = format_layout(descs[i]);
  }
  return layouts;
}

// Returns the tensor that the node's result may overwrite: the residual of its only add, if nothing
// reads it afterwards or at the same time.
std::optional<std::size_t> ChainBuilder::find_in_place_residual(std::size_t index) const {
  const Node& node = network_.nodes[index];
  if (std::ranges::count(node.problem.post_ops, kAddPostOp, &PostOp::function) != 1)
    return std::nullopt;
  const std::size_t residual = tensor_index(node.problem, "residual");
  const Source source = node.sources[residual];
  if (source.kind != Source::Kind::node || last_readers_[source.index] != index) {
    return std::nullopt;
  }
  if (std::ranges::count(node.sources, source) != 1) return std::nullopt;
  const memory::desc& desc = chain_.values[value_index(source)].desc;
  const Tensor& output = node.problem.output();
  const bool is_compatible =
      desc.get_dims() == output.dims && desc.get_data_type() == onednn_type(output.dtype);
  return is_compatible ? std::optional(residual) : std::nullopt;
}

CreatedPrimitive ChainBuilder::create(std::size_t index, ResidualAdd residual) {
  const Node& node = network_.nodes[index];
  const OnednnKernelEntry* entry = find_onednn_kernel(node.problem.op->name);
  const auto create_own = [&] {
    return guarded(node.name + ": " + describe(node.problem), [&]() -> CreatedPrimitive {
      const auto workspace = network_.mode == Mode::training && node.pass == Pass::forward
                                 ? ForwardWorkspace::kept
                                 : ForwardWorkspace::none;
      return entry->create(context_,
                           {node.problem, collect_producer_descs(node), residual, workspace});
    });
  };
  if (entry == nullptr) return create_foreign(node, residual);
  if (entry->parts != nullptr) return create_parts(node);
  const auto& backends = node.problem.op->cpu;
  if (!makers_.foreign || backends.size() < 2) return create_own();
  const bool is_own_first = backends.front() == kOnOnednn[0];
  auto first = is_own_first ? create_own() : create_foreign(node, residual);
  if (first || first.error().kind != BackendError::Kind::unsupported) return first;
  auto second = is_own_first ? create_foreign(node, residual) : create_own();
  return second ? std::move(second) : std::move(first);
}

CreatedPrimitive ChainBuilder::create_foreign(const Node& node, ResidualAdd residual) const {
  if (residual == ResidualAdd::in_place) return refuse(node, "cannot add a residual in place");
  assert(makers_.foreign && "the backend has checked that such layers have a maker");
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, make_layer(makers_.foreign, node));
  if (kernel != nullptr && !kernel->takes_plain()) return refuse(node, kOwnLayouts);
  return wrap_kernel(node.problem, std::move(kernel));
}

// The operators of such kernels take no post-ops, so there is no residual. A parameter that other
// nodes read too, as in training its gradients and the optimizer, stays plain: as an input.
CreatedPrimitive ChainBuilder::create_parts(Node node) const {
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    if (shared_parameter(node.sources[i])) node.problem.tensors[i].role = TensorRole::input;
  }
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, make_layer(makers_.parts, node));
  if (kernel != nullptr && !has_plain_activations(*kernel, node)) return refuse(node, kOwnLayouts);
  return wrap_kernel(node.problem, std::move(kernel));
}

// Returns whether the kernel's own layouts are only those of parameters that no other node reads.
bool ChainBuilder::has_plain_activations(const Kernel& kernel, const Node& node) const {
  for (std::size_t i = 0; i < node.problem.tensors.size(); ++i) {
    const bool is_own_parameter = i < node.sources.size() &&
                                  node.sources[i].kind == Source::Kind::parameter &&
                                  !shared_parameter(node.sources[i]);
    if (kernel.converts_layout(i) && !is_own_parameter) return false;
  }
  return true;
}

// Returns the view or reordered copy of the value that already has the layout, so that a result is
// reordered once even if several nodes need it in that layout.
std::optional<std::size_t> ChainBuilder::find_derived(std::size_t value,
                                                      const memory::desc& required_desc) const {
  for (const Derived& earlier : derived_) {
    if (earlier.from == value && chain_.values[earlier.to].desc == required_desc) return earlier.to;
  }
  return std::nullopt;
}

std::size_t ChainBuilder::find_or_add_view(std::size_t value, const memory::desc& required_desc) {
  if (const auto existing_value = find_derived(value, required_desc)) return *existing_value;
  derived_.push_back({value, add_value(required_desc, chain_.values[value].storage)});
  return derived_.back().to;
}

std::size_t ChainBuilder::find_or_add_reorder(std::size_t node, std::size_t value,
                                              const memory::desc& required_desc) {
  if (const auto existing_value = find_derived(value, required_desc)) return *existing_value;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc from = chain_.values[value].desc;
  const auto description = context_.call("dnnl_reorder_primitive_desc_create", [&] {
    return dnnl::reorder::primitive_desc(context_.engine(), from, context_.engine(), required_desc,
                                         attributes);
  });
  const std::size_t result = new_value(required_desc);
  chain_.steps.push_back(
      {.node = node,
       .kind = std::string(kReorder),
       .implementation = description.impl_info_str(),
       .layouts = format_layout(from) + " -> " + format_layout(required_desc),
       .input_layouts = {},
       .moved = MovedTensor{required_desc.get_dims(), network_.nodes[node].problem.dtype},
       .primitive = context_.create(description),
       .foreign = nullptr,
       .scratchpad = description.scratchpad_desc(),
       .values = {{DNNL_ARG_FROM, value}, {DNNL_ARG_TO, result}},
       .parameters = {}});
  derived_.push_back({value, result});
  return result;
}

// Returns the value in the layout that a primitive requires: itself, a view of it, or a reordered
// copy. If the sizes differ (a matrix product after images), it is a view of the row-major form.
std::size_t ChainBuilder::convert_layout(std::size_t node, std::size_t value,
                                         const memory::desc& required_desc) {
  const memory::desc desc = chain_.values[value].desc;
  if (desc == required_desc) return value;
  if (same_order(desc, required_desc)) return find_or_add_view(value, required_desc);
  if (desc.get_dims() == required_desc.get_dims())
    return find_or_add_reorder(node, value, required_desc);
  const auto row_major = [&](const memory::desc& sizes) {
    return row_major_desc(sizes.get_dims(), desc.get_data_type());
  };
  const std::size_t plain = convert_layout(node, value, row_major(desc));
  return convert_layout(node, find_or_add_view(plain, row_major(required_desc)), required_desc);
}

// Returns the value as the primitive sees its plain form, which is `plain`: itself, or a view if
// the primitive's sizes are those of the transposed matrices.
std::size_t ChainBuilder::view_as_stored(std::size_t node, std::size_t value,
                                         const memory::desc& plain) {
  if (plain == row_major_desc(plain.get_dims(), plain.get_data_type())) return value;
  const memory::desc& desc = chain_.values[value].desc;
  const std::size_t row_major =
      convert_layout(node, value, row_major_desc(desc.get_dims(), desc.get_data_type()));
  return find_or_add_view(row_major, plain);
}

Result<Done, BackendError> ChainBuilder::add_inputs(std::size_t index,
                                                    const OnednnPrimitive& primitive,
                                                    std::optional<std::size_t> residual,
                                                    ChainStep& step) {
  const Node& node = network_.nodes[index];
  std::optional<std::size_t> in_place_value;
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    const OnednnTensor& tensor = primitive.tensors[i];
    const Source& source = node.sources[i];
    if (source.kind == Source::Kind::parameter && !shared_parameter(source)) {
      const bool is_packed = primitive.foreign != nullptr && primitive.foreign->converts_layout(i);
      chain_.parameters[source.index] = {.plain = tensor.plain,
                                         .desc = tensor.desc,
                                         .packer = is_packed ? primitive.foreign : nullptr,
                                         .tensor = i};
      step.parameters.emplace_back(*tensor.argument, source.index);
      continue;
    }
    if (!tensor.argument && residual != i) continue;  // only a preparation reads it
    const std::size_t stored = view_as_stored(index, value_index(source), tensor.plain);
    const std::size_t value = convert_layout(index, stored, tensor.desc);
    if (residual == i) {
      in_place_value = value;
    } else {
      step.values.emplace_back(*tensor.argument, value);
    }
  }
  add_outputs(index, primitive, in_place_value, step);
  add_demanded(primitive, step);
  for (const auto& [argument, desc] : primitive.discarded) {
    step.values.emplace_back(argument, new_value(desc));
  }
  return add_workspace(index, primitive, step);
}

void ChainBuilder::add_outputs(std::size_t index, const OnednnPrimitive& primitive,
                               std::optional<std::size_t> in_place_value, ChainStep& step) {
  results_.emplace_back();
  for (std::size_t i = network_.nodes[index].problem.input_count(); i < primitive.tensors.size();
       ++i) {
    const OnednnTensor& output = primitive.tensors[i];
    const std::size_t value = in_place_value
                                  ? add_value(output.desc, chain_.values[*in_place_value].storage)
                                  : new_value(output.desc);
    step.values.emplace_back(*output.argument, value);
    results_.back().push_back(value);
  }
}

// Gives arguments that the library demands but does not read the memory of their tensors.
void ChainBuilder::add_demanded(const OnednnPrimitive& primitive, ChainStep& step) const {
  for (const auto& [tensor, argument] : primitive.demanded) {
    const int other = *primitive.tensors[tensor].argument;
    const auto is_other = [&](const auto& pair) { return pair.first == other; };
    if (const auto value = std::ranges::find_if(step.values, is_other);
        value != step.values.end()) {
      step.values.emplace_back(argument, value->second);
    } else {
      step.parameters.emplace_back(argument,
                                   std::ranges::find_if(step.parameters, is_other)->second);
    }
  }
}

// The workspace of a forward primitive is a value that the backward primitive of its layer reads.
// If that has another one, as for other layouts, its forward pass runs again.
Result<Done, BackendError> ChainBuilder::add_workspace(std::size_t index,
                                                       const OnednnPrimitive& primitive,
                                                       ChainStep& step) {
  if (primitive.workspace.get_size() == 0) return Done{};
  const Node& node = network_.nodes[index];
  const auto kept = workspaces_.find(node.layer);
  if (node.pass != Pass::forward && kept != workspaces_.end() &&
      chain_.values[kept->second].desc == primitive.workspace) {
    step.values.emplace_back(DNNL_ARG_WORKSPACE, kept->second);
    return Done{};
  }
  const std::size_t workspace = new_value(primitive.workspace);
  step.values.emplace_back(DNNL_ARG_WORKSPACE, workspace);
  if (node.pass == Pass::forward) workspaces_.emplace(node.layer, workspace);
  if (primitive.preparation) add_preparation(index, primitive, workspace);
  return Done{};
}

void ChainBuilder::add_preparation(std::size_t index, const OnednnPrimitive& primitive,
                                   std::size_t workspace) {
  const OnednnPreparation& preparation = *primitive.preparation;
  ChainStep step{
      .node = index,
      .kind = primitive.kind,
      .implementation = primitive.implementation,
      .layouts = format_layout(preparation.output),
      .input_layouts = {},
      .moved = std::nullopt,
      .primitive = preparation.primitive,
      .foreign = nullptr,
      .scratchpad = preparation.scratchpad,
      .values = {{DNNL_ARG_DST, new_value(preparation.output)}, {DNNL_ARG_WORKSPACE, workspace}},
      .parameters = {}};
  for (const auto& [tensor, argument] : preparation.inputs) {
    const Source& source = network_.nodes[index].sources[tensor];
    step.values.emplace_back(
        argument, convert_layout(index, value_index(source), primitive.tensors[tensor].desc));
  }
  chain_.steps.push_back(std::move(step));
}

Result<Done, BackendError> ChainBuilder::add_node(std::size_t index) {
  const Node& node = network_.nodes[index];
  std::optional<std::size_t> residual = find_in_place_residual(index);
  auto created = create(index, residual ? ResidualAdd::in_place : ResidualAdd::separate);
  // Not every primitive that adds a tensor can add to its destination.
  if (!created && residual && created.error().kind == BackendError::Kind::unsupported) {
    residual.reset();
    created = create(index, ResidualAdd::separate);
  }
  BENCH_ASSIGN_OR_RETURN(const std::unique_ptr<OnednnPrimitive> primitive, std::move(created));
  ChainStep step{.node = index,
                 .kind = primitive->kind,
                 .implementation = primitive->implementation,
                 .layouts = format_layouts(node.problem, *primitive),
                 .input_layouts = input_layouts(node),
                 .moved = std::nullopt,
                 .primitive = primitive->primitive,
                 .foreign = primitive->foreign,
                 .scratchpad = primitive->scratchpad,
                 .values = {},
                 .parameters = {}};
  BENCH_RETURN_IF_ERROR(add_inputs(index, *primitive, residual, step));
  chain_.steps.push_back(std::move(step));
  return Done{};
}

void ChainBuilder::finish_outputs() {
  const std::size_t first = network_.tensors.size() - network_.outputs.size();
  for (std::size_t i = 0; i < network_.outputs.size(); ++i) {
    const Source& result = network_.outputs[i];
    const Tensor& tensor = network_.tensors[first + i];
    chain_.outputs.push_back(plain_desc(tensor.dims, tensor.dtype));
    const std::size_t value =
        convert_layout(result.index, value_index(result), chain_.outputs.back());
    ChainStorage& storage = chain_.storages[chain_.values[value].storage];
    assert(storage.kind == ChainStorage::Kind::internal);
    storage.kind = ChainStorage::Kind::output;
    storage.index = i;
  }
}

// Computes the lives of the storages over the steps, then plans buffers for the internal ones.
void ChainBuilder::plan_storages() {
  std::vector<bool> is_seen(chain_.storages.size(), false);
  std::vector<std::size_t> internal;
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ChainStep& step = chain_.steps[i];
    chain_.scratchpad_bytes = std::max(chain_.scratchpad_bytes, step.scratchpad.get_size());
    for (const auto& [argument, value] : step.values) {
      const std::size_t storage = chain_.values[value].storage;
      StorageLife& life = chain_.storages[storage].life;
      if (!is_seen[storage]) {
        is_seen[storage] = true;
        life.first = i;
        if (chain_.storages[storage].kind == ChainStorage::Kind::internal) {
          internal.push_back(storage);
        }
      }
      life.last = i;
    }
  }
  std::vector<StorageLife> lives;
  for (const std::size_t storage : internal) lives.push_back(chain_.storages[storage].life);
  BufferPlan buffers = plan_buffers(lives);
  for (std::size_t i = 0; i < internal.size(); ++i) {
    chain_.storages[internal[i]].index = buffers.buffer_of[i];
  }
  chain_.buffers = std::move(buffers.sizes);
}

void ChainBuilder::add_parameters() {
  const std::vector<bool> shared = find_shared_parameters(network_);
  chain_.parameters.resize(shared.size());
  parameters_.resize(shared.size());
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (!shared[i]) continue;
    const Tensor& tensor = network_.tensors[network_.input_count() + i];
    const memory::desc plain = plain_desc(tensor.dims, tensor.dtype);
    chain_.parameters[i] = {.plain = plain, .desc = plain};
    const std::size_t storage = add_storage(ChainStorage::Kind::parameter, plain);
    chain_.storages[storage].index = i;
    parameters_[i] = add_value(plain, storage);
  }
}

Result<Chain, BackendError> ChainBuilder::build() {
  add_parameters();
  for (std::size_t i = 0; i < network_.input_count(); ++i) {
    const Tensor& input = network_.tensors[i];
    chain_.inputs.push_back(plain_desc(input.dims, input.dtype));
    const std::size_t storage = add_storage(ChainStorage::Kind::input, chain_.inputs.back());
    chain_.storages[storage].index = i;
    inputs_.push_back(add_value(chain_.inputs.back(), storage));
  }
  for (std::size_t i = 0; i < network_.nodes.size(); ++i) {
    BENCH_RETURN_IF_ERROR(add_node(i));
  }
  finish_outputs();
  plan_storages();
  return std::move(chain_);
}

}  // namespace

Bytes ChainParameter::size() const {
  if (packer != nullptr) return packer->buffers()[tensor].size;
  return {static_cast<std::int64_t>(desc.get_size())};
}

Result<Chain, BackendError> build_chain(OnednnContext& context, const Network& network,
                                        const LayerMakers& makers) {
  return ChainBuilder(context, network, makers).build();
}

}  // namespace bench::ops
