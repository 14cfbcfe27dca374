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

class ChainBuilder final : ChainPlanner<memory::desc> {
 public:
  ChainBuilder(OnednnContext& context, const Network& network, const LayerMakers& makers)
      : ChainPlanner(network),
        context_(context),
        makers_(makers),
        last_readers_(last_readers(network)) {}

  Result<Chain, BackendError> build();

 private:
  memory::desc plain_form(const Tensor& tensor) const override {
    return plain_desc(tensor.dims, tensor.dtype);
  }
  memory::desc row_major(const memory::desc& sizes, const memory::desc& type) const override {
    return row_major_desc(sizes.get_dims(), type.get_data_type());
  }
  bool same_order(const memory::desc& a, const memory::desc& b) const override {
    return ops::same_order(a, b);
  }
  std::int64_t bytes(const memory::desc& desc) const override {
    return static_cast<std::int64_t>(desc.get_size());
  }
  Planned reorder(std::size_t node, std::size_t value, const memory::desc& required) override;
  Result<Done, BackendError> add_node(std::size_t node) override;

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
  Result<Done, BackendError> add_preparation(std::size_t node, const OnednnPrimitive& primitive,
                                             std::size_t workspace);
  std::size_t new_value(const memory::desc& desc) { return add_value(desc, bytes(desc)); }
  Planned view_as_stored(std::size_t node, std::size_t value, const memory::desc& plain);
  void plan_storages();

  OnednnContext& context_;
  const LayerMakers& makers_;
  std::vector<std::size_t> last_readers_;
  std::map<std::string, std::size_t> workspaces_;  // values, by layer
  Chain chain_;
};

// Returns the layouts of the node's producers, in the sizes of the node's problem; and for a
// gradient the layout of what it is the gradient of.
std::vector<memory::desc> ChainBuilder::collect_producer_descs(const Node& node) const {
  constexpr std::string_view kDiff = "diff_";
  std::vector<memory::desc> descs(node.problem.tensors.size());
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    if (node.sources[i].kind == Source::Kind::parameter) continue;
    const Tensor& tensor = node.problem.tensors[i];
    const memory::desc& desc = form_of(node.sources[i]);
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
  const memory::desc& desc = form_of(source);
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
    const Source& source = node.sources[i];
    if (source.kind == Source::Kind::parameter && !is_own_parameter(source))
      node.problem.tensors[i].role = TensorRole::input;
  }
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, make_layer(makers_.parts, node));
  if (kernel != nullptr && !has_plain_activations(*kernel, node)) return refuse(node, kOwnLayouts);
  return wrap_kernel(node.problem, std::move(kernel));
}

// Returns whether the kernel's own layouts are only those of parameters that no other node reads.
bool ChainBuilder::has_plain_activations(const Kernel& kernel, const Node& node) const {
  for (std::size_t i = 0; i < node.problem.tensors.size(); ++i) {
    const bool is_own = i < node.sources.size() && is_own_parameter(node.sources[i]);
    if (kernel.converts_layout(i) && !is_own) return false;
  }
  return true;
}

ChainBuilder::Planned ChainBuilder::reorder(std::size_t node, std::size_t value,
                                            const memory::desc& required_desc) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const memory::desc from = values_[value].form;
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
  return result;
}

