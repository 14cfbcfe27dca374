// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/kernels.hpp"

#include "ops/backend/buffer_role.hpp"
#include "ops/network/buffer_plan.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/onednn/guard.hpp"
#include "ops/onednn/invocation.hpp"
#include "ops/onednn/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace bench::ops {

Status transfer(const OnednnContext& context, const dnnl::memory::desc& from_desc, const void* from,
                const dnnl::memory::desc& to_desc, void* to) {
  if (from_desc == to_desc) {
    std::memcpy(to, from, from_desc.get_size());
    return Done{};
  }
  return guarded_step("a conversion of layouts", [&]() -> Status {
    // The library takes non-const pointers to data that it only reads.
    dnnl::memory source = context.view(from_desc, const_cast<void*>(from));
    dnnl::memory destination = context.view(to_desc, to);
    dnnl::stream stream = context.stream();
    const auto description = context.call("dnnl_reorder_primitive_desc_create", [&] {
      return dnnl::reorder::primitive_desc(source, destination);
    });
    const auto reorder =
        context.call("dnnl_primitive_create", [&] { return dnnl::reorder(description); });
    context.call("dnnl_primitive_execute", [&] { reorder.execute(stream, source, destination); });
    context.call("dnnl_stream_wait", [&] { stream.wait(); });
    return Done{};
  });
}

namespace {

using dnnl::memory;

// Sets tensors to 0 before it runs the primitive, which adds to them.
class ClearedInvocation final : public Invocation {
 public:
  struct Range {
    void* data;
    std::size_t bytes;
  };
  ClearedInvocation(std::unique_ptr<Invocation> primitive, std::vector<Range> ranges)
      : primitive_(std::move(primitive)), ranges_(std::move(ranges)) {}

  bool run() noexcept override {
    clear();
    return primitive_->run();
  }
  bool run_observed(StepObserver& observer) noexcept override {
    clear();
    return primitive_->run_observed(observer);
  }
  std::string error() const override { return primitive_->error(); }

 private:
  void clear() noexcept {
    for (const Range& range : ranges_) std::memset(range.data, 0, range.bytes);
  }

  std::unique_ptr<Invocation> primitive_;
  std::vector<Range> ranges_;
};

class ProblemKernel final : public Kernel {
 public:
  ProblemKernel(const OnednnContext& context, const Problem& problem,
                std::unique_ptr<OnednnPrimitive> primitive,
                std::map<std::string, std::string> details)
      : context_(context),
        primitive_(std::move(primitive)),
        details_(std::move(details)),
        layouts_(format_layouts(problem, *primitive_)),
        scratchpad_(primitive_->scratchpad.get_size(), context.collectors().memory, "scratchpad"),
        workspace_(primitive_->workspace.get_size(), context.collectors().memory, "workspace") {
    for (const auto& [argument, desc] : primitive_->discarded) {
      discarded_.emplace_back(desc.get_size(), context.collectors().memory, "scratchpad");
      if (desc.get_size() > 0) std::memset(discarded_.back().data(), 0, desc.get_size());
    }
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      const memory::desc& desc = primitive_->tensors[i].desc;
      buffers_.push_back({buffer_role(problem.tensors[i]),
                          {static_cast<std::int64_t>(desc.get_size())},
                          format_layout(desc)});
    }
  }

  std::string implementation() const override { return primitive_->implementation; }
  std::vector<KernelStep> steps() const override {
    return {{{}, primitive_->kind, primitive_->implementation, layouts_, {}}};
  }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override {
    std::size_t bytes = scratchpad_.size() + workspace_.size();
    for (const AlignedBuffer& result : discarded_) bytes += result.size();
    return {static_cast<std::int64_t>(bytes)};
  }
  bool converts_layout(std::size_t index) const override {
    const OnednnTensor& tensor = primitive_->tensors[index];
    return tensor.plain != tensor.desc;
  }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    const OnednnTensor& tensor = primitive_->tensors[index];
    return transfer(context_, tensor.plain, plain, tensor.desc, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    const OnednnTensor& tensor = primitive_->tensors[index];
    return transfer(context_, tensor.desc, packed, tensor.plain, plain);
  }
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;
  std::map<std::string, std::string> details() const override { return details_; }

