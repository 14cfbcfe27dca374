// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/network/kernels.hpp"

#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/network/buffer_plan.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {

namespace {

// Alignment in bytes that the addresses of a native kernel's tensors must have: its largest access.
constexpr std::size_t kNativeAlignment = 16;

Status check_addresses(std::span<void* const> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (reinterpret_cast<std::uintptr_t>(tensors[i]) % kNativeAlignment == 0) continue;
    return Error{fmt::format("buffer {} is not aligned to {} bytes", i, kNativeAlignment), "", ""};
  }
  return Done{};
}

class NativeInvocation final : public SingleStepInvocation {
 public:
  NativeInvocation(Runtime& runtime, Launcher& launcher, const NativeForm& form,
                   std::span<void* const> tensors)
      : SingleStepInvocation(runtime),
        launcher_(launcher),
        form_(form),
        tensors_(tensors.begin(), tensors.end()) {}

  std::int64_t launches() const override { return form_.launches; }

 private:
  Status launch() override { return launcher_.launch(form_.plan, tensors_); }

  Launcher& launcher_;
  const NativeForm& form_;  // owned by the kernel, which outlives its invocations
  std::vector<void*> tensors_;
};

class NativeKernel final : public PackedKernel {
 public:
  NativeKernel(DeviceParts parts, std::vector<DeviceTensor> tensors,
               std::shared_ptr<Launcher> launcher, NativeForm form)
      : PackedKernel(std::move(parts), std::move(tensors)),
        launcher_(std::move(launcher)),
        form_(std::move(form)) {}

  std::string implementation() const override { return form_.implementation; }
  std::vector<KernelStep> steps() const override {
    return {{"", form_.kind, form_.implementation, format_layouts(buffers()), {}}};
  }
  Bytes workspace() const override { return {0}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> tensors) override {
    BENCH_RETURN_IF_ERROR(check_addresses(tensors));
    return std::unique_ptr<Invocation>(
        std::make_unique<NativeInvocation>(runtime(), *launcher_, form_, tensors));
  }

 private:
  std::shared_ptr<Launcher> launcher_;
  NativeForm form_;
};

}  // namespace

std::unique_ptr<Kernel> make_native_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                           NativeForm form, std::span<const BufferRole> roles) {
  assert(roles.size() == form.tensors.size());
  std::vector<DeviceTensor> tensors;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const NativeTensor& tensor = form.tensors[i];
    tensors.push_back({roles[i], tensor.dtype, tensor.arrangement, tensor.layout});
  }
  return std::make_unique<NativeKernel>(std::move(parts), std::move(tensors), std::move(launcher),
                                        std::move(form));
}

std::unique_ptr<Kernel> make_native_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                           NativeForm form, const Problem& problem) {
  std::vector<BufferRole> roles;
  for (const Tensor& tensor : problem.tensors) roles.push_back(buffer_role(tensor));
  return make_native_kernel(std::move(parts), std::move(launcher), std::move(form), roles);
}

namespace {

// Reports the steps of a part as steps of the whole chain.
class ShiftedObserver final : public StepObserver {
 public:
  ShiftedObserver(StepObserver& chain_observer, std::size_t first)
      : chain_observer_(chain_observer), first_(first) {}
  void begins(std::size_t step) noexcept override { chain_observer_.begins(first_ + step); }
  void enqueued(std::size_t step) noexcept override { chain_observer_.enqueued(first_ + step); }
  void done(std::size_t step) noexcept override { chain_observer_.done(first_ + step); }
  void part_begins(std::string_view name) noexcept override { chain_observer_.part_begins(name); }
  void part_ends() noexcept override { chain_observer_.part_ends(); }

 private:
  StepObserver& chain_observer_;
  std::size_t first_;
};

class ChainInvocation final : public CudaInvocation {
 public:
  using CudaInvocation::CudaInvocation;

