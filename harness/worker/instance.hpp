// SPDX-License-Identifier: Apache-2.0
// A kernel with buffers of its own, packed with data and run once: the steps before timing, each
// with its duration.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/worker/arena.hpp"
#include "harness/worker/case_buffer.hpp"
#include "harness/worker/subject.hpp"
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

// Of memory that a kernel took for itself, in profiles.
inline constexpr std::string_view kWorkspaceRole = "workspace";

using InputValues = std::vector<std::vector<double>>;

// Who watches an instance come about; null: nobody.
struct Watchers {
  MemoryCollector* memory = nullptr;
  MemoryCollector* buffers = nullptr;  // of the kernel's, which may lie on a device
  std::function<ops::StepObserver*(ops::Kernel&)> first_run = nullptr;
};

class Instance {
 public:
  struct Durations {
    Nanoseconds create{0};      // the library's cache misses
    Nanoseconds create_hit{0};  // the same again
    Nanoseconds reorder{0};     // packing all inputs
    Nanoseconds first_run{0};
  };

  // Creates twice, allocates, packs, poisons the outputs and runs once. Refusal `skipped` when the
  // memory does not suffice: `available` of the host, where known, or what the backend's device has
  // left.
  static Result<Instance, ops::Refusal> build(ops::Backend& backend, const Subject& subject,
                                              const InputValues& values, Clock& clock,
                                              std::optional<Bytes> available,
                                              const ops::MetLayouts& met = {},
                                              const Watchers& watchers = {});

  ops::Kernel& kernel() { return *kernel_; }
  const Durations& durations() const { return durations_; }
  std::vector<void*> addresses();  // of its own buffers, in the order of kernel().buffers()
  // The outputs in their plain form, in order.
  Result<std::vector<AlignedBuffer>> outputs();
  // Runs again over another poison: an integer output that is not written shows as a change.
  Status run_again();

 private:
  Instance() = default;
  Status allocate_and_pack(ops::DeviceMemory* memory, const Subject& subject,
                           const InputValues& values, Clock& clock, const Watchers& watchers);
  Status poison(std::uint8_t pattern);
  Status run(ops::StepObserver* observer = nullptr);

  std::unique_ptr<ops::Kernel> kernel_;
  TrackedAllocation workspace_;  // of the kernel, on a device
  std::vector<ops::Tensor> tensors_;
  std::vector<CaseBuffer> buffers_;
  std::vector<TrackedAllocation> tracked_;       // after buffers_, which it must not outlive
  std::unique_ptr<ops::Invocation> invocation_;  // after kernel_ and buffers_, which it uses
  Durations durations_;
};

}  // namespace bench
