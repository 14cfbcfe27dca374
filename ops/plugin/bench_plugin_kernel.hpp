// SPDX-License-Identifier: Apache-2.0
// Kernels of the plugin interface for C++17; bench_plugin.hpp has the rest.
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
  virtual void run() = 0;  // one execution: allocates nothing
};

namespace detail {

// An Invocation as the interface has it.
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

// What is asked for: iteration i, from 0, works on buffers(i), as invocation(i) is bound to them.
class SampleRequest {
 public:
  explicit SampleRequest(const bench_sample_request* raw) : raw_(raw) {}

  int64_t iterations() const { return raw_->iterations; }
  int32_t how() const { return raw_->how; }  // BENCH_SAMPLE_ANY, ...
  void* const* buffers(int64_t iteration) const { return holder(iteration).buffers.data(); }
  // What Kernel::bind() has returned.
  Invocation& invocation(int64_t iteration) const { return *holder(iteration).invocation; }

 private:
  const detail::InvocationHolder& holder(int64_t iteration) const {
    const auto place = static_cast<std::size_t>(raw_->first + iteration) % raw_->rotation_count;
    return *static_cast<detail::InvocationHolder*>(raw_->rotation[place]->self);
  }

  const bench_sample_request* raw_;
};

// Absent: not known.
struct Sample {
  std::optional<std::chrono::nanoseconds> device;  // all iterations together, on its clock
  std::optional<std::chrono::nanoseconds> host;    // what the host spent on launching them
  std::optional<int64_t> clock_hz;                 // of the device's processors meanwhile
  uint32_t flags = 0;                              // BENCH_SAMPLE_VOID, ...
  std::string reason;                              // of the flags
  int32_t how = BENCH_SAMPLE_STREAM;               // what was done
};

// ---- Kernels -----------------------------------------------------------------------------------

// A problem that is ready to run, on memory of its backend's device or else of the host, tensors
// plain row-major. Override run(), or bind() where something is prepared for each set of buffers.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Its own name of what runs: "simple", "avx2".
  virtual const char* implementation() const = 0;
  // Bytes that it has allocated itself.
  virtual int64_t workspace() const { return 0; }
  // What else is to be known: the engine or algorithm; parts of its creation as "setup.NAME_ns".
  virtual std::map<std::string, std::string> details() const { return {}; }
  // Once, before the first run, for what is derived from inputs and not timed.
  virtual void prepare(void* const* buffers) { static_cast<void>(buffers); }
  // buffers[t]: tensor t of the problem.
  virtual std::unique_ptr<Invocation> bind(std::vector<void*> buffers);
  // One execution, with the wait for its end.
  virtual void run(void* const* buffers) {
    static_cast<void>(buffers);
    throw Error(BENCH_FAILED, "the kernel overrides neither run() nor bind()");
  }
};

// A kernel whose time is taken on a clock of its own, a device's, and not around run(). What
// sample() throws is the failure of the case; what only spoils this sample is a flag with a reason.
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

// A Kernel as the interface has it.
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
