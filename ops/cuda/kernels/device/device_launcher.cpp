// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_launcher.hpp"

#include "ops/cuda/kernels/device/device_kernels.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

struct Start {
  cudaStream_t stream;
  const Addresses& tensors;
  cudaError_t operator()(const ElementwisePlan& plan) const {
    return launch_elementwise(stream, plan, tensors);
  }
  cudaError_t operator()(const TransposePlan& plan) const {
    return launch_transpose(stream, plan, tensors);
  }
  cudaError_t operator()(const SoftmaxPlan& plan) const {
    return launch_softmax(stream, plan, tensors);
  }
  cudaError_t operator()(const ChannelSumPlan& plan) const {
    return launch_channel_sum(stream, plan, tensors);
  }
};

class DeviceLauncher final : public Launcher {
 public:
  explicit DeviceLauncher(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

  Status launch(const OwnPlan& plan, std::span<void* const> tensors) override {
    assert(tensors.size() <= static_cast<std::size_t>(kMaxOperands));
    Addresses addresses;
    std::copy(tensors.begin(), tensors.end(), addresses.at);
    const cudaError_t error = std::visit(Start{runtime_->stream(), addresses}, plan);
    if (error == cudaSuccess) return Done{};
    return Error{std::string("the launch of a kernel failed: ") + cudaGetErrorName(error) + ": " +
                     cudaGetErrorString(error),
                 "", ""};
  }

 private:
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace

std::shared_ptr<Launcher> make_device_launcher(std::shared_ptr<Runtime> runtime) {
  return std::make_shared<DeviceLauncher>(std::move(runtime));
}

}  // namespace bench::ops::cuda
