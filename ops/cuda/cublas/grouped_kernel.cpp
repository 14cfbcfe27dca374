// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cublas/grouped_kernel.hpp"

#include <cassert>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

class GroupedInvocation final : public CudaInvocation {
 public:
  GroupedInvocation(Runtime& runtime, std::vector<std::unique_ptr<Invocation>> parts)
      : CudaInvocation(runtime), owned_(std::move(parts)) {
    for (const auto& owned : owned_) {
      auto* part = dynamic_cast<CudaInvocation*>(owned.get());
      assert(part != nullptr && "a part that does not run on this device");
      parts_.push_back(part);
      launches_ += part->launches();
    }
  }

  Status enqueue(StepObserver* observer) override {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if (observer != nullptr) observer->begins(part);
      BENCH_RETURN_IF_ERROR(parts_[part]->enqueue(nullptr));
      if (observer != nullptr) observer->enqueued(part);
    }
    return Done{};
  }
  std::int64_t launches() const override { return launches_; }

 private:
  std::vector<std::unique_ptr<Invocation>> owned_;
  std::vector<CudaInvocation*> parts_;
  std::int64_t launches_ = 0;
};

class GroupedKernel final : public CudaKernel {
 public:
  GroupedKernel(const DeviceParts& device, GroupedParts parts)
      : CudaKernel(device.runtime, device.sampler), parts_(std::move(parts)) {}

  std::string implementation() const override { return parts_.implementation(); }
  std::vector<KernelStep> steps() const override { return parts_.steps(); }
  std::span<const KernelBuffer> buffers() const override { return parts_.buffers(); }
  Bytes workspace() const override { return parts_.workspace(); }
  Summation summation() const override { return parts_.summation(); }
  std::map<std::string, std::string> details() const override {
    auto all = parts_.details();
    all.merge(CudaKernel::details());
    return all;
  }
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
    return std::unique_ptr<Invocation>(
        std::make_unique<GroupedInvocation>(runtime(), std::move(invocations)));
  }

 private:
  GroupedParts parts_;
};

}  // namespace

std::unique_ptr<Kernel> make_grouped_kernel(const DeviceParts& device, GroupedParts parts) {
  return std::make_unique<GroupedKernel>(device, std::move(parts));
}

}  // namespace bench::ops::cuda
