// SPDX-License-Identifier: Apache-2.0
// The interfaces of backends, kernels and invocations. A backend turns a problem or a network into
// a kernel; a kernel bound to buffers is an invocation. Implementations are in ops/<backend>/ and
// ops/<op>/<backend>.cpp. Only workers call them.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/kernel_facts.hpp"
#include "ops/problem.hpp"

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

// The reason why a backend has not created or run a kernel.
// unsupported: the library, CPU or device does not support it. skipped: not enough memory. failed:
// an error.
struct BackendError {
  enum class Kind { unsupported, skipped, failed };
  Kind kind;
  std::string reason;
  // The kernel that was created and then failed; empty if there was none.
  std::string implementation = {};
  std::map<std::string, std::string> details = {};
};
inline BackendError unsupported(std::string reason) {
  return {BackendError::Kind::unsupported, std::move(reason)};
}

// activation: an intermediate result of a network. index: an input whose elements are positions in
// other tensors (ops/tensor.hpp). It keeps the values that it was packed with; any other buffer may
// be replaced by memory with other numbers. With cold caches it therefore stays in its place.
BENCH_ENUM(BufferRole, input, weights, output, activation, index);

struct KernelBuffer {
  BufferRole role;
  Bytes size;          // in the layout that the kernel requires
  std::string layout;  // human-readable: "nChw16c", "acdb", "blob"
};

// Whether an observed execution waits for each step before the next one begins, or only at its end.
// Without the waits a device stays busy between steps; a trace of the device then has their times.
enum class StepWait { each_step, end };

// Observes each step of an execution, by its index in Kernel::steps(). Of each step the calls come
// in the order begins, enqueued, done; a failure may leave out the later ones. They come between
// the library's calls, so the observer's own work is part of the profiled time.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // What the observer asks for. With `end`, an execution that can enqueue steps without waiting
  // reports none of them as done. One that cannot waits and reports them.
  virtual StepWait wait() const noexcept { return StepWait::each_step; }
  virtual void begins(std::size_t step) noexcept = 0;
  virtual void enqueued(std::size_t step) noexcept = 0;  // the call to execute has returned
  virtual void done(std::size_t step) noexcept = 0;      // after the wait for its end
  // Called at the begin and the end of a named part of the running step. Only some kernels name
  // parts. Parts nest.
  virtual void part_begins(std::string_view name) noexcept { static_cast<void>(name); }
  virtual void part_ends() noexcept {}
};

// How a kernel adds products. reduced: in fewer bits than f32, as `math: fast_accumulation`
// permits.
enum class Summation { full, reduced };

// The threads on which a kernel computes. openmp: those of the OpenMP runtime, as all that this
// program itself runs in parallel. own: threads of the library. They wait while threads of OpenMP
// spin on their processors, which these do for a while after a parallel region.
enum class KernelThreads { openmp, own };

// A kernel bound to buffers. run() enqueues one execution; on a CPU it returns when the execution
// has finished. It does not allocate, and this project's code takes no locks in it.
class Invocation {
 public:
  virtual ~Invocation() = default;
  // Returns false on failure; error() then returns the reason.
  virtual bool run() noexcept = 0;
  // Like run(), for the profile pass: runs step by step, and waits as the observer asks for. A step
  // that fails is not reported as `done`. An invocation without its own steps counts as one step.
  virtual bool run_observed(StepObserver& observer) noexcept {
    observer.begins(0);
    const bool ok = run();
    observer.enqueued(0);
    if (ok) observer.done(0);
    return ok;
  }
  virtual std::string error() const = 0;
};

// Not thread-safe. It must outlive its invocations.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // The library's own name for the implementation: "brgconv:avx512_core". For a network: the number
  // of primitives of each kind.
  virtual std::string implementation() const = 0;
  // Returns the steps in the order of execution; empty if the kernel names no steps.
  virtual std::vector<KernelStep> steps() const { return {}; }
  // One buffer per tensor of the problem (or network), in its order; for networks, then the
  // activations.
  virtual std::span<const KernelBuffer> buffers() const = 0;
  // Memory that the kernel itself allocates at creation and its invocations share: the oneDNN
  // scratchpad, the workspace of a backward pass.
  virtual Bytes workspace() const = 0;
  // Returns whether buffers contain the tensors in their plain form, in host memory.
  virtual bool takes_plain() const { return false; }
  // Returns whether pack() changes the layout of tensor `index`. If not, it only copies.
  virtual bool converts_layout(std::size_t index) const {
    static_cast<void>(index);
    return !takes_plain();
  }
  // Converts tensor `index` between its plain row-major form (in its own data type) and the
  // kernel's layout. This is setup and never part of a sample.
  virtual Status pack(std::size_t index, const void* plain, void* packed) = 0;
  virtual Status unpack(std::size_t index, const void* packed, void* plain) = 0;
  // Called once, after packing and before the first run. Does the work on the inputs that the timed
  // region must not contain. Example: the forward pass of max pooling, whose workspace the backward
  // pass reads. Most kernels do nothing here.
  virtual Status prepare(std::span<void* const> buffers) = 0;
  virtual Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) = 0;
  // Returns further details: the engine or algorithm, and whether it was tuned. Parts of the
  // creation time are integers named "setup.NAME_ns".
  virtual std::map<std::string, std::string> details() const { return {}; }
  // Returns how the kernel adds products, which its tolerance depends on.
  virtual Summation summation() const { return Summation::full; }
  virtual KernelThreads threads() const { return KernelThreads::openmp; }
  // Returns whether sample() takes samples on a device's clock. If not, the host's clock times
  // run().
  virtual bool has_device_clock() const { return false; }
  // Takes a sample; requires has_device_clock(). Error: an invocation failed, or the device is
  // lost.
  virtual Result<DeviceSample> sample(const SampleRequest& request) {
    static_cast<void>(request);
    return Error{"this kernel cannot take samples", "", ""};
  }
  // Like bind(), for a kernel whose inputs change with each run, as in a training step: run() then
  // does the work of prepare() as well. Kernels that prepare nothing do not override it.
  virtual Result<std::unique_ptr<Invocation>> bind_with_preparation(
      std::span<void* const> buffers) {
    return bind(buffers);
  }
};

