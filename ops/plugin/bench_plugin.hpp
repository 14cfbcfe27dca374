// SPDX-License-Identifier: Apache-2.0
// The plugin interface of `bench` for C++17: derive from Operator, Kernel and Backend, and list the
// plugin's classes with BENCH_PLUGIN. Header-only. No exception leaves the plugin: it becomes a
// message. docs/plugins.md shows a complete plugin.
#pragma once

#include "ops/plugin/bench_plugin_kernel.hpp"
#include "ops/plugin/bench_plugin_operator.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::plugin {

// ---- The host ----------------------------------------------------------------------------------

// A kernel of a built-in operator. It must outlive its invocations.
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
  // Bytes of tensor `index` in the layout that the kernel requires.
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

// The services of the program. Valid from Backend::open to Backend::close.
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
    const bench_kernel* created = nullptr;
    detail::Message message;
    const bench_status status = raw_->create(raw_->self, &request, &created, message.get());
    if (status != BENCH_OK) message.raise(status);
    return BuiltInKernel(created);
  }
  const bench_host* raw() const { return raw_; }

 private:
  const bench_host* raw_;
};

// A named part of a kernel's work, for the profile: "OPERATOR::NAME".
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

// ---- Backends ----------------------------------------------------------------------------------

// A library that a backend uses.
struct LibraryInfo {
  std::string name, version;
  std::string path;    // path of the loaded file; "" if it is part of the plugin
  std::string detail;  // further details; may be ""
};

// Device memory that the CPU never accesses. Functions throw on failure.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* allocate(int64_t bytes) = 0;  // aligned to 64 bytes
  virtual void release(void* address) noexcept = 0;
  virtual void copy_in(void* device, const void* host, int64_t bytes) = 0;
  virtual void copy_out(void* host, const void* device, int64_t bytes) = 0;
  virtual void fill(void* device, uint8_t value, int64_t bytes) = 0;  // sets every byte
  // cache(): bytes of the device's last-level cache. available(): bytes of memory that are free
  // now. Both return nullopt if unknown.
  virtual std::optional<int64_t> cache() { return std::nullopt; }
  virtual std::optional<int64_t> available() { return std::nullopt; }
};

// Kernels for one device. `operators`: names of the operators that it serves. All texts must live
// as long as the backend. Without `memory` kernels use host memory.
class Backend {
 public:
  Backend(const char* name, std::vector<const char*> operators, const char* device = "cpu",
          std::unique_ptr<Memory> memory = nullptr)
      : operators_(std::move(operators)), memory_(std::move(memory)) {
    raw_.size = sizeof raw_;
    raw_.self = this;
    raw_.name = name;
    raw_.device = device;
    raw_.operators = operators_.data();
    raw_.operator_count = operators_.size();
    raw_.probe = [](void* self, bench_message* message) {
      return detail::guarded(message, [&] { of(self).probe(); });
    };
    raw_.open = open;
    raw_.close = close;
    raw_.libraries = list_libraries;
    raw_.memory = memory_ != nullptr ? memory_table() : nullptr;
    raw_.create = create;
    raw_.set_tuning = [](void* state, int64_t candidates) { of(state).set_tuning(candidates); };
    raw_.choices = [](void* state) {
      Backend& backend = of(state);
      backend.choices_ = backend.choices();
      return backend.choices_.c_str();
    };
    raw_.set_choices = [](void* state, const char* choices) { of(state).set_choices(choices); };
    raw_.reject_last_engine = [](void* state, const char* reason) -> int32_t {
      return of(state).reject_last_engine(reason) ? 1 : 0;
    };
    raw_.set_tuned_caches = [](void* state, int32_t caches, int64_t rotation) {
      of(state).set_tuned_caches(caches, rotation);
    };
  }
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Throw Error(BENCH_SKIPPED, reason) if the backend cannot run on this machine. probe() makes the
  // cheap checks; `bench list` calls it too. opened() makes the other checks, once per process.
  virtual void probe() const {}
  virtual void opened() {}
  virtual void closed() noexcept {}
  // The first one names the backend's library in results. Empty: the plugin itself.
  virtual std::vector<LibraryInfo> libraries() { return {}; }
  // Applies to kernels created from now on, for `tune: n`: the backend measures this many
  // candidates and takes the fastest. 0: the first choice.
  virtual void set_tuning(int64_t candidates) noexcept { static_cast<void>(candidates); }
  // choices() returns what the backend has chosen by measuring since set_choices(), and the engines
  // that it has rejected, as text of its own. set_choices() makes it repeat the choices of another
  // process instead of measuring, without the engines that were rejected there.
  virtual std::string choices() noexcept { return {}; }
  virtual void set_choices(const std::string& choices) noexcept { static_cast<void>(choices); }
  // Applies to kernels created from now on: candidates are measured with these caches
  // (BENCH_CACHES_...), whose executions rotate over copies of `rotation` bytes in all. A kernel
  // that was chosen so says it in its detail "tuned_caches".
  virtual void set_tuned_caches(int32_t caches, int64_t rotation) noexcept {
    static_cast<void>(caches);
    static_cast<void>(rotation);
  }
  // The last created kernel gave a wrong result or failed, for this reason. Returns whether the
  // same creation now uses another engine or algorithm of the library.
  virtual bool reject_last_engine(const std::string& reason) noexcept {
    static_cast<void>(reason);
    return false;
  }
  // Throws Error(BENCH_UNSUPPORTED, reason) for unsupported problems.
  virtual std::unique_ptr<Kernel> make(const Problem& problem) = 0;
  // Valid from opened() to closed(). Null: kernels read and write host memory.
  virtual Memory* memory() { return memory_.get(); }

