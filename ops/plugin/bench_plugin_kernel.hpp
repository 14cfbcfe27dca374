// SPDX-License-Identifier: Apache-2.0
// Kernels of the plugin interface for C++17. bench_plugin.hpp contains the rest.
#pragma once

#include "ops/plugin/bench_plugin_operator.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::plugin {

// ---- Executions --------------------------------------------------------------------------------

// A kernel bound to buffers.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void run() = 0;  // runs one execution; must not allocate
};

// Observes the steps of an execution. `step` is an index in Kernel::steps(). Call begins(),
// enqueued() and done() for each step, in the order of the steps.
class Observer {
 public:
  explicit Observer(const bench_observer* raw) : raw_(raw) {}

  void begins(std::size_t step) const noexcept { raw_->begins(raw_->self, step); }
  // The call to execute has returned.
  void enqueued(std::size_t step) const noexcept { raw_->enqueued(raw_->self, step); }
  // Call this after waiting for the end of the step. Do not call it for a step that failed.
  void done(std::size_t step) const noexcept { raw_->done(raw_->self, step); }

 private:
  const bench_observer* raw_;
};

// An invocation that can also run step by step. The program calls run_observed() in place of run()
// when it profiles. Any other invocation is one step.
class SteppedInvocation : public Invocation {
 public:
  virtual void run_observed(const Observer& observer) = 0;
};

namespace detail {

// An Invocation in the form of the C interface.
struct InvocationHolder {
  explicit InvocationHolder(std::vector<void*> bound) : buffers(std::move(bound)) {}

  std::vector<void*> buffers;
  std::unique_ptr<Invocation> invocation;
  SteppedInvocation* stepped = nullptr;  // the same object, if it can run step by step
  std::string error;
  bench_invocation raw = {};

  static InvocationHolder& of(void* self) { return *static_cast<InvocationHolder*>(self); }

  void hold(std::unique_ptr<Invocation> new_invocation) {
    invocation = std::move(new_invocation);
    stepped = dynamic_cast<SteppedInvocation*>(invocation.get());
    raw.size = sizeof raw;
    raw.self = this;
    raw.run = [](void* self) { return of(self).attempt([&] { of(self).invocation->run(); }); };
    raw.error = [](void* self) -> const char* { return of(self).error.c_str(); };
    if (stepped != nullptr) {
      raw.run_observed = [](void* self, const bench_observer* observer) {
        return of(self).attempt([&] { of(self).stepped->run_observed(Observer(observer)); });
      };
    }
    raw.destroy = [](void* self) { delete static_cast<InvocationHolder*>(self); };
  }

  template <class Function>
  bench_status attempt(Function function) noexcept {
    try {
      function();
      return BENCH_OK;
    } catch (const std::exception& thrown) {
      error = thrown.what();
    } catch (...) {
      error = "an exception of an unknown type";
    }
    return BENCH_FAILED;
  }
};

}  // namespace detail

// ---- Samples on a device's clock ---------------------------------------------------------------

// A request for a sample. Iteration i, from 0, uses buffers(i), to which invocation(i) is bound.
class SampleRequest {
 public:
  explicit SampleRequest(const bench_sample_request* raw) : raw_(raw) {}

  int64_t iterations() const { return raw_->iterations; }
  int32_t how() const { return raw_->how; }  // BENCH_SAMPLE_ANY, ...
  void* const* buffers(int64_t iteration) const {
    return at(rotation_index(iteration)).buffers.data();
  }
  // Returns the object that Kernel::bind() returned.
  Invocation& invocation(int64_t iteration) const {
    return *at(rotation_index(iteration)).invocation;
  }

 private:
  std::size_t rotation_index(int64_t iteration) const {
    return static_cast<std::size_t>(raw_->first + iteration) % raw_->rotation_count;
  }
  const detail::InvocationHolder& at(std::size_t index) const {
    return detail::InvocationHolder::of(raw_->rotation[index]->self);
  }

  const bench_sample_request* raw_;
};

// Values are nullopt if unknown.
struct Sample {
  std::optional<std::chrono::nanoseconds> device;  // total of all iterations, on the device's clock
  std::optional<std::chrono::nanoseconds> host;    // time that the host spent on launching them
  std::optional<int64_t> clock_hz;                 // average clock of the device's processors
  uint32_t flags = 0;                              // BENCH_SAMPLE_VOID, ...
  std::string reason;                              // reason for the flags
  int32_t how = BENCH_SAMPLE_STREAM;               // the method used
};

// Takes samples on a device's clock. If sample() throws, the case fails. If only this sample is
// unusable, set a flag with a reason.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual Sample sample(const SampleRequest& request) = 0;
};

// ---- Kernels -----------------------------------------------------------------------------------

