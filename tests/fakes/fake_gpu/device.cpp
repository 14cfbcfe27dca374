// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_gpu/device.hpp"

#include "base/pattern.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace bench::fake_gpu {
namespace {

constexpr Nanoseconds kCallTime{500};   // duration of a call, apart from launches
constexpr Nanoseconds kStartTime{300};  // from the end of a call to the start of the requested work
constexpr std::int64_t kBytesPerNanosecond = 10;  // bandwidth of copies and memsets

Nanoseconds transfer_time(std::int64_t bytes) {
  return Nanoseconds(1000 + bytes / kBytesPerNanosecond);
}

}  // namespace

Nanoseconds monotonic_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanoseconds(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

void spin_until(Nanoseconds time) {
  while (monotonic_now() < time) {
  }
}

// ---- Memory ------------------------------------------------------------------------------------

Memory::~Memory() {
  for (auto& [address, block] : blocks_) munmap(const_cast<std::byte*>(address), block.mapped);
}

Result<void*> Memory::allocate_for(Bytes size, std::optional<std::string> role) {
  gpu_.make_context();
  BENCH_RETURN_IF_ERROR(gpu_.check_usable());
  if (used_.count + size.count > gpu_.device().memory.count) {
    return Error{fmt::format("cudaErrorMemoryAllocation: no {} of {} are free on the device",
                             format_bytes(size), format_bytes(gpu_.device().memory)),
                 "", ""};
  }
  Block block;
  block.mapped = static_cast<std::size_t>(size.count) + 1;
  void* address =
      mmap(nullptr, block.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return Error{std::strerror(errno), "", ""};
  block.content.resize(static_cast<std::size_t>(size.count));
  used_.count += size.count;
  GpuAllocation change;
  change.address = reinterpret_cast<std::uintptr_t>(address);
  change.bytes = size.count;
  change.role = std::move(role);
  gpu_.tracer().add(std::move(change));
  blocks_.emplace(static_cast<const std::byte*>(address), std::move(block));
  return address;
}

void Memory::release(void* address) noexcept {
  const auto found = blocks_.find(static_cast<const std::byte*>(address));
  if (found == blocks_.end()) return;
  const auto bytes = static_cast<std::int64_t>(found->second.content.size());
  GpuAllocation change;
  change.change = GpuAllocationChange::release;
  change.address = reinterpret_cast<std::uintptr_t>(address);
  change.bytes = bytes;
  gpu_.tracer().add(std::move(change));
  used_.count -= bytes;
  munmap(address, found->second.mapped);
  blocks_.erase(found);
}

Result<std::byte*> Memory::content(const void* device, Bytes size) {
  const auto* address = static_cast<const std::byte*>(device);
  auto block = blocks_.upper_bound(address);
  if (block != blocks_.begin()) {
    --block;
    const auto offset = static_cast<std::size_t>(address - block->first);
    const auto bytes = static_cast<std::size_t>(size.count);
    if (offset + bytes <= block->second.content.size()) {
      return block->second.content.data() + offset;
    }
  }
  return Error{"cudaErrorIllegalAddress: an illegal memory access was encountered", "", ""};
}

Status Memory::copy_in(void* device, const void* host, Bytes size) {
  BENCH_RETURN_IF_ERROR(gpu_.check_usable());
  BENCH_ASSIGN_OR_RETURN(std::byte * content, this->content(device, size));
  std::memcpy(content, host, static_cast<std::size_t>(size.count));
  GpuMemcpy copy;
  copy.kind = GpuCopyKind::host_to_device;
  copy.source = GpuMemoryKind::pageable;
  copy.destination = GpuMemoryKind::device;
  copy.bytes = size.count;
  gpu_.transfer(copy);
  return Done{};
}

Status Memory::copy_out(void* host, const void* device, Bytes size) {
  BENCH_RETURN_IF_ERROR(gpu_.check_usable());
  BENCH_ASSIGN_OR_RETURN(const std::byte* content, this->content(device, size));
  std::memcpy(host, content, static_cast<std::size_t>(size.count));
  GpuMemcpy copy;
  copy.kind = GpuCopyKind::device_to_host;
  copy.source = GpuMemoryKind::device;
  copy.destination = GpuMemoryKind::pageable;
  copy.bytes = size.count;
  gpu_.transfer(copy);
  return Done{};
}

Status Memory::fill(void* device, std::uint8_t value, Bytes size) {
  BENCH_RETURN_IF_ERROR(gpu_.check_usable());
  BENCH_ASSIGN_OR_RETURN(std::byte * content, this->content(device, size));
  std::memset(content, value, static_cast<std::size_t>(size.count));
  GpuMemset fill;
  fill.memory = GpuMemoryKind::device;
  fill.bytes = size.count;
  gpu_.transfer(fill);
  return Done{};
}

std::optional<Bytes> Memory::cache() {
  gpu_.make_context();
  return gpu_.device().cache;
}

std::optional<Bytes> Memory::available() {
  gpu_.make_context();
  return Bytes{gpu_.device().memory.count - used_.count};
}

// ---- The device --------------------------------------------------------------------------------

Status FakeGpu::check_usable() const {
  if (broken_) return Error{*broken_, "", ""};
  return Done{};
}

Status FakeGpu::trigger_faults(Moment moment, std::string_view subject, std::int64_t count) {
  BENCH_RETURN_IF_ERROR(check_usable());
  for (const FaultScript& fault : script_.faults) {
    if (fault.at != moment || !glob_matches(fault.match, subject)) continue;
    std::int64_t& counted = moments_counted_[&fault];
    const bool is_due = counted <= fault.after && fault.after < counted + count;
    counted += count;
    if (!is_due) continue;
    if (fault.kind == FaultKind::abort) std::abort();
    while (fault.kind == FaultKind::hang) ::pause();
    if (fault.kind != FaultKind::fail) broken_ = fault.error;
    return Error{fault.error, "", ""};
  }
  return Done{};
}

void FakeGpu::call(std::string name, Nanoseconds length, std::uint64_t& correlation) {
  const Nanoseconds begin = monotonic_now();
  spin_until(begin + length);
  correlation = tracer_.record_call(std::move(name), {begin, begin + length});
}

GpuInterval FakeGpu::next_slot(Nanoseconds length) {
  const Nanoseconds start = std::max(idle_from_, monotonic_now() + kStartTime);
  idle_from_ = start + length;
  return {start, idle_from_};
}

void FakeGpu::launch(const CaseScript& row) {
  for (const KernelScript& script : row.kernels) {
    std::uint64_t correlation = 0;
    call("cudaLaunchKernel", row.launch, correlation);
    GpuKernel kernel;
    kernel.name = script.name;
    kernel.time = next_slot(script.time);
    kernel.grid = script.grid;
    kernel.block = script.block;
    kernel.registers = script.registers;
    kernel.dynamic_shared_bytes = script.shared_bytes;
    kernel.correlation = correlation;
    tracer_.add(std::move(kernel));
  }
}

void FakeGpu::wait() {
  const Nanoseconds begin = monotonic_now();
  spin_until(std::max(idle_from_, begin + kCallTime));
  GpuSynchronisation wait;
  wait.kind = GpuWaitKind::stream;
  wait.time = {begin, std::max(idle_from_, begin + kCallTime)};
  wait.correlation = tracer_.record_call("cudaStreamSynchronize", wait.time);
  tracer_.add(wait);
}

void FakeGpu::transfer(GpuMemcpy copy) {
  std::uint64_t correlation = 0;
  call("cudaMemcpyAsync", kCallTime, correlation);
  copy.correlation = correlation;
  copy.time = next_slot(transfer_time(copy.bytes));
  tracer_.add(copy);
  wait();
}

void FakeGpu::transfer(GpuMemset fill) {
  std::uint64_t correlation = 0;
  call("cudaMemsetAsync", kCallTime, correlation);
  fill.correlation = correlation;
  fill.time = next_slot(transfer_time(fill.bytes));
  tracer_.add(fill);
  wait();
}

}  // namespace bench::fake_gpu
