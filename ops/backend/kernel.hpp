// SPDX-License-Identifier: Apache-2.0
// What runs: a backend turns a problem or a network into a kernel; a kernel bound to buffers is an
// invocation. Implementations live in ops/<backend>/ and ops/<op>/<backend>.cpp; only workers call
// them.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
class ApiCalls;         // profiler/api_calls/api_calls.hpp
class MemoryCollector;  // profiler/memory/memory_collector.hpp
}  // namespace bench

namespace bench::ops {

struct Network;
class DeviceCounters;  // ops/backend/device_counters.hpp

// Why there is no kernel. unsupported: this library, CPU or device does not have it; skipped: not
// enough memory; failed: an error.
struct Refusal {
  enum class Kind { unsupported, skipped, failed };
  Kind kind;
  std::string reason;
};
inline Refusal unsupported(std::string reason) {
  return {Refusal::Kind::unsupported, std::move(reason)};
}

enum class BufferRole {
  input,
  weights,
  output,
  activation
};  // activation: a network's own intermediate results
// In the order of the enumerators: "input", ...
inline constexpr std::array<std::string_view, 4> kBufferRoleNames = {"input", "weights", "output",
                                                                     "activation"};

struct KernelBuffer {
  BufferRole role;
  Bytes size;          // in the layout that the kernel wants
  std::string layout;  // for people: "nChw16c", "acdb", "blob"
};

// Told about each step of an execution, by its number in Kernel::steps(). Called between the calls
// of the library: whatever it does is seen in the profiled time.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void begins(std::size_t step) noexcept = 0;
  virtual void enqueued(std::size_t step) noexcept = 0;  // the call to execute has returned
  virtual void done(std::size_t step) noexcept = 0;      // after the wait for its end
  // A named part of the step that runs, where whoever executes it names parts. They nest.
  virtual void part_begins(std::string_view name) noexcept { static_cast<void>(name); }
  virtual void part_ends() noexcept {}
};

// A kernel bound to buffers. run() enqueues one execution and returns when it is done (CPU). No
// allocation, no locks of ours.
class Invocation {
 public:
  virtual ~Invocation() = default;
  // False on failure; error() then says why.
  virtual bool run() noexcept = 0;
  // The same for the profile pass: step after step, each waited for. A step that fails is not
  // `done`. Without steps of its own an invocation is one.
  virtual bool run_observed(StepObserver& observer) noexcept {
    observer.begins(0);
    const bool ok = run();
    observer.enqueued(0);
    if (ok) observer.done(0);
    return ok;
  }
  virtual std::string error() const = 0;
};

// Not thread-safe. Outlives its invocations.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // The library's own name of what runs: "brgconv:avx512_core"; of a network: the number of
  // primitives by kind.
  virtual std::string implementation() const = 0;
  // In the order of execution.
  virtual std::vector<KernelStep> steps() const { return {}; }
  // One a tensor of the problem (or network), in its order; then, for networks, activations.
  virtual std::span<const KernelBuffer> buffers() const = 0;
  // Allocated by the kernel itself at creation, shared by its invocations (oneDNN scratchpad, a
  // backward pass's workspace).
  virtual Bytes workspace() const = 0;
  // Whether buffers hold the tensors as they are in their plain form, in memory of the host.
  virtual bool takes_plain() const { return false; }
  // Converts tensor `index` between its plain row-major form (its own data type) and the kernel's
  // layout. Setup, never timed as a sample.
  virtual Status pack(std::size_t index, const void* plain, void* packed) = 0;
  virtual Status unpack(std::size_t index, const void* packed, void* plain) = 0;
  // Called once after packing and before the first run, for what an operator derives from its
  // inputs and the timed region must not contain (max pooling's forward pass, whose workspace the
  // backward pass reads). Most do nothing.
  virtual Status prepare(std::span<void* const> buffers) = 0;
  virtual Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) = 0;
  // What else is to be known of it: the engine or algorithm, whether it was tuned; parts of its
  // creation as "setup.NAME_ns", an integer.
  virtual std::map<std::string, std::string> details() const { return {}; }
  // Whether samples are taken on a device's clock, by sample(), and not around run() by the host's.
  virtual bool has_device_clock() const { return false; }
  // Only where it has a device's clock. Error: an invocation failed, or the device is lost.
  virtual Result<DeviceSample> sample(const SampleRequest& request) {
    static_cast<void>(request);
    return Error{"this kernel takes no samples of its own", "", ""};
  }
};

// Who is told what a backend does: its library's calls, the memory that its kernels take. Null: no
// one. They outlive what is made meanwhile.
struct Collectors {
  ApiCalls* api = nullptr;
  MemoryCollector* memory = nullptr;
};

// Makes a kernel of an operator that the backend at hand does not serve.
using KernelMaker = std::function<Result<std::unique_ptr<Kernel>, Refusal>(const Problem& problem)>;

// What the library itself prints about its work, to standard output.
enum class LibraryOutput { none, executions, creations_and_executions };

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;    // "onednn"
  virtual std::string_view device() const = 0;  // "cpu"
  virtual LibraryInfo library() const = 0;
  // Others that it uses.
  virtual std::vector<LibraryInfo> further_libraries() const { return {}; }
  // What its kernels read and write; null: memory of the host.
  virtual DeviceMemory* memory() { return nullptr; }
  // Of the device; null: nothing to trace.
  virtual DeviceTracer* tracer() { return nullptr; }
  // Of the device; null: none that could be read.
  virtual DeviceCounters* counters() { return nullptr; }
  // Why create() will refuse, as far as the problem or network alone tells: nothing is created.
  // Absent: it may still be refused.
  virtual std::optional<Refusal> refusal(const Problem& problem) const {
    static_cast<void>(problem);
    return std::nullopt;
  }
  virtual std::optional<Refusal> refusal(const Network& network) const {
    static_cast<void>(network);
    return std::nullopt;
  }
  virtual Result<std::unique_ptr<Kernel>, Refusal> create(const Problem& problem) = 0;
  virtual Result<std::unique_ptr<Kernel>, Refusal> create(const Network& network) = 0;
  // A problem as the layer of a network, with what steps() of that network's kernel says it meets.
  // Names and layouts that the backend does not know are ignored.
  virtual Result<std::unique_ptr<Kernel>, Refusal> create_layer(const Problem& problem,
                                                                const MetLayouts& met) {
    static_cast<void>(met);
    return create(problem);
  }
  // Who makes the layers of networks that this backend has no kernels for. Ignored by backends
  // whose networks have no such layers.
  virtual void set_layer_maker(KernelMaker maker) { static_cast<void>(maker); }
  // From now on, for what is created, bound, packed and executed by run_observed(). Never called in
  // workers that time.
  virtual void observe(const Collectors& collectors) { static_cast<void>(collectors); }
  // Of what is created from now on: the best of so many engines or algorithms is taken, by
  // measurement. 0: the library's first choice. Ignored by libraries that leave no choice.
  virtual void set_tuning(std::int64_t candidates) { static_cast<void>(candidates); }
  // Overrides what the environment asks for. False: this library prints nothing.
  virtual bool set_output(LibraryOutput output) {
    static_cast<void>(output);
    return false;
  }
};

// The CPU backend. Throws nothing; one a process suffices. Must outlive its kernels.
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace bench::ops