// A buffer of a kernel.
struct KernelBuffer {
  int32_t role;        // BENCH_ROLE_INPUT, ...
  int64_t bytes;       // in the layout that the kernel requires
  std::string layout;  // human-readable: "nChw16c"
};

// One primitive that a kernel executes, human-readable.
struct KernelStep {
  std::string kind;            // "convolution"
  std::string implementation;  // the library's name for the implementation
  std::string layouts;         // "abcd -> acdb"; "" if not meaningful
};

// Converts a tensor between its plain row-major form in host memory and the kernel's layout in one
// of its buffers. Never timed.
class Packing {
 public:
  virtual ~Packing() = default;
  virtual void pack(std::size_t tensor, const void* plain, void* packed) = 0;
  virtual void unpack(std::size_t tensor, const void* packed, void* plain) = 0;
};

// A problem that is ready to run. Its buffers are in the memory of its backend's device,
// or in host memory if the backend has none. Override run(), or bind() to prepare something for
// each set of buffers. Tensors are plain row-major unless the kernel has a packing. The program
// calls the functions that describe the kernel when it receives the kernel. Later it calls
// details(), packing() and sampler() again.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // The kernel's own name for its implementation: "simple", "avx2".
  virtual const char* implementation() const = 0;
  // In the order of execution. Empty: one step.
  virtual std::vector<KernelStep> steps() const { return {}; }
  // One buffer per tensor of the problem, in its order. Empty: in its plain form.
  virtual std::vector<KernelBuffer> buffers() const { return {}; }
  // Null: tensors are plain. The object must live as long as the kernel.
  virtual Packing* packing() { return nullptr; }
  // Null: the program times run() with its own clock. The object must live as long as the kernel.
  virtual Sampler* sampler() { return nullptr; }
  // Bytes that the kernel itself allocated.
  virtual int64_t workspace() const { return 0; }
  // Whether the device rounds sums to fewer bits than f32, whatever is asked for. The check of the
  // results then allows for it as for fast accumulation.
  virtual bool has_reduced_sums() const { return false; }
  // Further details: the engine or algorithm; parts of the creation time as "setup.NAME_ns". Called
  // again after samples 1, 2, 4, 8, ..., because more may be known then.
  virtual std::map<std::string, std::string> details() const { return {}; }
  // Called once, before the first run. Derives from the inputs what must not be timed.
  virtual void prepare(void* const* buffers) { static_cast<void>(buffers); }
  // buffers[t]: buffer t of buffers().
  virtual std::unique_ptr<Invocation> bind(std::vector<void*> buffers);
  // Runs one execution and waits for its end.
  virtual void run(void* const* buffers) {
    static_cast<void>(buffers);
    throw Error(BENCH_FAILED, "the kernel overrides neither run() nor bind()");
  }
};

// A kernel that is timed on its device's own clock instead of around run().
class DeviceKernel : public Kernel, public Sampler {
 public:
  Sample sample(const SampleRequest& request) override = 0;
  Sampler* sampler() final { return this; }
};

namespace detail {

constexpr int64_t kUnknown = -1;
constexpr int64_t kTypeBytes[] = {8, 4, 2, 2, 4, 1, 1, 1, 1};  // by BENCH_F64, ...

class PlainInvocation final : public Invocation {
 public:
  PlainInvocation(Kernel& kernel, std::vector<void*> buffers)
      : kernel_(kernel), buffers_(std::move(buffers)) {}
  void run() override { kernel_.run(buffers_.data()); }

 private:
  Kernel& kernel_;
  std::vector<void*> buffers_;
};

// The tensors of a problem in their plain form.
inline std::vector<KernelBuffer> plain_buffers(const Problem& problem) {
  std::vector<KernelBuffer> buffers;
  for (std::size_t i = 0; i < problem.tensor_count(); ++i) {
    const Tensor tensor = problem.tensor(i);
    buffers.push_back({tensor.role(), tensor.elements() * kTypeBytes[tensor.dtype()], "plain"});
  }
  return buffers;
}

// A Kernel in the form of the C interface.
class KernelHolder {
 public:
  // The host destroys the result, which deletes the kernel. `default_buffers`: buffers of a kernel
  // that lists none. `problem`: for built-in operators, the problem of the kernel; plugins pass
  // null.
  static const bench_kernel* release(std::unique_ptr<Kernel> kernel,
                                     std::vector<KernelBuffer> default_buffers,
                                     const bench_problem* problem = nullptr) {
    auto holder = std::make_unique<KernelHolder>(std::move(kernel), std::move(default_buffers));
    holder->raw_.problem = problem;
    return &holder.release()->raw_;
  }