// Returns the value as the primitive sees its plain form, which is `plain`: itself, or a view if
// the primitive's sizes are those of the transposed matrices.
ChainBuilder::Planned ChainBuilder::view_as_stored(std::size_t node, std::size_t value,
                                                   const memory::desc& plain) {
  if (plain == row_major_desc(plain.get_dims(), plain.get_data_type())) return value;
  const memory::desc desc = values_[value].form;
  BENCH_ASSIGN_OR_RETURN(const std::size_t stored, arrange(node, value, row_major(desc, desc)));
  return view(stored, plain);
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
    if (is_own_parameter(source)) {
      const bool is_packed = primitive.foreign != nullptr && primitive.foreign->converts_layout(i);
      chain_.parameters[source.index] = {.plain = tensor.plain,
                                         .desc = tensor.desc,
                                         .packer = is_packed ? primitive.foreign : nullptr,
                                         .tensor = i};
      step.parameters.emplace_back(*tensor.argument, source.index);
      continue;
    }
    if (!tensor.argument && residual != i) continue;  // only a preparation reads it
    BENCH_ASSIGN_OR_RETURN(const std::size_t stored,
                           view_as_stored(index, value_of(source), tensor.plain));
    BENCH_ASSIGN_OR_RETURN(const std::size_t value, arrange(index, stored, tensor.desc));
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
  for (std::size_t i = network_.nodes[index].problem.input_count(); i < primitive.tensors.size();
       ++i) {
    const OnednnTensor& output = primitive.tensors[i];
    const std::size_t value = in_place_value
                                  ? add_value_in(values_[*in_place_value].storage, output.desc)
                                  : new_value(output.desc);
    step.values.emplace_back(*output.argument, value);
    add_result(value);
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
      values_[kept->second].form == primitive.workspace) {
    step.values.emplace_back(DNNL_ARG_WORKSPACE, kept->second);
    return Done{};
  }
  const std::size_t workspace = new_value(primitive.workspace);
  step.values.emplace_back(DNNL_ARG_WORKSPACE, workspace);
  if (node.pass == Pass::forward) workspaces_.emplace(node.layer, workspace);
  return primitive.preparation ? add_preparation(index, primitive, workspace) : Done{};
}

Result<Done, BackendError> ChainBuilder::add_preparation(std::size_t index,
                                                         const OnednnPrimitive& primitive,
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
  for (const auto& [tensor, argument, desc] : preparation.inputs) {
    // Layers have one copy of their weights.
    if (desc.get_size() > 0) {
      return unsupported(fmt::format(
          "the library takes the weights of {} in two orders, one for each pass; measure the "
          "gradient as a case of its own",
          network_.nodes[index].name));
    }
    const Source& source = network_.nodes[index].sources[tensor];
    BENCH_ASSIGN_OR_RETURN(const std::size_t value,
                           arrange(index, value_of(source), primitive.tensors[tensor].desc));
    step.values.emplace_back(argument, value);
  }
  chain_.steps.push_back(std::move(step));
  return Done{};
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

// Computes the lives of the storages over the steps, then plans buffers for the internal ones.
void ChainBuilder::plan_storages() {
  std::vector<bool> is_seen(storages_.size(), false);
  std::vector<std::size_t> internal;
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ChainStep& step = chain_.steps[i];
    chain_.scratchpad_bytes = std::max(chain_.scratchpad_bytes, step.scratchpad.get_size());
    for (const auto& [argument, value] : step.values) {
      const std::size_t storage = values_[value].storage;
      StorageLife& life = storages_[storage].life;
      if (!is_seen[storage]) {
        is_seen[storage] = true;
        life.first = i;
        if (storages_[storage].kind == ChainStorage::Kind::internal) {
          internal.push_back(storage);
        }
      }
      life.last = i;
    }
  }
  std::vector<StorageLife> lives;
  for (const std::size_t storage : internal) lives.push_back(storages_[storage].life);
  BufferPlan buffers = plan_buffers(lives);
  for (std::size_t i = 0; i < internal.size(); ++i) {
    storages_[internal[i]].index = buffers.buffer_of[i];
  }
  chain_.buffers = std::move(buffers.sizes);
}

Result<Chain, BackendError> ChainBuilder::build() {
  chain_.parameters.resize(network_.parameter_places.size());
  BENCH_RETURN_IF_ERROR(plan_values());
  plan_storages();
  for (std::size_t i = 0; i < network_.tensors.size(); ++i) {
    const memory::desc plain = plain_form(network_.tensors[i]);
    const std::size_t parameter = i - network_.input_count();
    if (i < network_.input_count()) {
      chain_.inputs.push_back(plain);
    } else if (i >= first_output()) {
      chain_.outputs.push_back(plain);
    } else if (!is_own_parameter({Source::Kind::parameter, parameter})) {
      chain_.parameters[parameter] = {.plain = plain, .desc = plain};
    }
  }
  chain_.values = std::move(values_);
  chain_.storages = std::move(storages_);
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
