// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_launcher.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

class DeviceLauncher final : public Launcher {
 public:
  explicit DeviceLauncher(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}

  Status launch(const NativePlan& plan, std::span<void* const> tensors) override {
    assert(tensors.size() <= static_cast<std::size_t>(kMaxOperands));
    Addresses addresses;
    std::copy(tensors.begin(), tensors.end(), addresses.at);
    const DeviceKernel* kernel = find_device_kernel(plan.kernel());
    assert(kernel != nullptr && "each plan's kernel has a row");
    const cudaError_t error = kernel->launch(runtime_->stream(), plan, addresses);
    if (error == cudaSuccess) return Done{};
    return Error{std::string("the launch of a kernel failed: ") + cudaGetErrorName(error) + ": " +
                     cudaGetErrorString(error),
                 "", ""};
  }

 private:
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace

const DeviceKernel* find_device_kernel(std::string_view name) {
  const auto all = device_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DeviceKernel* candidate) {
    return candidate->name == name;
  });
  return found == all.end() ? nullptr : *found;
}

std::shared_ptr<Launcher> make_device_launcher(std::shared_ptr<Runtime> runtime) {
  return std::make_shared<DeviceLauncher>(std::move(runtime));
}

}  // namespace bench::ops::cuda
