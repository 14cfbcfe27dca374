// SPDX-License-Identifier: Apache-2.0
// For tests of code that runs on a scripted device.
#pragma once

#include "ops/cuda/runtime/kernel.hpp"
#include "ops/cuda/runtime/sampler.hpp"
#include "ops/cuda/runtime/scripted_runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::test {

// A scripted device with a sampler. The calls that create the sampler are not recorded and do not
// fail. Without `reader`, the sampler knows only the clock.
struct ScriptedDevice {
  explicit ScriptedDevice(RuntimeScript script = {}, const SamplerOptions& options = {},
                          ConditionReader reader = {}) {
    const auto failing = std::exchange(script.failing, {});
    runtime = std::make_shared<ScriptedRuntime>(std::move(script));
    auto created = Sampler::create(
        runtime, ConditionWatch(std::move(reader), "", [this] { return runtime->now(); }), options);
    if (!created) throw std::runtime_error(created.error().message());
    sampler = *std::move(created);
    runtime->script.failing = failing;
    runtime->forget_calls();
  }
  DeviceParts parts() const { return {runtime, sampler}; }
  std::int64_t count(const std::string& call) const {
    return std::count(runtime->calls.begin(), runtime->calls.end(), call);
  }

  std::shared_ptr<ScriptedRuntime> runtime;
  std::shared_ptr<Sampler> sampler;
};

// Launches one scripted kernel, and reports it as one step.
class ScriptedInvocation final : public SingleStepInvocation {
 public:
  ScriptedInvocation(ScriptedRuntime& device, std::string name, Nanoseconds time)
      : SingleStepInvocation(device), device_(device), name_(std::move(name)), time_(time) {}
  std::int64_t launches() const override { return launches_of_one; }

  std::int64_t executions = 0;
  std::int64_t launches_of_one = 1;

 private:
  Status launch() override {
    return device_.launch_kernel(name_, time_, [this] { ++executions; });
  }

  ScriptedRuntime& device_;
  std::string name_;
  Nanoseconds time_;
};

}  // namespace bench::ops::cuda::test
