// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/tuner.hpp"

#include "base/text.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace bench::ops::cuda {
namespace {

Nanoseconds to_nanoseconds(double value) {
  return Nanoseconds(static_cast<std::int64_t>(std::llround(value)));
}

// Bytes of random numbers that the host makes; longer buffers repeat them.
constexpr std::int64_t kPatternBytes = std::int64_t{1} << 20;

std::vector<std::uint16_t> make_pattern() {
  constexpr std::uint64_t kSeed = 49;
  std::vector<std::uint16_t> units(static_cast<std::size_t>(kPatternBytes) / sizeof(std::uint16_t));
  fill_any_type(units.data(), units.size(), kSeed);
  return units;
}

Status fill_with_pattern(Runtime& runtime, const DeviceBuffer& buffer,
                         const std::vector<std::uint16_t>& pattern) {
  auto* const bytes = static_cast<std::uint8_t*>(buffer.data());
  const std::int64_t size = buffer.size().count;
  std::int64_t filled = std::min(size, kPatternBytes);
  if (filled == 0) return Done{};
  BENCH_RETURN_IF_ERROR(runtime.copy_in(bytes, pattern.data(), {filled}));
  while (filled < size) {
    const std::int64_t next = std::min(filled, size - filled);
    BENCH_RETURN_IF_ERROR(runtime.copy_within(bytes + filled, bytes, {next}));
    filled += next;
  }
  return Done{};
}

// Fills a buffer with numbers that no kernel processes slowly. Indices become 0, which is valid for
// every tensor.
Status fill_for_trial(Runtime& runtime, const DeviceBuffer& buffer, BufferRole role,
                      const std::vector<std::uint16_t>& pattern) {
  if (role != BufferRole::index) return fill_with_pattern(runtime, buffer, pattern);
  return buffer.size().count == 0 ? Status(Done{}) : runtime.fill(buffer.data(), 0, buffer.size());
}

// Describes buffers that are large enough for each of the kernels.
std::vector<KernelBuffer> common_buffers(std::span<const std::unique_ptr<Kernel>> kernels) {
  std::vector<KernelBuffer> common;
  for (const std::unique_ptr<Kernel>& kernel : kernels) {
    const auto buffers = kernel->buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (i == common.size()) common.push_back(buffers[i]);
      common[i].size = std::max(common[i].size, buffers[i].size);
    }
  }
  return common;
}

// Binding a kernel to a set takes some microseconds, and a graph contains the whole rotation.
constexpr std::int64_t kMaxTrialSets = 1024;
constexpr std::int64_t kTrialAlignment = 256;  // that of the device's allocator

// Whether each execution of a rotation reads or writes another copy of the buffer.
bool rotates(const KernelBuffer& buffer, CacheState state) {
  if (buffer.role == BufferRole::index) return false;
  switch (state) {
    case CacheState::hot:
      return false;
    case CacheState::cold:
      return buffer.role != BufferRole::activation;
    case CacheState::cold_weights:
      break;
  }
  return buffer.role == BufferRole::weights;
}

// Bytes from one copy of a buffer to the next: an odd multiple of the alignment, so that
// neighbouring copies begin at different offsets in a page.
std::int64_t find_stride(const KernelBuffer& buffer) {
  const std::int64_t units = (buffer.size.count + kTrialAlignment - 1) / kTrialAlignment;
  return (units % 2 == 0 ? units + 1 : units) * kTrialAlignment;
}

// The invocations of one kernel, one for each set of buffers.
class BoundRotation {
 public:
  // Does nothing if the kernel is bound already.
  Status bind(Kernel& kernel, const TrialBuffers& buffers) {
    if (!pointers_.empty()) return Done{};
    std::vector<std::unique_ptr<Invocation>> invocations;
    for (std::size_t set = 0; set < buffers.sets(); ++set) {
      const std::vector<void*> addresses = buffers.addresses(set);
      const auto own = std::span(addresses).first(kernel.buffers().size());
      if (set == 0) BENCH_RETURN_IF_ERROR(kernel.prepare(own));
      BENCH_ASSIGN_OR_RETURN(invocations.emplace_back(), kernel.bind(own));
    }
    invocations_ = std::move(invocations);
    for (const auto& invocation : invocations_) pointers_.push_back(invocation.get());
    return Done{};
  }
  std::span<Invocation* const> pointers() const { return pointers_; }

 private:
  std::vector<std::unique_ptr<Invocation>> invocations_;
  std::vector<Invocation*> pointers_;
};

TunedChoice keep_first(std::string reason) {
  TunedChoice choice;
  choice.reason = std::move(reason);
  return choice;
}

BackendError to_failure(const Error& error) {
  return {BackendError::Kind::failed, error.message()};
}

}  // namespace

std::string tuned_caches_key(const TunedCaches& caches) {
  if (caches.state == CacheState::hot) return "";
  return fmt::format(" {}", to_string(caches.state));
}

std::string format_tuned_caches(const TunedCaches& caches) {
  if (caches.state == CacheState::hot) return "";
  return fmt::format("{}: executions rotate over {}", to_string(caches.state),
                     format_bytes(caches.rotation));
}

Result<std::vector<DeviceBuffer>, BackendError> allocate_trial_buffers(
    Runtime& runtime, std::span<const KernelBuffer> buffers) {
  const std::vector<std::uint16_t> pattern = make_pattern();
  std::vector<DeviceBuffer> trial;
  for (const KernelBuffer& buffer : buffers) {
    BENCH_ASSIGN_OR_RETURN(DeviceBuffer memory,
                           DeviceBuffer::create(runtime, buffer.size, "tuning"));
    if (const Status filled = fill_for_trial(runtime, memory, buffer.role, pattern); !filled)
      return to_failure(filled.error());
    trial.push_back(std::move(memory));
  }
  return trial;
}