 private:
  memory view(const memory::desc& desc, void* data) const { return context_.view(desc, data); }

  const OnednnContext& context_;
  std::unique_ptr<OnednnPrimitive> primitive_;
  std::map<std::string, std::string> details_;
  std::string layouts_;
  std::vector<KernelBuffer> buffers_;
  AlignedBuffer scratchpad_;
  AlignedBuffer workspace_;
  std::vector<AlignedBuffer> discarded_;  // results that the problem does not have
};

// Runs the forward pass, which fills the workspace that the timed kernel reads. The output and the
// scratchpad of the forward pass are released afterwards.
Status ProblemKernel::prepare(std::span<void* const> buffers) {
  if (!primitive_->preparation) return Done{};
  const OnednnPreparation& preparation = *primitive_->preparation;
  return guarded_step("the forward pass", [&]() -> Status {
    MemoryCollector* const collector = context_.collectors().memory;
    const AlignedBuffer output(preparation.output.get_size(), collector, "preparation");
    std::vector<AlignedBuffer> converted;
    converted.reserve(preparation.inputs.size());
    const AlignedBuffer scratchpad(preparation.scratchpad.get_size(), collector, "scratchpad");
    std::vector<std::pair<int, memory>> arguments;
    for (const auto& [tensor, argument, desc] : preparation.inputs) {
      const memory::desc& layout = primitive_->tensors[tensor].desc;
      if (desc.get_size() == 0 || desc == layout) {
        arguments.emplace_back(argument, view(layout, buffers[tensor]));
        continue;
      }
      const AlignedBuffer& copy = converted.emplace_back(desc.get_size(), collector, "preparation");
      BENCH_RETURN_IF_ERROR(transfer(context_, layout, buffers[tensor], desc, copy.data()));
      arguments.emplace_back(argument, view(desc, copy.data()));
    }
    for (std::size_t i = 0; i < discarded_.size(); ++i) {
      const auto& [argument, desc] = primitive_->discarded[i];
      if (std::ranges::find(preparation.shared, argument) == preparation.shared.end()) continue;
      arguments.emplace_back(argument, view(desc, discarded_[i].data()));
    }
    if (std::ranges::find(preparation.shared, DNNL_ARG_DST) == preparation.shared.end()) {
      arguments.emplace_back(DNNL_ARG_DST, view(preparation.output, output.data()));
    }
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, view(preparation.scratchpad, scratchpad.data()));
    arguments.emplace_back(DNNL_ARG_WORKSPACE, view(primitive_->workspace, workspace_.data()));
    OnednnInvocation forward(context_);
    forward.add_call("the forward pass", preparation.primitive, std::move(arguments));
    const bool is_successful =
        context_.call("dnnl_primitive_execute", [&] { return forward.run(); });
    if (!is_successful) return Error{forward.error(), {}, {}};
    return Done{};
  });
}

