// SPDX-License-Identifier: Apache-2.0
// Chooses the fastest of several ways to compute a problem on a device (ops/backend/tuning.hpp):
// engines of cuDNN, algorithms of cuBLASLt, fused against split kernels. The ways are measured as a
// case is: from graphs, with random numbers, with the caches of the case (Runtime::tuned_caches()).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/choice_store.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/backend/tuning.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Describes caches that are not hot: "cold weights: executions rotate over 100.0 MiB". Empty if
// they are hot.
std::string format_tuned_caches(const TunedCaches& caches);
// What distinguishes the keys of choices for equal problems with different caches: " cold". Empty
// if they are hot.
std::string tuned_caches_key(const TunedCaches& caches);

// Allocates memory for trials and fills it with random numbers that are finite in every data type.
// BackendError: not enough memory, or the device failed.
Result<std::vector<DeviceBuffer>, BackendError> allocate_trial_buffers(
    Runtime& runtime, std::span<const KernelBuffer> buffers);
std::vector<void*> buffer_addresses(std::span<const DeviceBuffer> buffers);

// The same for measurements. With cold caches (Runtime::tuned_caches()) there are several sets of
// buffers, over which the executions rotate. Buffers that stay in the caches are the same in each
// set.
class TrialBuffers {
 public:
  // BackendError: as allocate_trial_buffers().
  static Result<TrialBuffers, BackendError> create(Runtime& runtime,
                                                   std::span<const KernelBuffer> buffers);
  std::size_t sets() const { return sets_; }
  // Returns the addresses of a set, in the order of the buffers.
  std::vector<void*> addresses(std::size_t set) const;

 private:
  std::vector<DeviceBuffer> buffers_;
  // Bytes from one set to the next, for each buffer; 0: all sets share it.
  std::vector<std::int64_t> strides_;
  std::size_t sets_ = 1;
};

// Takes a sample of `iterations` executions that rotate over `rotation`, which is not empty. Takes
// complete rotations, so that each buffer is read again only after all others, and scales the time.
// A single execution is one of the first invocation. `sample` takes the sample.
Result<DeviceSample> sample_rotation(
    const std::function<Result<DeviceSample>(const SampleRequest& request)>& sample,
    std::span<Invocation* const> rotation, std::int64_t iterations);

// Returns a candidate that executes invocations of one kernel in turn. They must outlive the
// candidate.
TuningCandidate make_candidate(const DeviceParts& device, std::string name,
                               std::vector<Invocation*> rotation);

// Makes the choices of a backend and remembers them. Choices that an earlier process has made
// (Runtime::choices()) are repeated without measuring, if their candidates exist.
class Tuner {
 public:
  explicit Tuner(std::shared_ptr<Runtime> runtime)
      : runtime_(std::move(runtime)), memory_(runtime_->choices()) {}

  // Returns the fastest of `kernels`, which compute the same problem. At the first call for a key
  // they are measured, on the same buffers; later calls return the same choice. `names` are unique
  // and name the kernels in the order of `kernels`. If there is not enough memory for measuring,
  // returns the first kernel, with the reason. BackendError: no kernel runs, or the device is lost.
  Result<TunedChoice, BackendError> choose(const std::string& key,
                                           std::span<const std::unique_ptr<Kernel>> kernels,
                                           std::span<const std::string> names);
  // The same for candidates that are ready.
  Result<TunedChoice, BackendError> choose(const std::string& key,
                                           std::span<const TuningCandidate> candidates);

  // Returns the choice that is known for the key, and notes it as used. nullopt: none is known, or
  // `names` does not contain it.
  std::optional<TunedChoice> find(const std::string& key, std::span<const std::string> names) const;

 private:
  Result<TunedChoice, BackendError> remember(const std::string& key, Result<TunedChoice> choice);

  std::shared_ptr<Runtime> runtime_;
  ChoiceMemory memory_;
};

}  // namespace bench::ops::cuda