  const bench_backend* raw() const { return &raw_; }

 protected:
  const Host& host() const { return host_; }

 private:
  static Backend& of(void* state) { return *static_cast<Backend*>(state); }

  static bench_status open(void* self, const bench_host* host, void** state,
                           bench_message* message) {
    return detail::guarded(message, [&] {
      Backend& backend = of(self);
      backend.host_ = Host(host);
      backend.probe();
      backend.opened();
      backend.raw_.memory = backend.memory() != nullptr ? memory_table() : nullptr;
      *state = self;
    });
  }
  static void close(void* state) {
    Backend& backend = of(state);
    backend.raw_.memory = backend.memory_ != nullptr ? memory_table() : nullptr;
    backend.closed();
  }
  static std::size_t list_libraries(void* state, const bench_library* const** list) {
    Backend& backend = of(state);
    const bench_status listed = detail::guarded(nullptr, [&] { backend.fill_libraries(); });
    if (listed != BENCH_OK) return 0;
    *list = backend.library_pointers_.data();
    return backend.library_pointers_.size();
  }
  void fill_libraries() {
    libraries_ = libraries();
    library_rows_.clear();
    library_pointers_.clear();
    for (const LibraryInfo& each : libraries_) {
      library_rows_.push_back({sizeof(bench_library), each.name.c_str(), each.version.c_str(),
                               each.path.c_str(), each.detail.c_str()});
    }
    for (const bench_library& row : library_rows_) library_pointers_.push_back(&row);
  }
  static bench_status create(void* state, const bench_problem* problem, const bench_kernel** kernel,
                             bench_message* message) {
    return detail::guarded(message, [&] {
      const Problem view(problem);
      *kernel = detail::KernelHolder::release(of(state).make(view), detail::plain_buffers(view));
    });
  }
  template <class Function>
  static int64_t size_or_unknown(Function function) {
    std::optional<int64_t> size;
    detail::guarded(nullptr, [&] { size = function(); });
    return size.value_or(detail::kUnknown);
  }

  // `state` is a backend whose memory is not null.
  static const bench_memory* memory_table() {
    static const bench_memory kTable = {
        sizeof(bench_memory),
        [](void* state, int64_t bytes, void** address, bench_message* message) {
          return detail::guarded(message, [&] { *address = of(state).memory()->allocate(bytes); });
        },
        [](void* state, void* address) { of(state).memory()->release(address); },
        [](void* state, void* device, const void* host, int64_t bytes, bench_message* message) {
          return detail::guarded(message,
                                 [&] { of(state).memory()->copy_in(device, host, bytes); });
        },
        [](void* state, void* host, const void* device, int64_t bytes, bench_message* message) {
          return detail::guarded(message,
                                 [&] { of(state).memory()->copy_out(host, device, bytes); });
        },
        [](void* state, void* device, int32_t value, int64_t bytes, bench_message* message) {
          const auto byte = static_cast<uint8_t>(value);
          return detail::guarded(message, [&] { of(state).memory()->fill(device, byte, bytes); });
        },
        [](void* state) { return size_or_unknown([&] { return of(state).memory()->cache(); }); },
        [](void* state) {
          return size_or_unknown([&] { return of(state).memory()->available(); });
        }};
    return &kTable;
  }

  std::string choices_;  // the text that raw_.choices returned last
  std::vector<const char*> operators_;
  std::unique_ptr<Memory> memory_;
  Host host_;
  std::vector<LibraryInfo> libraries_;  // the data that the rows point to
  std::vector<bench_library> library_rows_;
  std::vector<const bench_library*> library_pointers_;
  bench_backend raw_ = {};
};

// ---- The plugin --------------------------------------------------------------------------------

// What bench_plugin_entry() returns. It lives as long as the process.
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

// Exports the plugin that `make` builds. `make` is a function without arguments that returns a
// Plugin by value. If it throws, bench_plugin_entry() returns null.
#define BENCH_PLUGIN(make)                                                  \
  extern "C" BENCH_PLUGIN_EXPORT const bench_plugin* bench_plugin_entry() { \
    try {                                                                   \
      static bench::plugin::Plugin plugin = make();                         \
      return plugin.raw();                                                  \
    } catch (...) {                                                         \
      return nullptr;                                                       \
    }                                                                       \
  }