Result<std::unique_ptr<Invocation>> ProblemKernel::bind(std::span<void* const> buffers) {
  assert(buffers.size() == buffers_.size());
  return guarded_step(primitive_->kind, [&]() -> Result<std::unique_ptr<Invocation>> {
    std::vector<std::pair<int, memory>> arguments;
    for (std::size_t i = 0; i < primitive_->tensors.size(); ++i) {
      const OnednnTensor& tensor = primitive_->tensors[i];
      if (!tensor.argument) continue;
      arguments.emplace_back(*tensor.argument, view(tensor.desc, buffers[i]));
    }
    for (const auto& [tensor, argument] : primitive_->demanded) {
      arguments.emplace_back(argument, view(primitive_->tensors[tensor].desc, buffers[tensor]));
    }
    for (std::size_t i = 0; i < discarded_.size(); ++i) {
      const auto& [argument, desc] = primitive_->discarded[i];
      arguments.emplace_back(argument, view(desc, discarded_[i].data()));
    }
    if (scratchpad_.size() > 0) {
      arguments.emplace_back(DNNL_ARG_SCRATCHPAD, view(primitive_->scratchpad, scratchpad_.data()));
    }
    if (workspace_.size() > 0) {
      arguments.emplace_back(DNNL_ARG_WORKSPACE, view(primitive_->workspace, workspace_.data()));
    }
    auto invocation = std::make_unique<OnednnInvocation>(context_);
    invocation->add_call(primitive_->kind, primitive_->primitive, std::move(arguments));
    std::vector<ClearedInvocation::Range> ranges;
    for (const std::size_t tensor : primitive_->accumulated) {
      ranges.push_back({buffers[tensor], primitive_->tensors[tensor].desc.get_size()});
    }
    if (ranges.empty()) return std::unique_ptr<Invocation>(std::move(invocation));
    return std::unique_ptr<Invocation>(
        std::make_unique<ClearedInvocation>(std::move(invocation), std::move(ranges)));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_problem_kernel(const OnednnContext& context, const Problem& problem,
                                            std::unique_ptr<OnednnPrimitive> primitive,
                                            std::map<std::string, std::string> details) {
  return std::make_unique<ProblemKernel>(context, problem, std::move(primitive),
                                         std::move(details));
}

std::string format_layouts(const Problem& problem, const OnednnPrimitive& primitive) {
  std::string inputs;
  std::string outputs;
  std::string constants;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const std::string layout = format_layout(primitive.tensors[i].desc);
    if (tensor.role == TensorRole::input) inputs += (inputs.empty() ? "" : " ") + layout;
    if (tensor.role == TensorRole::output) outputs += (outputs.empty() ? "" : " ") + layout;
    if (tensor.role == TensorRole::weights && tensor.dims.size() > 1) {
      constants += fmt::format(", {} {}", tensor.name, layout);
    }
  }
  return fmt::format("{} -> {}{}", inputs, outputs, constants);
}

namespace {

using dnnl::memory;

Bytes size_of(const memory::desc& desc) { return {static_cast<std::int64_t>(desc.get_size())}; }

class NetworkKernel final : public Kernel {
 public:
  NetworkKernel(const OnednnContext& context, const Network& network, Chain chain);

  std::string implementation() const override { return count_kinds(chain_.steps, "primitives"); }
  std::vector<KernelStep> steps() const override;
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override;
  bool converts_layout(std::size_t index) const override {
    if (const ChainParameter* own = find_packed(index)) {
      return own->packer->converts_layout(own->tensor);
    }
    const auto [plain, packed] = layouts(index);
    return plain != packed;
  }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    if (const ChainParameter* own = find_packed(index)) {
      return own->packer->pack(own->tensor, plain, packed);
    }
    const auto [from, to] = layouts(index);
    return transfer(context_, from, plain, to, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    if (const ChainParameter* own = find_packed(index)) {
      return own->packer->unpack(own->tensor, packed, plain);
    }
    const auto [to, from] = layouts(index);
    return transfer(context_, from, packed, to, plain);
  }
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;

 private:
  std::size_t first_parameter() const { return chain_.inputs.size(); }
  std::size_t first_output() const { return first_parameter() + chain_.parameters.size(); }
  // Returns the parameter that the network's tensor `index` is, if a kernel packs it; else nullptr.
  const ChainParameter* find_packed(std::size_t index) const;
  // The layouts of the network's tensor `index`: plain, packed.
  std::pair<memory::desc, memory::desc> layouts(std::size_t index) const;
  void* find_data(const ChainValue& value, std::span<void* const> buffers) const;
  std::vector<void*> plain_tensors(const ChainStep& step, std::span<void* const> buffers) const;
  std::vector<std::pair<int, memory>> make_arguments(const ChainStep& step,
                                                     std::span<const memory> values,
                                                     std::span<const memory> parameters) const;

  const OnednnContext& context_;
  Chain chain_;
  std::vector<std::string> node_names_;
  std::vector<KernelBuffer> buffers_;
  AlignedBuffer scratchpad_;
};

NetworkKernel::NetworkKernel(const OnednnContext& context, const Network& network, Chain chain)
    : context_(context),
      chain_(std::move(chain)),
      scratchpad_(chain_.scratchpad_bytes, context.collectors().memory, "scratchpad") {
  for (const Node& node : network.nodes) node_names_.push_back(node.name);
  for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
    const BufferRole role = holds_indices(network, i) ? BufferRole::index : BufferRole::input;
    buffers_.push_back({role, size_of(chain_.inputs[i]), format_layout(chain_.inputs[i])});
  }
  for (const ChainParameter& parameter : chain_.parameters) {
    const std::string layout = parameter.packer != nullptr
                                   ? parameter.packer->buffers()[parameter.tensor].layout
                                   : format_layout(parameter.desc);
    buffers_.push_back({BufferRole::weights, parameter.size(), layout});
  }
  for (const memory::desc& output : chain_.outputs) {
    buffers_.push_back({BufferRole::output, size_of(output), format_layout(output)});
  }
  for (const std::int64_t bytes : chain_.buffers) {
    buffers_.push_back({BufferRole::activation, {bytes}, "shared"});
  }
}

std::vector<KernelStep> NetworkKernel::steps() const {
  std::vector<KernelStep> steps;
  for (const ChainStep& step : chain_.steps) {
    steps.push_back({node_names_[step.node], step.kind, step.implementation, step.layouts,
                     step.input_layouts, step.moved});
  }
  return steps;
}

Bytes NetworkKernel::workspace() const {
  Bytes total{static_cast<std::int64_t>(scratchpad_.size())};
  for (const ChainStep& step : chain_.steps) {
    if (step.foreign != nullptr) total = total + step.foreign->workspace();
  }
  return total;
}

const ChainParameter* NetworkKernel::find_packed(std::size_t index) const {
  if (index < first_parameter() || index >= first_output()) return nullptr;
  const ChainParameter& parameter = chain_.parameters[index - first_parameter()];
  return parameter.packer != nullptr ? &parameter : nullptr;
}

std::pair<memory::desc, memory::desc> NetworkKernel::layouts(std::size_t index) const {
  if (index < first_parameter()) return {chain_.inputs[index], chain_.inputs[index]};
  if (index >= first_output()) {
    const memory::desc& output = chain_.outputs[index - first_output()];
    return {output, output};
  }
  const ChainParameter& parameter = chain_.parameters[index - first_parameter()];
  return {parameter.plain, parameter.desc};
}

void* NetworkKernel::find_data(const ChainValue& value, std::span<void* const> buffers) const {
  const ChainStorage& storage = chain_.storages[value.storage];
  switch (storage.kind) {
    case ChainStorage::Kind::input:
      return buffers[storage.index];
    case ChainStorage::Kind::parameter:
      return buffers[first_parameter() + storage.index];
    case ChainStorage::Kind::output:
      return buffers[first_output() + storage.index];
    case ChainStorage::Kind::internal:
      break;
  }
  return buffers[first_output() + chain_.outputs.size() + storage.index];
}

std::vector<std::pair<int, memory>> NetworkKernel::make_arguments(
    const ChainStep& step, std::span<const memory> values,
    std::span<const memory> parameters) const {
  std::vector<std::pair<int, memory>> arguments;
  if (step.scratchpad.get_size() > 0) {
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, context_.view(step.scratchpad, scratchpad_.data()));
  }
  for (const auto& [argument, value] : step.values) arguments.emplace_back(argument, values[value]);
  for (const auto& [argument, parameter] : step.parameters) {
    arguments.emplace_back(argument, parameters[parameter]);
  }
  return arguments;
}

// Returns the tensors of a foreign step (a kernel of another backend) in the order of its problem.
std::vector<void*> NetworkKernel::plain_tensors(const ChainStep& step,
                                                std::span<void* const> buffers) const {
  std::vector<void*> tensors(step.values.size() + step.parameters.size());
  for (const auto& [tensor_index, value] : step.values) {
    tensors[static_cast<std::size_t>(tensor_index)] = find_data(chain_.values[value], buffers);
  }
  for (const auto& [tensor_index, parameter] : step.parameters) {
    tensors[static_cast<std::size_t>(tensor_index)] = buffers[first_parameter() + parameter];
  }
  return tensors;
}

// Prepares the foreign steps. Only their weights have values yet, because no step has run.
Status NetworkKernel::prepare(std::span<void* const> buffers) {
  for (const ChainStep& step : chain_.steps) {
    if (step.foreign == nullptr) continue;
    BENCH_RETURN_IF_ERROR(step.foreign->prepare(plain_tensors(step, buffers)));
  }
  return Done{};
}

Result<std::unique_ptr<Invocation>> NetworkKernel::bind(std::span<void* const> buffers) {
  assert(buffers.size() == buffers_.size());
  return guarded_step("the network", [&]() -> Result<std::unique_ptr<Invocation>> {
    std::vector<memory> values;
    for (const ChainValue& value : chain_.values) {
      values.push_back(context_.view(value.form, find_data(value, buffers)));
    }
    std::vector<memory> parameters;
    for (std::size_t i = 0; i < chain_.parameters.size(); ++i) {
      parameters.push_back(
          context_.view(chain_.parameters[i].desc, buffers[first_parameter() + i]));
    }
    auto invocation = std::make_unique<OnednnInvocation>(context_);
    for (const ChainStep& step : chain_.steps) {
      if (step.foreign != nullptr) {
        BENCH_ASSIGN_OR_RETURN(auto foreign, step.foreign->bind(plain_tensors(step, buffers)));
        invocation->add_call(node_names_[step.node], std::move(foreign));
        continue;
      }
      invocation->add_call(node_names_[step.node], step.primitive,
                           make_arguments(step, values, parameters));
    }
    return std::unique_ptr<Invocation>(std::move(invocation));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_network_kernel(const OnednnContext& context, const Network& network,
                                            Chain chain) {
  return std::make_unique<NetworkKernel>(context, network, std::move(chain));
}

namespace {

class PartsInvocation final : public Invocation {
 public:
  explicit PartsInvocation(std::vector<std::unique_ptr<Invocation>> parts)
      : parts_(std::move(parts)) {}

  bool run() noexcept override {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (!parts_[part]->run()) return store_failure(part);
    }
    return true;
  }
  bool run_observed(StepObserver& observer) noexcept override {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      observer.begins(part);
      const bool is_successful = parts_[part]->run();
      observer.enqueued(part);
      if (!is_successful) return store_failure(part);
      observer.done(part);
    }
    return true;
  }
  std::string error() const override { return parts_[failed_]->error(); }

 private:
  bool store_failure(std::size_t part) noexcept {
    failed_ = part;
    return false;
  }
  std::vector<std::unique_ptr<Invocation>> parts_;
  std::size_t failed_ = 0;
};

class PartsKernel final : public Kernel {
 public:
  explicit PartsKernel(GroupedParts parts) : parts_(std::move(parts)) {}

  std::string implementation() const override { return parts_.implementation(); }
  std::vector<KernelStep> steps() const override { return parts_.steps(); }
  std::span<const KernelBuffer> buffers() const override { return parts_.buffers(); }
  Bytes workspace() const override { return parts_.workspace(); }
  std::map<std::string, std::string> details() const override { return parts_.details(); }
  bool converts_layout(std::size_t index) const override { return parts_.converts_layout(index); }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    return parts_.pack(index, plain, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    return parts_.unpack(index, packed, plain);
  }
  Status prepare(std::span<void* const> buffers) override { return parts_.prepare(buffers); }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    BENCH_ASSIGN_OR_RETURN(auto invocations, parts_.bind(buffers));
    return std::unique_ptr<Invocation>(std::make_unique<PartsInvocation>(std::move(invocations)));
  }

 private:
  GroupedParts parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_parts_kernel(GroupedParts parts) {
  return std::make_unique<PartsKernel>(std::move(parts));
}

}  // namespace bench::ops
