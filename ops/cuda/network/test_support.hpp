// SPDX-License-Identifier: Apache-2.0
// For tests of chains on a scripted device: native kernels, and the operators' references in place
// of a library's kernels. Both are launches on the device's stream that compute on the CPU.
#pragma once

#include "ops/cuda/kernels/launcher.hpp"
#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/cuda/runtime/test_support.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench::ops::cuda::test {

// Launches appear in the runtime's calls as "launch native".
class StreamLauncher final : public Launcher {
 public:
  explicit StreamLauncher(std::shared_ptr<ScriptedRuntime> runtime)
      : runtime_(std::move(runtime)) {}
  Status launch(const NativePlan& plan, std::span<void* const> tensors) override {
    return runtime_->launch_kernel(
        "native", Nanoseconds(1000),
        [plan, addresses = std::vector<void*>(tensors.begin(), tensors.end())] {
          EXPECT_TRUE(HostLauncher().launch(plan, addresses).ok());
        });
  }

 private:
  std::shared_ptr<ScriptedRuntime> runtime_;
};

// Computes the problem's reference on device buffers in the given layouts.
inline void compute_reference(const Problem& problem, std::span<const DeviceTensor> tensors,
                              std::span<void* const> buffers) {
  std::vector<std::vector<double>> inputs;
  for (std::size_t i = 0; i < problem.input_count(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    std::vector<std::byte> plain(static_cast<std::size_t>(tensor.size().count));
    restore(tensors[i].arrangement, tensor.dtype, buffers[i], plain.data());
    std::vector<double> values(static_cast<std::size_t>(tensor.elements()));
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = load_element(tensor.dtype, plain.data(), k);
    }
    inputs.push_back(std::move(values));
  }
  for (std::size_t i = problem.input_count(); i < problem.tensors.size(); ++i) {
    const Tensor& tensor = problem.tensors[i];
    const auto values = built_in_reference(problem, inputs, i - problem.input_count(), {});
    std::vector<std::byte> plain(static_cast<std::size_t>(tensor.size().count));
    for (std::size_t k = 0; k < values.size(); ++k) {
      store_element(tensor.dtype, plain.data(), k, values[k]);
    }
    arrange(tensors[i].arrangement, tensor.dtype, plain.data(), buffers[i]);
  }
}

class ReferenceInvocation final : public SingleStepInvocation {
 public:
  ReferenceInvocation(ScriptedRuntime& device, const Problem& problem,
                      const std::vector<DeviceTensor>& tensors, std::span<void* const> buffers)
      : SingleStepInvocation(device),
        device_(device),
        problem_(problem),
        tensors_(tensors),
        buffers_(buffers.begin(), buffers.end()) {}
  std::int64_t launches() const override { return 1; }

 private:
  Status launch() override {
    return device_.launch_kernel(std::string(problem_.op->name), Nanoseconds(1000),
                                 [this] { compute_reference(problem_, tensors_, buffers_); });
  }

  ScriptedRuntime& device_;
  // Both are members of the kernel, which outlives its invocations.
  const Problem& problem_;
  const std::vector<DeviceTensor>& tensors_;
  std::vector<void*> buffers_;
};

class ReferenceKernel final : public PackedKernel {
 public:
  ReferenceKernel(const ScriptedDevice& device, Problem problem, MemoryLayout layout)
      : PackedKernel(device.parts(), make_tensors(problem, layout)),
        device_(device.runtime),
        problem_(std::move(problem)),
        tensors_(make_tensors(problem_, layout)) {}
  std::string implementation() const override { return "reference"; }
  std::vector<KernelStep> steps() const override {
    return {{"", std::string(problem_.op->name), "reference", format_layouts(buffers()), {}}};
  }
  Bytes workspace() const override { return {64}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) override {
    return std::unique_ptr<Invocation>(
        std::make_unique<ReferenceInvocation>(*device_, problem_, tensors_, buffers));
  }

 private:
  static std::vector<DeviceTensor> make_tensors(const Problem& problem, MemoryLayout layout) {
    std::vector<DeviceTensor> tensors;
    for (const Tensor& tensor : problem.tensors) {
      const bool is_image = tensor.dims.size() > 2 && tensor.role != TensorRole::weights;
      const MemoryLayout used = is_image ? layout : MemoryLayout::plain;
      tensors.push_back({buffer_role(tensor), tensor.dtype, make_arrangement(tensor.dims, used),
                         std::string(tensor.dims.size() < 3 ? "plain" : to_string(used))});
    }
    return tensors;
  }
  std::shared_ptr<ScriptedRuntime> device_;
  Problem problem_;
  std::vector<DeviceTensor> tensors_;
};

// A kernel's buffers on the device, with values of its tensors.
class DeviceRun {
 public:
  DeviceRun(const ScriptedDevice& device, Kernel& kernel, std::span<const Tensor> tensors)
      : kernel_(kernel), tensors_(tensors) {
    for (const KernelBuffer& buffer : kernel.buffers()) {
      auto memory = DeviceBuffer::create(*device.runtime, buffer.size);
      EXPECT_TRUE(memory.ok());
      EXPECT_TRUE(device.runtime->fill(memory->data(), 0xff, buffer.size).ok());
      buffers_.push_back(*std::move(memory));
      addresses_.push_back(buffers_.back().data());
    }
    EXPECT_TRUE(device.runtime->synchronise().ok());
  }
  void set(std::size_t tensor, const std::vector<double>& values) {
    std::vector<std::byte> plain(static_cast<std::size_t>(tensors_[tensor].size().count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(tensors_[tensor].dtype, plain.data(), i, values[i]);
    }
    const Status packed = kernel_.pack(tensor, plain.data(), addresses_[tensor]);
    EXPECT_TRUE(packed.ok());
  }
  std::unique_ptr<Invocation> bind() {
    EXPECT_TRUE(kernel_.prepare(addresses_).ok());
    auto invocation = kernel_.bind(addresses_);
    EXPECT_TRUE(invocation.ok());
    return *std::move(invocation);
  }
  std::vector<double> get(std::size_t tensor) {
    std::vector<std::byte> plain(static_cast<std::size_t>(tensors_[tensor].size().count));
    EXPECT_TRUE(kernel_.unpack(tensor, addresses_[tensor], plain.data()).ok());
    std::vector<double> values(static_cast<std::size_t>(tensors_[tensor].elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = load_element(tensors_[tensor].dtype, plain.data(), i);
    }
    return values;
  }
  std::span<void* const> addresses() const { return addresses_; }

 private:
  Kernel& kernel_;
  std::span<const Tensor> tensors_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<void*> addresses_;
};

// Runs a problem's kernel on random values and compares every output.
inline void expect_reference(const ScriptedDevice& device, Kernel& kernel, const Problem& problem) {
  DeviceRun run(device, kernel, problem.tensors);
  const auto inputs = bench::ops::op_test::random_inputs(problem, 3);
  for (std::size_t i = 0; i < inputs.size(); ++i) run.set(i, inputs[i]);
  const auto invocation = run.bind();
  ASSERT_TRUE(invocation->run()) << invocation->error();
  const Tolerance tolerance = problem.op->tolerance(problem);
  for (std::size_t output = 0; output + inputs.size() < problem.tensors.size(); ++output) {
    const auto got = run.get(inputs.size() + output);
    const auto want = built_in_reference(problem, inputs, output, {});
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], tolerance.absolute + tolerance.relative * std::abs(want[i]))
          << problem_tokens(problem) << " output " << output << " element " << i;
    }
  }
}

}  // namespace bench::ops::cuda::test