  KernelHolder(std::unique_ptr<Kernel> kernel, std::vector<KernelBuffer> default_buffers)
      : kernel_(std::move(kernel)), buffers_(kernel_->buffers()), steps_(kernel_->steps()) {
    if (buffers_.empty()) buffers_ = std::move(default_buffers);
    for (const KernelBuffer& each : buffers_) {
      buffer_rows_.push_back({sizeof(bench_buffer), each.role, each.bytes, each.layout.c_str()});
    }
    for (const bench_buffer& row : buffer_rows_) buffer_pointers_.push_back(&row);
    for (const KernelStep& each : steps_) {
      step_rows_.push_back({sizeof(bench_step), each.kind.c_str(), each.implementation.c_str(),
                            each.layouts.c_str()});
    }
    for (const bench_step& row : step_rows_) step_pointers_.push_back(&row);
    fill_table();
    read_details();
  }

 private:
  static KernelHolder& of(void* self) { return *static_cast<KernelHolder*>(self); }

  void fill_table() {
    raw_.size = sizeof raw_;
    raw_.self = this;
    raw_.implementation = kernel_->implementation();
    raw_.steps = step_pointers_.data();
    raw_.step_count = step_pointers_.size();
    raw_.buffers = buffer_pointers_.data();
    raw_.buffer_count = buffer_pointers_.size();
    raw_.workspace = kernel_->workspace();
    raw_.has_reduced_sums = kernel_->has_reduced_sums() ? 1 : 0;
    if (kernel_->packing() != nullptr) {
      raw_.pack = [](void* self, std::size_t tensor, const void* plain, void* packed,
                     bench_message* message) {
        return guarded(message, [&] { of(self).kernel_->packing()->pack(tensor, plain, packed); });
      };
      raw_.unpack = [](void* self, std::size_t tensor, const void* packed, void* plain,
                       bench_message* message) {
        return guarded(message,
                       [&] { of(self).kernel_->packing()->unpack(tensor, packed, plain); });
      };
    }
    raw_.prepare = [](void* self, void* const* buffers, bench_message* message) {
      return guarded(message, [&] { of(self).kernel_->prepare(buffers); });
    };
    raw_.bind = bind;
    raw_.destroy = [](void* self) { delete static_cast<KernelHolder*>(self); };
    if (kernel_->sampler() != nullptr) raw_.sample = sample;
  }

  // Rows that the host may have read keep their addresses, so a new value is another row.
  void read_details() {
    for (auto& [name, value] : kernel_->details()) {
      const auto [entry, is_new] = details_.try_emplace(name, value);
      if (!is_new && entry->second == value) continue;
      entry->second = value;
      const auto& text = detail_texts_.emplace_back(name, value);
      const bench_detail row = {sizeof(bench_detail), text.first.c_str(), text.second.c_str()};
      detail_pointers_.push_back(&detail_rows_.emplace_back(row));
    }
    raw_.details = detail_pointers_.data();
    raw_.detail_count = detail_pointers_.size();
  }

  static bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                           bench_message* message) {
    return guarded(message, [&] {
      const std::size_t count = of(self).buffers_.size();
      auto bound = std::make_unique<InvocationHolder>(std::vector(buffers, buffers + count));
      bound->hold(of(self).kernel_->bind(bound->buffers));
      *invocation = &bound.release()->raw;
    });
  }
  static bench_status sample(void* self, const bench_sample_request* request, bench_sample* output,
                             bench_message* message) {
    return guarded(message, [&] {
      KernelHolder& holder = of(self);
      const Sample result = holder.kernel_->sampler()->sample(SampleRequest(request));
      output->device_ns = result.device ? result.device->count() : kUnknown;
      output->host_ns = result.host ? result.host->count() : kUnknown;
      output->clock_hz = result.clock_hz.value_or(kUnknown);
      output->flags = result.flags;
      output->how = result.how;
      write(result.reason, "", "", message);
      // Details change only with the first samples, and reading them between samples costs time.
      const uint64_t count = ++holder.sample_count_;
      if ((count & (count - 1)) == 0) holder.read_details();
    });
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<KernelBuffer> buffers_;
  std::vector<bench_buffer> buffer_rows_;
  std::vector<const bench_buffer*> buffer_pointers_;
  std::vector<KernelStep> steps_;
  std::vector<bench_step> step_rows_;
  std::vector<const bench_step*> step_pointers_;
  std::map<std::string, std::string> details_;  // the latest value of each name
  std::deque<std::pair<std::string, std::string>> detail_texts_;
  std::deque<bench_detail> detail_rows_;
  std::vector<const bench_detail*> detail_pointers_;
  uint64_t sample_count_ = 0;  // samples taken so far
  bench_kernel raw_ = {};
};

}  // namespace detail

inline std::unique_ptr<Invocation> Kernel::bind(std::vector<void*> buffers) {
  return std::make_unique<detail::PlainInvocation>(*this, std::move(buffers));
}

}  // namespace bench::plugin
