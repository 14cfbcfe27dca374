// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/network/own_kernel.hpp"

#include "ops/cuda/network/packed_kernel.hpp"

#include <cassert>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

class OwnInvocation final : public SingleStepInvocation {
 public:
  OwnInvocation(Runtime& runtime, Launcher& launcher, const OwnPlan& plan,
                std::span<void* const> tensors)
      : SingleStepInvocation(runtime),
        launcher_(launcher),
        plan_(plan),
        tensors_(tensors.begin(), tensors.end()) {}

  std::int64_t launches() const override { return 1; }

 private:
  Status launch() override { return launcher_.launch(plan_, tensors_); }

  Launcher& launcher_;
  const OwnPlan& plan_;  // the kernel's; the kernel outlives its invocations
  std::vector<void*> tensors_;
};

class OwnKernel final : public PackedKernel {
 public:
  OwnKernel(DeviceParts parts, std::vector<DeviceTensor> tensors,
            std::shared_ptr<Launcher> launcher, OwnForm form)
      : PackedKernel(std::move(parts), std::move(tensors)),
        launcher_(std::move(launcher)),
        form_(std::move(form)) {}

  std::string implementation() const override { return form_.implementation; }
  std::vector<KernelStep> steps() const override {
    return {{"", form_.kind, form_.implementation, layouts_text(buffers()), {}}};
  }
  Bytes workspace() const override { return {0}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> tensors) override {
    return std::unique_ptr<Invocation>(
        std::make_unique<OwnInvocation>(runtime(), *launcher_, form_.plan, tensors));
  }

 private:
  std::shared_ptr<Launcher> launcher_;
  OwnForm form_;
};

}  // namespace

std::unique_ptr<Kernel> make_own_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                        OwnForm form, std::span<const BufferRole> roles) {
  assert(roles.size() == form.tensors.size());
  std::vector<DeviceTensor> tensors;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const OwnTensor& tensor = form.tensors[i];
    tensors.push_back({roles[i], tensor.dtype, tensor.arrangement, tensor.layout});
  }
  return std::make_unique<OwnKernel>(std::move(parts), std::move(tensors), std::move(launcher),
                                     std::move(form));
}

std::unique_ptr<Kernel> make_own_kernel(DeviceParts parts, std::shared_ptr<Launcher> launcher,
                                        OwnForm form, const Problem& problem) {
  std::vector<BufferRole> roles;
  for (const Tensor& tensor : problem.tensors) roles.push_back(buffer_role(tensor.role));
  return make_own_kernel(std::move(parts), std::move(launcher), std::move(form), roles);
}

}  // namespace bench::ops::cuda
