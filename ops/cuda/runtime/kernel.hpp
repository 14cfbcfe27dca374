// SPDX-License-Identifier: Apache-2.0
// What all kernels on a CUDA device share: executions are enqueued on the device's stream, and
// samples are taken on the device's clock.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/runtime/runtime.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// Details of a kernel that has taken samples.
inline constexpr const char* kSampleMethodDetail = "sample_method";
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";

// An execution that can be enqueued without waiting for it: behind a blocking kernel, or into a
// graph.
class CudaInvocation : public Invocation {
 public:
  explicit CudaInvocation(Runtime& runtime) : runtime_(runtime), number_(runtime.next_number()) {}
  // Enqueues one execution, step by step. Does not allocate or wait. `observer` may be null; it is
  // notified when each step begins and is enqueued.
  virtual Status enqueue(StepObserver* observer) = 0;
  // The maximum number of launches that one execution enqueues. A stream's queue is limited, so
  // this determines how many executions can wait behind a blocking kernel.
  virtual std::int64_t launches() const { return kLaunchesOfAnOperator; }

  // Enqueues one execution and waits for it.
  bool run() noexcept final;
  // The same. If the observer asks for it, waits for each step and then notifies it that the step
  // is done; otherwise waits only for the end.
  bool run_observed(StepObserver& observer) noexcept final;
  std::string error() const final { return error_; }

  // Unique within the runtime, even after this invocation is destroyed.
  std::uint64_t number() const { return number_; }

  // Maximum launches of one library call: layout conversions before and after the kernel, the
  // kernel, and a reduction.
  static constexpr std::int64_t kLaunchesOfAnOperator = 4;

 protected:
  Runtime& runtime() const { return runtime_; }

 private:
  bool finish(const Status& status) noexcept;
  Runtime& runtime_;
  std::uint64_t number_;
  std::string error_;
};

// An invocation with a single step.
class SingleStepInvocation : public CudaInvocation {
 public:
  using CudaInvocation::CudaInvocation;
  // Does not report the step as enqueued if launching it failed.
  Status enqueue(StepObserver* observer) final;

 protected:
  // Enqueues the step on the stream. Must not allocate or wait.
  virtual Status launch() = 0;
};

class Sampler;         // sampler.hpp
class KernelSampling;  // the sampler's state for one kernel (sampler.hpp)

// A kernel whose buffers are memory of the runtime's device.
class CudaKernel : public Kernel {
 public:
  CudaKernel(std::shared_ptr<Runtime> runtime, std::shared_ptr<Sampler> sampler);
  ~CudaKernel() override;
  // Packing a tensor that stays plain only copies it to the device.
  bool converts_layout(std::size_t index) const override {
    return !is_row_major(buffers()[index].layout);
  }
  bool has_device_clock() const final { return true; }
  // `request` must contain CudaInvocations of this kernel.
  Result<DeviceSample> sample(const SampleRequest& request) final;
  // Returns "setup.context_ns" and similar if this kernel was the first one, and
  // "conditions_unknown". Once samples were taken, also "sample_method" (KernelSampling::method)
  // and "launch_floor_ns". Overrides must add to this map.
  std::map<std::string, std::string> details() const override;

 protected:
  Runtime& runtime() const { return *runtime_; }
  Sampler& sampler() const { return *sampler_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Sampler> sampler_;
  std::unique_ptr<KernelSampling> sampling_;
  std::map<std::string, Nanoseconds> setup_;
};

// The objects that the CUDA plugin's backends need to create kernels.
struct DeviceParts {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Sampler> sampler;
};

}  // namespace bench::ops::cuda