std::vector<void*> buffer_addresses(std::span<const DeviceBuffer> buffers) {
  std::vector<void*> addresses;
  addresses.reserve(buffers.size());
  for (const DeviceBuffer& buffer : buffers) addresses.push_back(buffer.data());
  return addresses;
}

Result<TrialBuffers, BackendError> TrialBuffers::create(Runtime& runtime,
                                                        std::span<const KernelBuffer> buffers) {
  const TunedCaches& caches = runtime.tuned_caches();
  TrialBuffers trial;
  std::int64_t bytes = 0;  // sum over one set
  for (const KernelBuffer& buffer : buffers) {
    trial.strides_.push_back(rotates(buffer, caches.state) ? find_stride(buffer) : 0);
    bytes += trial.strides_.back();
  }
  const std::int64_t sets =
      bytes == 0 ? 1 : std::clamp<std::int64_t>(caches.rotation.count / bytes, 1, kMaxTrialSets);
  trial.sets_ = static_cast<std::size_t>(sets);
  std::vector<KernelBuffer> all_sets(buffers.begin(), buffers.end());
  for (std::size_t i = 0; i < all_sets.size(); ++i)
    all_sets[i].size.count += trial.strides_[i] * (sets - 1);
  BENCH_ASSIGN_OR_RETURN(trial.buffers_, allocate_trial_buffers(runtime, all_sets));
  return trial;
}

std::vector<void*> TrialBuffers::addresses(std::size_t set) const {
  std::vector<void*> addresses = buffer_addresses(buffers_);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] == nullptr) continue;
    addresses[i] =
        static_cast<std::uint8_t*>(addresses[i]) + strides_[i] * static_cast<std::int64_t>(set);
  }
  return addresses;
}

Result<DeviceSample> sample_rotation(
    const std::function<Result<DeviceSample>(const SampleRequest& request)>& sample,
    std::span<Invocation* const> rotation, std::int64_t iterations) {
  const auto sets = static_cast<std::int64_t>(rotation.size());
  const std::int64_t executions = iterations == 1 ? 1 : (iterations + sets - 1) / sets * sets;
  BENCH_ASSIGN_OR_RETURN(DeviceSample taken,
                         sample({rotation, 0, executions, SampleMethod::graph}));
  if (executions != iterations) {
    taken.device =
        to_nanoseconds(static_cast<double>(taken.device.count()) / static_cast<double>(executions) *
                       static_cast<double>(iterations));
  }
  return taken;
}

TuningCandidate make_candidate(const DeviceParts& device, std::string name,
                               std::vector<Invocation*> rotation) {
  auto sampling = std::make_shared<KernelSampling>(device.runtime);
  return {std::move(name), [sampler = device.sampler, sampling = std::move(sampling),
                            rotation = std::move(rotation)](std::int64_t iterations) {
            return sample_rotation(
                [&](const SampleRequest& request) { return sampler->sample(*sampling, request); },
                rotation, iterations);
          }};
}

std::optional<TunedChoice> Tuner::find(const std::string& key,
                                       std::span<const std::string> names) const {
  std::optional<TunedChoice> known = memory_.find(key, names);
  if (known && !known->fixed.empty()) known->caches = format_tuned_caches(runtime_->tuned_caches());
  return known;
}

Result<TunedChoice, BackendError> Tuner::remember(const std::string& key,
                                                  Result<TunedChoice> choice) {
  if (!choice) return to_failure(choice.error());
  if (runtime_->lost()) {
    return BackendError{BackendError::Kind::failed,
                        "the device was lost while candidates were measured"};
  }
  choice->caches = format_tuned_caches(runtime_->tuned_caches());
  return memory_.remember(key, *std::move(choice));
}

Result<TunedChoice, BackendError> Tuner::choose(const std::string& key,
                                                std::span<const TuningCandidate> candidates) {
  std::vector<std::string> names;
  for (const TuningCandidate& candidate : candidates) names.push_back(candidate.name);
  if (auto known = find(key, names)) return *std::move(known);
  return remember(key, choose_fastest(candidates));
}

Result<TunedChoice, BackendError> Tuner::choose(const std::string& key,
                                                std::span<const std::unique_ptr<Kernel>> kernels,
                                                std::span<const std::string> names) {
  assert(names.size() == kernels.size());
  if (auto known = find(key, names)) return *std::move(known);
  const auto buffers = TrialBuffers::create(*runtime_, common_buffers(kernels));
  if (!buffers && buffers.error().kind == BackendError::Kind::skipped)
    return keep_first(buffers.error().reason);
  if (!buffers) return buffers.error();
  std::vector<BoundRotation> rotations(kernels.size());
  std::vector<TuningCandidate> candidates;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    // Bound at the first sample, so that a kernel that cannot be bound is a candidate that fails.
    const auto sample = [&, i](std::int64_t iterations) -> Result<DeviceSample> {
      Kernel& kernel = *kernels[i];
      BENCH_RETURN_IF_ERROR(rotations[i].bind(kernel, *buffers));
      return sample_rotation(
          [&kernel](const SampleRequest& request) { return kernel.sample(request); },
          rotations[i].pointers(), iterations);
    };
    candidates.push_back({names[i], sample});
  }
  return remember(key, choose_fastest(candidates));
}

}  // namespace bench::ops::cuda
