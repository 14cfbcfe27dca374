// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/problem_kernel.hpp"

#include "ops/backend/buffer_role.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/onednn/guard.hpp"
#include "ops/onednn/invocation.hpp"
#include "ops/onednn/layout.hpp"
#include "ops/onednn/transfer.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

namespace bench::ops {
namespace {

using dnnl::memory;

class ProblemKernel final : public Kernel {
 public:
  ProblemKernel(const OnednnContext& context, const Problem& problem,
                std::unique_ptr<OnednnPrimitive> primitive)
      : context_(context),
        primitive_(std::move(primitive)),
        layouts_(layouts_text(problem, *primitive_)),
        scratchpad_(primitive_->scratchpad.get_size(), context.collectors().memory, "scratchpad"),
        workspace_(primitive_->workspace.get_size(), context.collectors().memory, "workspace") {
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      const memory::desc& desc = primitive_->tensors[i].desc;
      buffers_.push_back({buffer_role(problem.tensors[i].role),
                          {static_cast<std::int64_t>(desc.get_size())},
                          layout_text(desc)});
    }
  }

  std::string implementation() const override { return primitive_->implementation; }
  std::vector<KernelStep> steps() const override {
    return {{{}, primitive_->kind, primitive_->implementation, layouts_, {}}};
  }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override {
    return {static_cast<std::int64_t>(scratchpad_.size() + workspace_.size())};
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

 private:
  memory view(const memory::desc& desc, void* data) const { return context_.view(desc, data); }

  const OnednnContext& context_;
  std::unique_ptr<OnednnPrimitive> primitive_;
  std::string layouts_;
  std::vector<KernelBuffer> buffers_;
  AlignedBuffer scratchpad_;
  AlignedBuffer workspace_;
};

// The forward pass runs in its own memory, which is released afterwards. The timed kernel never
// uses it.
Status ProblemKernel::prepare(std::span<void* const> buffers) {
  if (!primitive_->preparation) return Done{};
  const OnednnPreparation& preparation = *primitive_->preparation;
  return guarded_step("the forward pass", [&]() -> Status {
    MemoryCollector* const collector = context_.collectors().memory;
    const AlignedBuffer output(preparation.output.get_size(), collector, "preparation");
    const AlignedBuffer scratchpad(preparation.scratchpad.get_size(), collector, "scratchpad");
    std::vector<std::pair<int, memory>> arguments;
    for (const auto& [tensor, argument] : preparation.inputs) {
      arguments.emplace_back(argument, view(primitive_->tensors[tensor].desc, buffers[tensor]));
    }
    arguments.emplace_back(DNNL_ARG_DST, view(preparation.output, output.data()));
    arguments.emplace_back(DNNL_ARG_SCRATCHPAD, view(preparation.scratchpad, scratchpad.data()));
    arguments.emplace_back(DNNL_ARG_WORKSPACE, view(primitive_->workspace, workspace_.data()));
    OnednnInvocation forward(context_);
    forward.add_call("the forward pass", preparation.primitive, std::move(arguments));
    const bool ok = context_.call("dnnl_primitive_execute", [&] { return forward.run(); });
    if (!ok) return Error{forward.error(), {}, {}};
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
    if (scratchpad_.size() > 0) {
      arguments.emplace_back(DNNL_ARG_SCRATCHPAD, view(primitive_->scratchpad, scratchpad_.data()));
    }
    if (workspace_.size() > 0) {
      arguments.emplace_back(DNNL_ARG_WORKSPACE, view(primitive_->workspace, workspace_.data()));
    }
    auto invocation = std::make_unique<OnednnInvocation>(context_);
    invocation->add_call(primitive_->kind, primitive_->primitive, std::move(arguments));
    return std::unique_ptr<Invocation>(std::move(invocation));
  });
}

}  // namespace

std::unique_ptr<Kernel> make_problem_kernel(const OnednnContext& context, const Problem& problem,
                                            std::unique_ptr<OnednnPrimitive> primitive) {
  return std::make_unique<ProblemKernel>(context, problem, std::move(primitive));
}

std::string layouts_text(const Problem& problem, const OnednnPrimitive& primitive) {
  std::string inputs;
  std::string outputs;
  std::string constants;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const std::string layout = layout_text(primitive.tensors[i].desc);
    if (tensor.role == TensorRole::input) inputs += (inputs.empty() ? "" : " ") + layout;
    if (tensor.role == TensorRole::output) outputs += (outputs.empty() ? "" : " ") + layout;
    if (tensor.role == TensorRole::weights && tensor.dims.size() > 1) {
      constants += fmt::format(", {} {}", tensor.name, layout);
    }
  }
  return fmt::format("{} -> {}{}", inputs, outputs, constants);
}

}  // namespace bench::ops
