// SPDX-License-Identifier: Apache-2.0
// The plugin interface of `bench` for C++17: derive from Operator, Kernel and Backend, and list
// what the plugin has with BENCH_PLUGIN. Header-only; no exception leaves the plugin: what is
// thrown becomes a message. docs/plugins.md shows a whole plugin.
#pragma once

#include "ops/plugin/bench_plugin_operator.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench::plugin {

// ---- The host ----------------------------------------------------------------------------------

// A kernel of a built-in operator. Outlives what it binds.
class BuiltInKernel {
 public:
  explicit BuiltInKernel(const bench_kernel* raw) : raw_(raw) {}
  BuiltInKernel(BuiltInKernel&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  BuiltInKernel& operator=(BuiltInKernel&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~BuiltInKernel() {
    if (raw_ != nullptr) raw_->destroy(raw_->self);
  }

  const bench_kernel* raw() const { return raw_; }
  Problem problem() const { return Problem(raw_->problem); }
  // Of tensor `index`, in the layout that it wants.
  int64_t bytes(std::size_t index) const { return raw_->buffers[index]->bytes; }
  void pack(std::size_t tensor, const void* plain, void* packed) const {
    detail::Message message;
    const bench_status status = raw_->pack(raw_->self, tensor, plain, packed, message.get());
    if (status != BENCH_OK) message.raise(status);
  }
  void unpack(std::size_t tensor, const void* packed, void* plain) const {
    detail::Message message;
    const bench_status status = raw_->unpack(raw_->self, tensor, packed, plain, message.get());
    if (status != BENCH_OK) message.raise(status);
  }

 private:
  const bench_kernel* raw_;
};

// A built-in kernel bound to buffers.
class BuiltInInvocation {
 public:
  BuiltInInvocation(const BuiltInKernel& kernel, const std::vector<void*>& buffers) {
    detail::Message message;
    const bench_status status =
        kernel.raw()->bind(kernel.raw()->self, buffers.data(), &raw_, message.get());
    if (status != BENCH_OK) message.raise(status);
  }
  BuiltInInvocation(BuiltInInvocation&& other) noexcept
      : raw_(std::exchange(other.raw_, nullptr)) {}
  BuiltInInvocation& operator=(BuiltInInvocation&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~BuiltInInvocation() {
    if (raw_ != nullptr) raw_->destroy(raw_->self);
  }

  void run() const {
    if (raw_->run(raw_->self) != BENCH_OK) throw Error(BENCH_FAILED, raw_->error(raw_->self));
  }

 private:
  const bench_invocation* raw_ = nullptr;
};

// What the program offers. Valid from Backend::open to Backend::close.
class Host {
 public:
  explicit Host(const bench_host* raw = nullptr) : raw_(raw) {}

  void log(const std::string& text) const { raw_->log(raw_->self, text.c_str()); }
  // `tokens` as in case ids: "m4n4k4".
  BuiltInKernel kernel(const char* op, const std::string& tokens, int32_t dtype = BENCH_F32,
                       int32_t direction = BENCH_FORWARD) const {
    const bench_request request = {
        sizeof(bench_request), op, direction, dtype, BENCH_LAYOUT_ANY, BENCH_MATH_DEFAULT,
        tokens.c_str()};
    const bench_kernel* made = nullptr;
    detail::Message message;
    const bench_status status = raw_->create(raw_->self, &request, &made, message.get());
    if (status != BENCH_OK) message.raise(status);
    return BuiltInKernel(made);
  }
  const bench_host* raw() const { return raw_; }

 private:
  const bench_host* raw_;
};

// A named part of what a kernel does, for the profile: "OPERATOR::NAME".
class Range {
 public:
  Range(const Host& host, const char* name) : host_(host.raw()) {
    host_->range_begin(host_->self, name);
  }
  ~Range() { host_->range_end(host_->self); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const bench_host* host_;
};

// ---- Kernels -----------------------------------------------------------------------------------

// A kernel bound to buffers.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void run() = 0;  // one execution: allocates nothing
};

// A problem that is ready to run on host memory, tensors plain row-major. Override run(), or bind()
// where something is prepared for each set of buffers.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Its own name of what runs: "simple", "avx2".
  virtual const char* implementation() const = 0;
  // Bytes that it has allocated itself.
  virtual int64_t workspace() const { return 0; }
  // Once, before the first run, for what is derived from inputs and not timed.
  virtual void prepare(void* const* buffers) { static_cast<void>(buffers); }
  // buffers[t]: tensor t of the problem.
  virtual std::unique_ptr<Invocation> bind(std::vector<void*> buffers);
  virtual void run(void* const* buffers) {
    static_cast<void>(buffers);
    throw Error(BENCH_FAILED, "the kernel overrides neither run() nor bind()");
  }
};

namespace detail {

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

// An Invocation as the interface has it.
struct InvocationHolder {
  std::unique_ptr<Invocation> invocation;
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

// A Kernel as the interface has it.
class KernelHolder {
 public:
  KernelHolder(std::unique_ptr<Kernel> kernel, const Problem& problem)
      : kernel_(std::move(kernel)), rows_(problem.tensor_count()) {
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
  }

  const bench_kernel* raw() const { return &raw_; }

 private:
  static bench_status bind(void* self, void* const* buffers, const bench_invocation** invocation,
                           bench_message* message) {
    return guarded(message, [&] {
      auto& holder = *static_cast<KernelHolder*>(self);
      auto bound = std::make_unique<InvocationHolder>();
      bound->invocation = holder.kernel_->bind({buffers, buffers + holder.rows_.size()});
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

  std::unique_ptr<Kernel> kernel_;
  std::vector<bench_buffer> rows_;
  std::vector<const bench_buffer*> row_pointers_;
  bench_kernel raw_ = {};
};

}  // namespace detail

inline std::unique_ptr<Invocation> Kernel::bind(std::vector<void*> buffers) {
  return std::make_unique<detail::PlainInvocation>(*this, std::move(buffers));
}

// ---- Backends ----------------------------------------------------------------------------------

// Kernels over host memory, for the CPU. `operators`: names of those that it serves.
class Backend {
 public:
  Backend(const char* name, std::vector<const char*> operators) : operators_(std::move(operators)) {
    raw_.size = sizeof raw_;
    raw_.self = this;
    raw_.name = name;
    raw_.device = "cpu";
    raw_.operators = operators_.data();
    raw_.operator_count = operators_.size();
    raw_.open = open;
    raw_.close = [](void* state) { static_cast<Backend*>(state)->closed(); };
    raw_.create = create;
  }
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Throw Error(BENCH_SKIPPED, reason) where it cannot run on this machine.
  virtual void opened() {}
  virtual void closed() noexcept {}
  // Throw Error(BENCH_UNSUPPORTED, reason) for what it does not have.
  virtual std::unique_ptr<Kernel> make(const Problem& problem) = 0;

  const bench_backend* raw() const { return &raw_; }

 protected:
  const Host& host() const { return host_; }

 private:
  static bench_status open(void* self, const bench_host* host, void** state,
                           bench_message* message) {
    return detail::guarded(message, [&] {
      auto& backend = *static_cast<Backend*>(self);
      backend.host_ = Host(host);
      backend.opened();
      *state = self;
    });
  }
  static bench_status create(void* state, const bench_problem* problem, const bench_kernel** kernel,
                             bench_message* message) {
    return detail::guarded(message, [&] {
      const Problem view(problem);
      auto made = static_cast<Backend*>(state)->make(view);
      // Deletes itself when the host destroys the kernel.
      *kernel = (new detail::KernelHolder(std::move(made), view))->raw();
    });
  }

  std::vector<const char*> operators_;
  Host host_;
  bench_backend raw_ = {};
};

// ---- The plugin --------------------------------------------------------------------------------

// What bench_plugin_entry() returns: lives as long as the process.
class Plugin {
 public:
  Plugin(const char* name, const char* version) {
    raw_.size = sizeof raw_;
    raw_.abi = BENCH_PLUGIN_ABI;
    raw_.name = name;
    raw_.version = version;
  }
  Plugin& add(std::unique_ptr<Operator> op) {
    operator_rows_.push_back(op->raw());
    operators_.push_back(std::move(op));
    return *this;
  }
  Plugin& add(std::unique_ptr<Backend> backend) {
    backend_rows_.push_back(backend->raw());
    backends_.push_back(std::move(backend));
    return *this;
  }
  const bench_plugin* raw() {
    raw_.operators = operator_rows_.data();
    raw_.operator_count = operator_rows_.size();
    raw_.backends = backend_rows_.data();
    raw_.backend_count = backend_rows_.size();
    return &raw_;
  }

 private:
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<const bench_operator*> operator_rows_;
  std::vector<const bench_backend*> backend_rows_;
  bench_plugin raw_ = {};
};

}  // namespace bench::plugin

// Exports the plugin that `make` builds: BENCH_PLUGIN(make), where `make` is a function without
// arguments that returns a Plugin by value. A plugin that throws while it is made has no entry.
#define BENCH_PLUGIN(make)                                                  \
  extern "C" BENCH_PLUGIN_EXPORT const bench_plugin* bench_plugin_entry() { \
    try {                                                                   \
      static bench::plugin::Plugin plugin = make();                         \
      return plugin.raw();                                                  \
    } catch (...) {                                                         \
      return nullptr;                                                       \
    }                                                                       \
  }
