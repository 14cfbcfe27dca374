// SPDX-License-Identifier: Apache-2.0
// The plugin's tables of native kernels agree with those for the CPU.
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/kernels/device/device_launcher.hpp"
#include "ops/cuda/kernels/native_entry.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace bench::ops::cuda {
namespace {

// An operator whose line in ops/CMakeLists.txt has `own` but lacks `kernel` would pass its tests on
// the CPU and fail on every device.
TEST(NativeKernels, EachKernelOfAnOperatorIsOnTheDeviceToo) {
  int native = 0;
  for (const NativeEntry* entry : native_entries()) {
    if (entry->host.run == nullptr) continue;
    ++native;
    EXPECT_NE(find_device_kernel(entry->host.kernel), nullptr) << entry->op;
  }
  EXPECT_GT(native, 0);
}

TEST(NativeKernels, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (const DeviceKernel* kernel : device_kernels()) {
    EXPECT_TRUE(names.insert(kernel->name).second) << kernel->name;
  }
  for (const char* shared :
       {ElementwisePlan::kKernel, TransposePlan::kKernel, ChannelSumPlan::kKernel}) {
    EXPECT_NE(find_device_kernel(shared), nullptr) << shared;
  }
  EXPECT_EQ(find_device_kernel("no such kernel"), nullptr);
}

}  // namespace
}  // namespace bench::ops::cuda
#endif
