// SPDX-License-Identifier: Apache-2.0
// A kernel with its own buffers, filled with data and run once: the steps before timing, each with
// its duration.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/workload.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/memory/memory_collector.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Role of memory that a kernel allocates for itself, as profiles state it.
inline constexpr std::string_view kWorkspaceRole = "workspace";

using InputValues = std::vector<std::vector<double>>;

// Observers of the setup of a kernel; null: not observed.
struct SetupObservers {
  MemoryCollector* memory = nullptr;   // host memory for setup
  MemoryCollector* buffers = nullptr;  // memory of the kernel's buffers, which may be on a device
  // Returns the observer of the first run; may return null.
  std::function<ops::StepObserver*(ops::Kernel&)> first_run = nullptr;
};

class PreparedKernel {
 public:
  // Creates the kernel twice (to time the second creation), allocates, packs, poisons the outputs
  // and runs once. Returns an error of kind `skipped` if the memory is insufficient: `available` on
  // the host, if known, or the free memory of the backend's device. An error names the kernel only
  // if the kernel is at fault: it cannot be bound, or its run failed.
  static Result<PreparedKernel, ops::BackendError> build(
      ops::Backend& backend, const Workload& workload, const InputValues& values, Clock& clock,
      std::optional<Bytes> available, const ops::InputLayouts& input_layouts = {},
      const SetupObservers& observers = {});

  ops::Kernel& kernel() { return *kernel_; }
  const PreparationTimes& preparation() const { return preparation_; }  // has all times
  std::vector<void*> addresses();  // its own buffers, in the order of kernel().buffers()
  // Returns the outputs in their plain form, in order.
  Result<std::vector<AlignedBuffer>> outputs();
  // Fills the outputs with a value that no result has, as before the first run, and runs again.
  // `invocation`: another one of the kernel on the same buffers; null: its own.
  Status run_again(ops::Invocation* invocation);
  // Runs again with a different poison value. Integer outputs that the kernel does not write then
  // change. The error names the kernel only if its run failed.
  Result<Done, ops::BackendError> run_with_other_poison();

 private:
  PreparedKernel() = default;
  Status allocate_and_pack(ops::DeviceMemory* memory, const Workload& workload,
                           const InputValues& values, Clock& clock,
                           const SetupObservers& observers);
  Status bind();
  ops::BackendError kernel_failure(const Error& error) const;
  Status poison(std::uint8_t pattern);
  Status run(ops::StepObserver* observer = nullptr);

  std::unique_ptr<ops::Kernel> kernel_;
  TrackedAllocation workspace_;  // the kernel's own memory on a device
  std::vector<ops::Tensor> tensors_;
  std::vector<CaseBuffer> buffers_;
  std::vector<TrackedAllocation> tracked_;  // declared after buffers_, which it must not outlive
  // Declared after kernel_ and buffers_, which it uses.
  std::unique_ptr<ops::Invocation> invocation_;
  PreparationTimes preparation_;
};

}  // namespace bench
