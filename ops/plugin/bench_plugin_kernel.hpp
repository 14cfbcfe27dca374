// SPDX-License-Identifier: Apache-2.0
// Kernels of the plugin interface for C++17. bench_plugin.hpp contains the rest.
#pragma once

#include "ops/plugin/bench_plugin_operator.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::plugin {

// A kernel bound to buffers.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void run() = 0;  // runs one execution; must not allocate
};

namespace detail {

// An Invocation in the form of the C interface.
struct InvocationHolder {
  std::unique_ptr<Invocation> invocation;
  std::vector<void*> buffers;
  std::string error;
  bench_invocation raw;

  static bench_status run(void* self) noexcept {
    auto& held = *static_cast<InvocationHolder*>(self);
    try {
      held.invocation->run();
      return BENCH_OK;
    } catch (const std::exception& thrown) {
      held.error = thrown.what();
    } catch (...) {
      held.error = "an exception of an unknown type";
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
  void* const* buffers(int64_t iteration) const { return holder(iteration).buffers.data(); }
  // Returns the object that Kernel::bind() returned.
  Invocation& invocation(int64_t iteration) const { return *holder(iteration).invocation; }

 private:
  const detail::InvocationHolder& holder(int64_t iteration) const {
    const auto place = static_cast<std::size_t>(raw_->first + iteration) % raw_->rotation_count;
    return *static_cast<detail::InvocationHolder*>(raw_->rotation[place]->self);
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

// ---- Kernels -----------------------------------------------------------------------------------

// A problem that is ready to run, in memory of its backend's device or else in host memory. Tensors
// are plain row-major. Override run(), or bind() to prepare something for each set of buffers.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // The kernel's own name for its implementation: "simple", "avx2".
  virtual const char* implementation() const = 0;
  // Bytes that the kernel itself allocated.
  virtual int64_t workspace() const { return 0; }
  // Further details: the engine or algorithm; parts of the creation time as "setup.NAME_ns".
  virtual std::map<std::string, std::string> details() const { return {}; }
  // Called once, before the first run. Derives from the inputs what must not be timed.
  virtual void prepare(void* const* buffers) { static_cast<void>(buffers); }
  // buffers[t]: tensor t of the problem.
  virtual std::unique_ptr<Invocation> bind(std::vector<void*> buffers);
  // Runs one execution and waits for its end.
  virtual void run(void* const* buffers) {
    static_cast<void>(buffers);
    throw Error(BENCH_FAILED, "the kernel overrides neither run() nor bind()");
  }
};

// A kernel that is timed on its device's own clock instead of around run(). If sample() throws, the
// case fails. If only this sample is unusable, set a flag with a reason.
class DeviceKernel : public Kernel {
 public:
  virtual Sample sample(const SampleRequest& request) = 0;
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

// A Kernel in the form of the C interface.
class KernelHolder {
 public:
  KernelHolder(std::unique_ptr<Kernel> kernel, const Problem& problem)
      : kernel_(std::move(kernel)), rows_(problem.tensor_count()), details_(kernel_->details()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Tensor tensor = problem.tensor(i);
      rows_[i] = {sizeof(bench_buffer), tensor.role(),
                  tensor.elements() * kTypeBytes[tensor.dtype()], "plain"};
      row_pointers_.push_back(&rows_[i]);
    }
    raw_.size = sizeof raw_;
    raw_.self = this;
    raw_.implementation = kernel_->implementation();
    raw_.buffers = row_pointers_.data();
    raw_.buffer_count = rows_.size();
    raw_.workspace = kernel_->workspace();
    raw_.prepare = [](void* self, void* const* buffers, bench_message* message) {
      return guarded(message, [&] { static_cast<KernelHolder*>(self)->kernel_->prepare(buffers); });
    };
    raw_.bind = bind;
    raw_.destroy = [](void* self) { delete static_cast<KernelHolder*>(self); };
    for (const auto& [name, value] : details_) {
      detail_rows_.push_back({sizeof(bench_detail), name.c_str(), value.c_str()});
    }
    for (const bench_detail& row : detail_rows_) detail_pointers_.push_back(&row);
    raw_.details = detail_pointers_.data();
    raw_.detail_count = detail_pointers_.size();
    if (dynamic_cast<DeviceKernel*>(kernel_.get()) != nullptr) raw_.sample = sample;
  }

  const bench_kernel* raw() const { return &raw_; }

 private:
  static bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                           bench_message* message) {
    return guarded(message, [&] {
      auto& holder = *static_cast<KernelHolder*>(self);
      auto bound = std::make_unique<InvocationHolder>();
      bound->buffers.assign(buffers, buffers + holder.rows_.size());
      bound->invocation = holder.kernel_->bind(bound->buffers);
      bound->raw.size = sizeof bound->raw;
      bound->raw.self = bound.get();
      bound->raw.run = InvocationHolder::run;
      bound->raw.error = [](void* of) -> const char* {
        return static_cast<InvocationHolder*>(of)->error.c_str();
      };
      bound->raw.destroy = [](void* of) { delete static_cast<InvocationHolder*>(of); };
      *invocation = &bound.release()->raw;
    });
  }
  static bench_status sample(void* self, const bench_sample_request* request, bench_sample* taken,
                             bench_message* message) {
    return guarded(message, [&] {
      auto& kernel = static_cast<DeviceKernel&>(*static_cast<KernelHolder*>(self)->kernel_);
      const Sample made = kernel.sample(SampleRequest(request));
      taken->device_ns = made.device ? made.device->count() : kUnknown;
      taken->host_ns = made.host ? made.host->count() : kUnknown;
      taken->clock_hz = made.clock_hz.value_or(kUnknown);
      taken->flags = made.flags;
      taken->how = made.how;
      write(made.reason, "", "", message);
    });
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<bench_buffer> rows_;
  std::vector<const bench_buffer*> row_pointers_;
  std::map<std::string, std::string> details_;
  std::vector<bench_detail> detail_rows_;
  std::vector<const bench_detail*> detail_pointers_;
  bench_kernel raw_ = {};
};

}  // namespace detail

inline std::unique_ptr<Invocation> Kernel::bind(std::vector<void*> buffers) {
  return std::make_unique<detail::PlainInvocation>(*this, std::move(buffers));
}

}  // namespace bench::plugin