// Collectors of a backend's library calls and of the memory that its kernels allocate. Null: not
// collected. Both must outlive everything that is created while they are set.
struct Collectors {
  ApiCalls* api = nullptr;
  MemoryCollector* memory = nullptr;
};

// Creates a kernel of another backend than the current one. Null instead of a kernel: a plugin has
// it, which this process has not loaded.
using KernelMaker =
    std::function<Result<std::unique_ptr<Kernel>, BackendError>(const Problem& problem)>;

// The kinds of work that the library itself prints to standard output.
enum class LibraryOutput { none, executions, creations_and_executions };

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;    // "onednn"
  virtual std::string_view device() const = 0;  // "cpu"
  virtual LibraryInfo library() const = 0;
  // Other libraries that the backend uses.
  virtual std::vector<LibraryInfo> further_libraries() const { return {}; }
  // Memory that the kernels read and write. Null: host memory.
  virtual DeviceMemory* memory() { return nullptr; }
  // Tracer of the device. Null: there is nothing to trace.
  virtual DeviceTracer* tracer() { return nullptr; }
  // Counters of the device. Null: there are none to read.
  virtual DeviceCounters* counters() { return nullptr; }
  // Whether invocations of different kernels may run at the same time. Each kernel is created,
  // bound and run by one thread; the backend is called by one thread at a time.
  virtual bool runs_streams() const { return false; }
  // Returns the error of create() as far as it can be known without creating a kernel: from the
  // problem or network, and from what the library answers about this processor. create() may fail
  // even if this returns nullopt.
  virtual std::optional<BackendError> support_error(const Problem& problem) const {
    static_cast<void>(problem);
    return std::nullopt;
  }
  virtual std::optional<BackendError> support_error(const Network& network) const {
    static_cast<void>(network);
    return std::nullopt;
  }
  virtual Result<std::unique_ptr<Kernel>, BackendError> create(const Problem& problem) = 0;
  virtual Result<std::unique_ptr<Kernel>, BackendError> create(const Network& network) = 0;
  // Creates a problem as a layer of a network. `input_layouts` holds the input layouts that steps()
  // of the network's kernel reported. Names and layouts that the backend does not know are ignored.
  virtual Result<std::unique_ptr<Kernel>, BackendError> create_layer(
      const Problem& problem, const InputLayouts& input_layouts) {
    static_cast<void>(input_layouts);
    return create(problem);
  }
  // Rejects the library's engine in the kernel that create() returned last for a problem: its
  // result was wrong or it did not run, for `reason`. Returns whether the library has another
  // engine. The next creation of the problem then takes that engine, and its kernel's details name
  // the rejected ones. Otherwise nothing changes.
  virtual bool reject_last_engine(std::string_view reason) {
    static_cast<void>(reason);
    return false;
  }
  // Sets the function that creates the layers of a network that other backends serve.
  // Backends whose networks have no such layers ignore it.
  virtual void set_layer_maker(KernelMaker maker) { static_cast<void>(maker); }
  // Sets the collectors that receive everything that is created, bound, packed and executed by
  // run_observed() from now on. Never called in workers that time.
  virtual void observe(const Collectors& collectors) { static_cast<void>(collectors); }
  // Applies to kernels created from now on: the backend measures this many engines, algorithms
  // or implementations and takes the fastest. 0: the library's first choice. Ignored by libraries
  // that offer no choice.
  virtual void set_tuning(std::int64_t candidates) { static_cast<void>(candidates); }
  // Applies to kernels created from now on: the backend measures candidates with these caches.
  // Without it, or if the backend ignores it, it measures with hot ones. The details of a kernel
  // that was chosen with others have "tuned_caches".
  virtual void set_tuned_caches(const TunedCaches& caches) { static_cast<void>(caches); }
  // Returns the choices that the backend has made by measuring since set_choices(), and the engines
  // that it has rejected, as text of its own. Empty: none.
  virtual std::string choices() const { return ""; }
  // Applies to kernels created from now on: the backend repeats these choices, which choices() of
  // another process has returned, instead of measuring. It also takes none of the engines that
  // were rejected there. Choices that it cannot repeat are ignored.
  virtual void set_choices(std::string_view choices) { static_cast<void>(choices); }
  // Sets what the library prints, which overrides the environment's setting. Returns false if this
  // library prints nothing.
  virtual bool set_output(LibraryOutput output) {
    static_cast<void>(output);
    return false;
  }
};

// Creates the CPU backend. Does not throw. One per process is enough. It must outlive its kernels.
std::unique_ptr<Backend> make_onednn_backend();

}  // namespace bench::ops
