// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/lazy_backend.hpp"

#include "ops/cuda/runtime/own_operators.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

using CreatedKernel = Result<std::unique_ptr<Kernel>, BackendError>;

// Runs `create`, and makes what it throws the error of this creation. The code of this library
// throws only if there is no memory, or if it has a bug.
template <class Function>
CreatedKernel guarded(Function create) {
  try {
    return create();
  } catch (const std::bad_alloc&) {
    return BackendError{BackendError::Kind::skipped, "not enough memory on this machine"};
  } catch (const std::exception& exception) {
    return BackendError{BackendError::Kind::failed, exception.what()};
  }
}

class LazyBackend final : public Backend {
 public:
  explicit LazyBackend(LazyBackendParts parts) : parts_(std::move(parts)) {}

  std::string_view name() const override { return parts_.name; }
  std::string_view device() const override { return "cuda"; }
  LibraryInfo library() const override { return parts_.library; }
  std::vector<LibraryInfo> further_libraries() const override { return parts_.further_libraries; }
  DeviceMemory* memory() override { return &parts_.session->memory(); }
  DeviceTracer* tracer() override { return parts_.tracer.get(); }
  DeviceCounters* counters() override { return parts_.counters.get(); }
  CreatedKernel create(const Problem& problem) override {
    return guarded([&]() -> CreatedKernel {
      BENCH_ASSIGN_OR_RETURN(const Problem own, with_own_operator(problem));
      BENCH_ASSIGN_OR_RETURN(Backend * backend, find_or_create_backend());
      return backend->create(own);
    });
  }
  CreatedKernel create(const Network& network) override {
    if (network.gap) return unsupported(*network.gap);
    return guarded([&]() -> CreatedKernel {
      BENCH_ASSIGN_OR_RETURN(const Network own, with_own_operators(network));
      BENCH_ASSIGN_OR_RETURN(Backend * backend, find_or_create_backend());
      return backend->create(own);
    });
  }
  bool reject_last_engine(std::string_view reason) override {
    return backend_ && *backend_ && (**backend_)->reject_last_engine(reason);
  }
  void observe(const Collectors& collectors) override {
    apply_setting([collectors](Backend& backend) { backend.observe(collectors); });
  }
  void set_tuning(std::int64_t candidates) override {
    apply_setting([candidates](Backend& backend) { backend.set_tuning(candidates); });
  }
  void set_tuned_caches(const TunedCaches& caches) override {
    tuned_caches_ = caches;
    if (runtime_) runtime_->set_tuned_caches(caches);
  }
  // All backends of the device share the choices.
  std::string choices() const override { return runtime_ ? runtime_->choices().text() : ""; }
  void set_choices(std::string_view choices) override {
    fixed_choices_ = choices;
    if (runtime_) runtime_->choices().fix(fixed_choices_);
  }

 private:
  using Setting = std::function<void(Backend& backend)>;

  void apply_setting(Setting setting) {
    if (!backend_) {
      settings_.push_back(std::move(setting));
    } else if (*backend_) {
      setting(***backend_);
    }
  }

  Result<Backend*, BackendError> find_or_create_backend() {
    if (!backend_) {
      backend_.emplace(create_backend());
      if (*backend_) {
        for (const Setting& setting : settings_) setting(***backend_);
      }
    }
    if (!*backend_) return backend_->error();
    return (**backend_).get();
  }

  Result<std::unique_ptr<Backend>, BackendError> create_backend() {
    BENCH_ASSIGN_OR_RETURN(const DeviceParts device, parts_.session->parts());
    runtime_ = device.runtime;
    runtime_->choices().fix(fixed_choices_);
    runtime_->set_tuned_caches(tuned_caches_);
    return parts_.make(device);
  }

  LazyBackendParts parts_;
  std::shared_ptr<Runtime> runtime_;  // null before the device is created
  std::string fixed_choices_;
  TunedCaches tuned_caches_;
  std::vector<Setting> settings_;
  std::optional<Result<std::unique_ptr<Backend>, BackendError>> backend_;
};

}  // namespace

std::unique_ptr<Backend> make_lazy_backend(LazyBackendParts parts) {
  return std::make_unique<LazyBackend>(std::move(parts));
}

class DeviceSession::Memory final : public DeviceMemory {
 public:
  explicit Memory(DeviceSession& session) : session_(session) {}

  Result<void*> allocate(Bytes size) override {
    BENCH_ASSIGN_OR_RETURN(Runtime * device, runtime());
    auto address = device->take(size, "");
    if (!address) return Error{std::move(address).error().reason, "", ""};
    return *address;
  }
  void release(void* address) noexcept override {
    if (auto device = runtime()) (*device)->release(address);
  }
  Status copy_in(void* target, const void* host, Bytes size) override {
    BENCH_ASSIGN_OR_RETURN(Runtime * device, runtime());
    return device->copy_in(target, host, size);
  }
  Status copy_out(void* host, const void* source, Bytes size) override {
    BENCH_ASSIGN_OR_RETURN(Runtime * device, runtime());
    return device->copy_out(host, source, size);
  }
  Status fill(void* target, std::uint8_t value, Bytes size) override {
    BENCH_ASSIGN_OR_RETURN(Runtime * device, runtime());
    BENCH_RETURN_IF_ERROR(device->fill(target, value, size));
    return device->synchronise();
  }
  std::optional<Bytes> cache() override {
    const auto device = runtime();
    if (!device || (*device)->traits().cache.count == 0) return std::nullopt;
    return (*device)->traits().cache;
  }
  std::optional<Bytes> available() override {
    const auto device = runtime();
    if (!device) return std::nullopt;
    const auto state = (*device)->memory();
    if (!state) return std::nullopt;
    return state->free;
  }

 private:
  Result<Runtime*> runtime() {
    auto parts = session_.parts();
    if (!parts) return Error{std::move(parts).error().reason, "", ""};
    return parts->runtime.get();
  }

  DeviceSession& session_;
};

DeviceSession::DeviceSession(DeviceMaker make)
    : make_parts_(std::move(make)), memory_(std::make_unique<Memory>(*this)) {}

DeviceSession::~DeviceSession() = default;

Result<DeviceParts, BackendError> DeviceSession::parts() {
  if (!parts_) parts_.emplace(make_parts_());
  return *parts_;
}

DeviceMemory& DeviceSession::memory() { return *memory_; }

Status DeviceSession::synchronise() {
  if (!parts_ || !*parts_) return Done{};
  return (*parts_)->runtime->synchronise_device();
}

}  // namespace bench::ops::cuda
