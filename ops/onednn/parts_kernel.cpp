// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/parts_kernel.hpp"

#include <cassert>
#include <utility>

namespace bench::ops {
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