  // Adds the next part. `first` is the index of its first step in the chain. `owned` owns `part`.
  void add(std::string node, std::size_t first, std::unique_ptr<Invocation> owned,
           CudaInvocation& part) {
    launches_ += part.launches();
    parts_.push_back({std::move(node), first, std::move(owned), &part});
  }

  Status enqueue(StepObserver* observer) override {
    for (Part& part : parts_) {
      Status status = Done{};
      if (observer == nullptr) {
        status = part.invocation->enqueue(nullptr);
      } else {
        ShiftedObserver shifted(*observer, part.first);
        status = part.invocation->enqueue(&shifted);
      }
      if (!status) return at_node(part.node, std::move(status).error());
    }
    return Done{};
  }
  std::int64_t launches() const override { return launches_; }

 private:
  static Error at_node(const std::string& node, Error error) {
    if (!node.empty()) error.what = node + ": " + error.what;
    return error;
  }
  struct Part {
    std::string node;
    std::size_t first;
    std::unique_ptr<Invocation> owned;
    CudaInvocation* invocation;
  };
  std::vector<Part> parts_;
  std::int64_t launches_ = 0;
};

std::vector<KernelStep> steps_of(const ChainStep& step) {
  std::vector<KernelStep> steps = step.kernel->steps();
  if (steps.empty()) {
    steps.push_back({"", step.kind, step.kernel->implementation(), "plain -> plain", {}});
  }
  for (KernelStep& kernel_step : steps) {
    kernel_step.node = step.node;
    kernel_step.moved = step.moved;
  }
  steps.front().input_layouts = step.input_layouts;
  return steps;
}

class ChainKernel final : public CudaKernel {
 public:
  ChainKernel(DeviceParts parts, KernelChain chain, BufferPlan plan, IntermediateStorage storage,
              std::vector<DeviceBuffer> workspace_buffers);

  std::string implementation() const override;
  std::vector<KernelStep> steps() const override { return steps_; }
  std::span<const KernelBuffer> buffers() const override { return buffers_; }
  Bytes workspace() const override { return workspace_; }
  Summation summation() const override;
  Status pack(std::size_t index, const void* plain, void* packed) override;
  Status unpack(std::size_t index, const void* packed, void* plain) override;
  Status prepare(std::span<void* const> buffers) override;
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override;
  std::map<std::string, std::string> details() const override;

 private:
  std::vector<void*> select_addresses(const ChainStep& step, std::span<void* const> buffers) const;

