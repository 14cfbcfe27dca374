// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/network_kernel.hpp"

#include "ops/network/kind_counts.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/onednn/guard.hpp"
#include "ops/onednn/invocation.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace bench::ops {
namespace {

using dnnl::memory;

Bytes size_of(const memory::desc& desc) { return {static_cast<std::int64_t>(desc.get_size())}; }

class NetworkKernel final : public Kernel {
 public:
  NetworkKernel(const OnednnContext& context, const Network& network, Chain chain);

  std::string implementation() const override { return count_kinds(chain_.steps, "primitives"); }
  std::vector<KernelStep> steps() const override;
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return {static_cast<std::int64_t>(scratchpad_.size())}; }
  Status pack(std::size_t index, const void* plain, void* packed) override {
    const auto [from, to] = layouts(index);
    return transfer(context_, from, plain, to, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) override {
    const auto [to, from] = layouts(index);
    return transfer(context_, from, packed, to, plain);
  }
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;

 private:
  std::size_t output_index() const { return 1 + chain_.parameters.size(); }
  // The layouts of the network's tensor `index`: plain, packed.
  std::pair<memory::desc, memory::desc> layouts(std::size_t index) const;
  void* data_of(const ChainValue& value, std::span<void* const> buffers) const;
  std::vector<void*> plain_tensors(const ChainStep& step, std::span<void* const> buffers) const;
  std::vector<std::pair<int, memory>> arguments_of(const ChainStep& step,
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
  buffers_.push_back({BufferRole::input, size_of(chain_.input), layout_text(chain_.input)});
  for (const ChainParameter& parameter : chain_.parameters) {
    buffers_.push_back({BufferRole::weights, size_of(parameter.desc), layout_text(parameter.desc)});
  }
  buffers_.push_back({BufferRole::output, size_of(chain_.output), layout_text(chain_.output)});
  for (const std::int64_t bytes : chain_.buffers) {
    buffers_.push_back({BufferRole::activation, {bytes}, "shared"});
  }
}

std::vector<KernelStep> NetworkKernel::steps() const {
  std::vector<KernelStep> steps;
  for (const ChainStep& step : chain_.steps) {
    steps.push_back({node_names_[step.node], step.kind, step.implementation, step.layouts, step.met,
                     step.moved});
  }
  return steps;
}

std::pair<memory::desc, memory::desc> NetworkKernel::layouts(std::size_t index) const {
  if (index == 0) return {chain_.input, chain_.input};
  if (index == output_index()) return {chain_.output, chain_.output};
  const ChainParameter& parameter = chain_.parameters[index - 1];
  return {parameter.plain, parameter.desc};
}

void* NetworkKernel::data_of(const ChainValue& value, std::span<void* const> buffers) const {
  const ChainStorage& storage = chain_.storages[value.storage];
  switch (storage.kind) {
    case ChainStorage::Kind::input:
      return buffers[0];
    case ChainStorage::Kind::output:
      return buffers[output_index()];
    case ChainStorage::Kind::internal:
      break;
  }
  return buffers[output_index() + 1 + storage.buffer];
}

std::vector<std::pair<int, memory>> NetworkKernel::arguments_of(
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

// Returns the tensors of a foreign step in the order of its problem.
std::vector<void*> NetworkKernel::plain_tensors(const ChainStep& step,
                                                std::span<void* const> buffers) const {
  std::vector<void*> tensors(step.values.size() + step.parameters.size());
  for (const auto& [number, value] : step.values) {
    tensors[static_cast<std::size_t>(number)] = data_of(chain_.values[value], buffers);
  }
  for (const auto& [number, parameter] : step.parameters) {
    tensors[static_cast<std::size_t>(number)] = buffers[1 + parameter];
  }
  return tensors;
}

// At this point only the weights of a foreign step have values.
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
      values.push_back(context_.view(value.desc, data_of(value, buffers)));
    }
    std::vector<memory> parameters;
    for (std::size_t i = 0; i < chain_.parameters.size(); ++i) {
      parameters.push_back(context_.view(chain_.parameters[i].desc, buffers[1 + i]));
    }
    auto invocation = std::make_unique<OnednnInvocation>(context_);
    for (const ChainStep& step : chain_.steps) {
      if (step.foreign != nullptr) {
        BENCH_ASSIGN_OR_RETURN(auto foreign, step.foreign->bind(plain_tensors(step, buffers)));
        invocation->add_call(node_names_[step.node], std::move(foreign));
        continue;
      }
      invocation->add_call(node_names_[step.node], step.primitive,
                           arguments_of(step, values, parameters));
    }
    return std::unique_ptr<Invocation>(std::move(invocation));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_network_kernel(const OnednnContext& context, const Network& network,
                                            Chain chain) {
  return std::make_unique<NetworkKernel>(context, network, std::move(chain));
}

}  // namespace bench::ops
