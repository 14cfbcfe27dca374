// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/device_session.hpp"

#include "ops/cuda/runtime/runtime.hpp"

#include <utility>

namespace bench::ops::cuda {

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