  KernelChain chain_;
  BufferPlan plan_;
  IntermediateStorage storage_;
  std::vector<DeviceBuffer> workspace_buffers_;
  std::vector<KernelBuffer> buffers_;
  std::vector<KernelStep> steps_;
  std::vector<std::size_t> first_steps_;  // first step of each part
  Bytes workspace_;
};

Summation ChainKernel::summation() const {
  const bool is_reduced = std::ranges::any_of(chain_.steps, [](const ChainStep& step) {
    return step.kernel->summation() == Summation::reduced;
  });
  return is_reduced ? Summation::reduced : Summation::full;
}

ChainKernel::ChainKernel(DeviceParts parts, KernelChain chain, BufferPlan plan,
                         IntermediateStorage storage, std::vector<DeviceBuffer> workspace_buffers)
    : CudaKernel(std::move(parts.runtime), std::move(parts.sampler)),
      chain_(std::move(chain)),
      plan_(std::move(plan)),
      storage_(storage),
      workspace_buffers_(std::move(workspace_buffers)) {
  for (const ChainTensor& tensor : chain_.tensors) buffers_.push_back(tensor.buffer);
  if (storage_ == IntermediateStorage::activations) {
    for (const std::int64_t bytes : plan_.sizes) {
      buffers_.push_back({BufferRole::activation, {bytes}, "shared"});
    }
  }
  for (const DeviceBuffer& buffer : workspace_buffers_) workspace_ = workspace_ + buffer.size();
  for (const ChainStep& step : chain_.steps) {
    first_steps_.push_back(steps_.size());
    for (KernelStep& kernel_step : steps_of(step)) steps_.push_back(std::move(kernel_step));
    workspace_ = workspace_ + step.kernel->workspace();
  }
}

// For a problem: names the implementation of each step, in order. For a network: counts the steps
// of each kind.
std::string ChainKernel::implementation() const {
  if (storage_ == IntermediateStorage::activations) return count_kinds(steps_, "steps");
  std::vector<std::string> names;
  for (const KernelStep& step : steps_) names.push_back(step.implementation);
  return fmt::format("{}", fmt::join(names, " + "));
}

Status ChainKernel::pack(std::size_t index, const void* plain, void* packed) {
  const ChainTensor& tensor = chain_.tensors[index];
  if (!tensor.packed_by) return runtime().copy_in(packed, plain, tensor.buffer.size);
  const auto& [step, number] = *tensor.packed_by;
  return chain_.steps[step].kernel->pack(number, plain, packed);
}

Status ChainKernel::unpack(std::size_t index, const void* packed, void* plain) {
  const ChainTensor& tensor = chain_.tensors[index];
  if (!tensor.packed_by) return runtime().copy_out(plain, packed, tensor.buffer.size);
  const auto& [step, number] = *tensor.packed_by;
  return chain_.steps[step].kernel->unpack(number, packed, plain);
}

std::vector<void*> ChainKernel::select_addresses(const ChainStep& step,
                                                 std::span<void* const> buffers) const {
  std::vector<void*> tensors;
  for (const ChainPlace& place : step.tensors) {
    if (place.kind == ChainPlace::Kind::tensor) {
      tensors.push_back(buffers[place.number]);
      continue;
    }
    const std::size_t buffer = plan_.buffer_of[place.number];
    tensors.push_back(storage_ == IntermediateStorage::activations
                          ? buffers[chain_.tensors.size() + buffer]
                          : workspace_buffers_[buffer].data());
  }
  return tensors;
}

Status ChainKernel::prepare(std::span<void* const> buffers) {
  for (const ChainStep& step : chain_.steps) {
    BENCH_RETURN_IF_ERROR(step.kernel->prepare(select_addresses(step, buffers)));
  }
  return Done{};
}

Result<std::unique_ptr<Invocation>> ChainKernel::bind(std::span<void* const> buffers) {
  assert(buffers.size() == buffers_.size());
  auto invocation = std::make_unique<ChainInvocation>(runtime());
  for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
    const ChainStep& step = chain_.steps[i];
    // The inputs of a network's layers change with each run.
    const std::vector<void*> addresses = select_addresses(step, buffers);
    BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Invocation> part_invocation,
                           storage_ == IntermediateStorage::activations
                               ? step.kernel->bind_with_preparation(addresses)
                               : step.kernel->bind(addresses));
    auto* part = dynamic_cast<CudaInvocation*>(part_invocation.get());
    if (part == nullptr) {
      return Error{step.node + ": its kernel does not use the device's stream", "", ""};
    }
    invocation->add(step.node, first_steps_[i], std::move(part_invocation), *part);
  }
  return std::unique_ptr<Invocation>(std::move(invocation));
}

// A problem reports all details of its parts. A network has too many parts: it reports only the
// further libraries that they use, and the sum of their creation times. Both report the details of
// the chain itself.
std::map<std::string, std::string> ChainKernel::details() const {
  constexpr std::string_view kSetup = "setup.", kLibrary = "library.";
  std::map<std::string, std::string> details = CudaKernel::details();
  std::map<std::string, std::int64_t> setup;
  for (const auto& [name, value] : chain_.details) {
    if (name.starts_with(kSetup)) {
      setup[name] += std::stoll(value);
    } else {
      details.emplace(name, value);
    }
  }
  for (const ChainStep& step : chain_.steps) {
    for (const auto& [name, value] : step.kernel->details()) {
      // These describe samples of the step alone.
      if (name == kSampleMethodDetail || name == kLaunchFloorDetail) continue;
      if (name.starts_with(kSetup)) {
        setup[name] += std::stoll(value);
      } else if (storage_ == IntermediateStorage::workspace || name.starts_with(kLibrary)) {
        details.emplace(name, value);
      }
    }
  }
  for (const auto& [name, value] : setup) details.emplace(name, fmt::to_string(value));
  return details;
}

}  // namespace

