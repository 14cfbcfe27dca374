// SPDX-License-Identifier: Apache-2.0
// What every kernel on a CUDA device has in common: executions are put on the device's stream,
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

// An execution that can be put on the stream without waiting for it: behind a blocking kernel, into
// a graph.
class CudaInvocation : public Invocation {
 public:
  explicit CudaInvocation(Runtime& runtime) : runtime_(runtime), number_(runtime.next_number()) {}
  // Puts one execution on the stream, step after step. No allocation, no wait. `observer`, where
  // there is one, is told begins and enqueued of each step.
  virtual Status enqueue(StepObserver* observer) = 0;
  // At most so many launches are put on the stream by one execution. The queue of a stream has an
  // end: how many executions can wait behind a blocking kernel follows from it.
  virtual std::int64_t launches() const { return kLaunchesOfAnOperator; }

  // Enqueued, and waited for.
  bool run() noexcept final;
  // Each step waited for: `done` is told after the wait.
  bool run_observed(StepObserver& observer) noexcept final;
  std::string error() const final { return error_; }

  // No other invocation of the runtime has it, not even after this one's end.
  std::uint64_t number() const { return number_; }

  // Of one library call: conversions of layouts before and behind the kernel, and a reduction.
  static constexpr std::int64_t kLaunchesOfAnOperator = 4;

 protected:
  Runtime& runtime() const { return runtime_; }

 private:
  bool finish(const Status& status) noexcept;
  Runtime& runtime_;
  std::uint64_t number_;
  std::string error_;
};

// One that is a single step.
class SingleStepInvocation : public CudaInvocation {
 public:
  using CudaInvocation::CudaInvocation;
  // The step is not told as enqueued where it was not.
  Status enqueue(StepObserver* observer) final;

 protected:
  // Puts the step on the stream. No allocation, no wait.
  virtual Status launch() = 0;
};

class Sampler;         // sampler.hpp
class KernelSampling;  // what it remembers of one kernel

// Buffers are memory of the runtime's device.
class CudaKernel : public Kernel {
 public:
  CudaKernel(std::shared_ptr<Runtime> runtime, std::shared_ptr<Sampler> sampler);
  ~CudaKernel() override;
  bool has_device_clock() const final { return true; }
  // Its invocations are CudaInvocations.
  Result<DeviceSample> sample(const SampleRequest& request) final;
  // "setup.context_ns" and the like where this kernel was the first, "conditions_unknown", and,
  // once samples were taken, "sample_method" (KernelSampling::method) and "launch_floor_ns".
  // Kernels that override this add to what it returns.
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

// What backends of this plugin make kernels with.
struct DeviceParts {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Sampler> sampler;
};

}  // namespace bench::ops::cuda
