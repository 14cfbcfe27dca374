// SPDX-License-Identifier: Apache-2.0
#include "ops/onednn/implementations.hpp"

#include "base/checked.hpp"
#include "base/processors.hpp"
#include "ops/fill.hpp"
#include "ops/onednn/aligned_buffer.hpp"
#include "ops/onednn/support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace bench::ops {
namespace {

// "ref:any", "ref_int8:any", ...
constexpr std::string_view kReferencePrefix = "ref";
// No list of the library is as long; a guard against one that does not end.
constexpr int kMaxPosition = 256;

// Returns for each buffer of the kernels one that is large enough for all of them.
std::vector<KernelBuffer> common_buffers(std::span<const TrialKernel> kernels) {
  std::vector<KernelBuffer> common;
  for (const TrialKernel& trial : kernels) {
    if (!trial.kernel) continue;
    const auto buffers = (*trial.kernel)->buffers();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (i == common.size()) common.push_back(buffers[i]);
      common[i].size = std::max(common[i].size, buffers[i].size);
    }
  }
  return common;
}

std::optional<Bytes> sum_of_buffers(std::span<const KernelBuffer> buffers) {
  Checked total = 0;
  for (const KernelBuffer& buffer : buffers) total += buffer.size.count;
  const auto bytes = total.value();
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

// Fills memory with numbers that no kernel processes slowly: random ones that are repeated. Indices
// become 0, which is valid for every tensor.
void fill_for_trial(const AlignedBuffer& buffer, BufferRole role) {
  if (buffer.size() == 0) return;
  auto* const bytes = static_cast<std::uint8_t*>(buffer.data());
  std::memset(bytes, 0, buffer.size());
  if (role == BufferRole::index) return;
  constexpr std::size_t kPatternBytes = std::size_t{1} << 20;
  constexpr std::uint64_t kSeed = 49;
  std::size_t filled = std::min(buffer.size(), kPatternBytes);
  fill_any_type(static_cast<std::uint16_t*>(buffer.data()), filled / sizeof(std::uint16_t), kSeed);
  while (filled < buffer.size()) {
    const std::size_t next = std::min(filled, buffer.size() - filled);
    std::memcpy(bytes + filled, bytes, next);
    filled += next;
  }
}

// Memory that all kernels execute on.
class TrialMemory {
 public:
  explicit TrialMemory(std::span<const KernelBuffer> buffers) {
    for (const KernelBuffer& buffer : buffers) {
      memory_.emplace_back(static_cast<std::size_t>(buffer.size.count));
      fill_for_trial(memory_.back(), buffer.role);
      addresses_.push_back(memory_.back().data());
    }
  }
  std::span<void* const> addresses() const { return addresses_; }

 private:
  std::vector<AlignedBuffer> memory_;
  std::vector<void*> addresses_;
};

Error to_error(const BackendError& error) { return {error.reason, "", ""}; }

// Executes one kernel. It is bound at its first sample, so that a kernel that cannot be bound is a
// candidate that fails.
class Trial {
 public:
  Trial(const TrialKernel& trial, std::span<void* const> memory, Clock& clock)
      : trial_(trial), memory_(memory), clock_(clock) {}

  Result<DeviceSample> sample(std::int64_t iterations) {
    if (invocation_ == nullptr) BENCH_RETURN_IF_ERROR(begin());
    const std::int64_t preemptions = count_preemptions();
    const Nanoseconds begin = clock_.now();
    for (std::int64_t i = 0; i < iterations; ++i) BENCH_RETURN_IF_ERROR(execute());
    DeviceSample sample;
    sample.device = clock_.now() - begin;
    // It contains the time of another program.
    if (count_preemptions() > preemptions) {
      sample.verdict = SampleVerdict::voided;
      sample.reason = "another program used the processor";
    }
    return sample;
  }

 private:
  Status begin() {
    if (!trial_.kernel) return to_error(trial_.kernel.error());
    Kernel& kernel = **trial_.kernel;
    BENCH_RETURN_IF_ERROR(kernel.prepare(memory_));
    BENCH_ASSIGN_OR_RETURN(invocation_, kernel.bind(memory_));
    // The first execution touches the kernel's own memory for the first time.
    return execute();
  }
  Status execute() {
    if (!invocation_->run()) return Error{invocation_->error(), "", ""};
    return Done{};
  }

  const TrialKernel& trial_;
  std::span<void* const> memory_;
  Clock& clock_;
  std::unique_ptr<Invocation> invocation_;
};

}  // namespace

Result<std::vector<Implementation>, BackendError> list_implementations(
    std::size_t count,
    const std::function<Result<std::string, BackendError>(int position)>& describe) {
  std::vector<Implementation> implementations;
  std::map<std::string, int> occurrences;
  for (int position = 0; position < kMaxPosition && implementations.size() < count; ++position) {
    auto name = describe(position);
    if (!name && position == 0) return std::move(name).error();
    if (!name) break;
    const int occurrence = ++occurrences[*name];
    if (position > 0 && name->starts_with(kReferencePrefix)) continue;
    implementations.push_back(
        {position, occurrence == 1 ? *name : fmt::format("{} #{}", *name, occurrence)});
  }
  return implementations;
}

Result<TunedChoice, BackendError> measure_kernels(std::span<const TrialKernel> kernels,
                                                  Clock& clock) {
  const std::vector<KernelBuffer> buffers = common_buffers(kernels);
  if (const auto enough = check_memory(sum_of_buffers(buffers), "measuring"); !enough) {
    TunedChoice first;
    first.reason = enough.error().reason;
    return first;
  }
  const TrialMemory memory(buffers);
  std::vector<TuningCandidate> candidates;
  for (const TrialKernel& kernel : kernels) {
    const auto trial = std::make_shared<Trial>(kernel, memory.addresses(), clock);
    candidates.push_back(
        {kernel.name, [trial](std::int64_t iterations) { return trial->sample(iterations); }});
  }
  auto choice = choose_fastest(candidates);
  if (!choice) return BackendError{BackendError::Kind::failed, choice.error().message()};
  return *std::move(choice);
}

}  // namespace bench::ops