std::vector<ChainTensor> chain_tensors(const std::vector<ChainStep>& steps, std::size_t count) {
  std::vector<ChainTensor> tensors(count);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (std::size_t i = 0; i < steps[s].tensors.size(); ++i) {
      const ChainPlace& place = steps[s].tensors[i];
      if (place.kind != ChainPlace::Kind::tensor) continue;
      tensors[place.number] = {steps[s].kernel->buffers()[i], std::pair(s, i)};
    }
  }
  return tensors;
}

std::vector<KernelStep> list_steps(const KernelChain& chain) {
  std::vector<KernelStep> steps;
  for (const ChainStep& step : chain.steps)
    std::ranges::move(steps_of(step), std::back_inserter(steps));
  return steps;
}

BufferPlan plan_intermediates(const KernelChain& chain) {
  std::vector<StorageLife> lives(chain.intermediates.size());
  std::vector<bool> is_used(lives.size(), false);
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    for (const ChainPlace& place : chain.steps[i].tensors) {
      if (place.kind != ChainPlace::Kind::intermediate) continue;
      StorageLife& life = lives[place.number];
      if (!is_used[place.number]) life.first = i;
      is_used[place.number] = true;
      life.last = i;
      life.bytes = chain.intermediates[place.number];
    }
  }
  return plan_buffers(lives);
}

Result<std::unique_ptr<Kernel>, BackendError> make_chain_kernel(DeviceParts parts,
                                                                KernelChain chain,
                                                                IntermediateStorage storage) {
  BufferPlan plan = plan_intermediates(chain);
  std::vector<DeviceBuffer> workspace_buffers;
  if (storage == IntermediateStorage::workspace) {
    for (const std::int64_t bytes : plan.sizes) {
      BENCH_ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::create(*parts.runtime, {bytes}));
      workspace_buffers.push_back(std::move(buffer));
    }
  }
  return std::unique_ptr<Kernel>(std::make_unique<ChainKernel>(
      std::move(parts), std::move(chain), std::move(plan), storage, std::move(workspace_buffers)));
}

Result<std::unique_ptr<Kernel>, BackendError> append_epilogue(
    const DeviceParts& parts, const std::shared_ptr<Launcher>& launcher,
    std::unique_ptr<Kernel>& first, const Problem& problem, DataType intermediate_dtype) {
  const std::size_t last = problem.tensors.size() - 1;
  const std::size_t start = epilogue_start(problem);
  BENCH_ASSIGN_OR_RETURN(NativeForm form,
                         epilogue_form(problem, intermediate_dtype, requested_layout(problem)));
  const bool in_place = intermediate_dtype == problem.tensors.back().dtype;
  const ChainPlace result = in_place ? tensor_place(last) : intermediate_place(0);
  KernelChain chain;
  if (!in_place) chain.intermediates = {first->buffers().back().size.count};
  std::vector<ChainPlace> inputs;
  for (std::size_t i = 0; i < start; ++i) inputs.push_back(tensor_place(i));
  inputs.push_back(result);
  std::vector<BufferRole> roles = {BufferRole::input};
  std::vector<ChainPlace> places = {result};
  for (std::size_t i = start; i <= last; ++i) {
    roles.push_back(buffer_role(problem.tensors[i]));
    places.push_back(tensor_place(i));
  }
  chain.steps.push_back({"", std::move(first), inputs, std::string(problem.op->name)});
  chain.steps.push_back(
      {"", make_native_kernel(parts, launcher, std::move(form), roles), places, "epilogue"});
  chain.tensors = chain_tensors(chain.steps, problem.tensors.size());
  return make_chain_kernel(parts, std::move(chain), IntermediateStorage::workspace);
}

}  // namespace bench::ops::cuda
