// SPDX-License-Identifier: Apache-2.0
// What every kernel on a CUDA device has in common: executions are put on the device's stream,
// samples are taken on the device's clock.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/runtime/runtime.hpp"
#include "ops/kernel.hpp"

#include <functional>
#include <memory>
#include <string>

namespace bench::ops::cuda {

// An execution that can be put on the stream without waiting for it: behind a blocking kernel, into
// a graph.
class CudaInvocation : public Invocation {
 public:
  explicit CudaInvocation(Runtime& runtime) : runtime_(runtime) {}
  // Puts one execution on the stream, step after step. No allocation, no wait. `observer`, where
  // there is one, is told begins and enqueued of each step.
  virtual Status enqueue(StepObserver* observer) = 0;

  // Enqueued, and waited for.
  bool run() noexcept final;
  // Each step waited for: `done` is told after the wait.
  bool run_observed(StepObserver& observer) noexcept final;
  std::string error() const final { return error_; }

 protected:
  Runtime& runtime() const { return runtime_; }

 private:
  Runtime& runtime_;
  std::string error_;
};

// Takes samples of invocations: sampler.hpp.
class Sampler;

// Buffers are memory of the runtime's device.
class CudaKernel : public Kernel {
 public:
  CudaKernel(std::shared_ptr<Runtime> runtime, std::shared_ptr<Sampler> sampler)
      : runtime_(std::move(runtime)), sampler_(std::move(sampler)) {}
  bool has_device_clock() const final { return true; }
  // Its invocations are CudaInvocations.
  Result<DeviceSample> sample(const SampleRequest& request) final;

 protected:
  Runtime& runtime() const { return *runtime_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Sampler> sampler_;
};

// What backends of this plugin make kernels with.
struct DeviceParts {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Sampler> sampler;
};

}  // namespace bench::ops::cuda
