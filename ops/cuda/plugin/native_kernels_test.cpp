// SPDX-License-Identifier: Apache-2.0
// The plugin's tables of native kernels agree with those for the CPU.
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/kernels/device/device_launcher.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/test_support.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
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

// The launch of a row kernel chooses by the element type, and had no kernel for f8. Without a
// device every launch fails, but not for an argument that it does not know.
TEST(NativeKernels, EveryFloatingTypeHasALaunch) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) GTEST_SKIP() << "has a device";
  struct Row {
    const char *op, *tokens;
  };
  for (const Row& row : {Row{"softmax", "3x11"}, Row{"layer_norm", "3x11"}, Row{"rms_norm", "3x11"},
                         Row{"reduction", "sum-3x11"}, Row{"rope", "h2s3d4"},
                         Row{"swiglu", "2x100"}, Row{"loss", "softmax_cross_entropy-b3c11"},
                         Row{"optimizer", "adam-e100"}, Row{"concat", "3x8-s3x5"}}) {
    for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::bf16,
                                 DataType::f8_e4m3, DataType::f8_e5m2}) {
      SCOPED_TRACE(std::string(row.op) + " " + std::string(info(dtype).name));
      const auto form = native_form(op_test::problem(row.op, row.tokens, dtype));
      ASSERT_TRUE(form.ok());
      const DeviceKernel* kernel = find_device_kernel(form->plan.kernel());
      ASSERT_NE(kernel, nullptr);
      const cudaError_t error = kernel->launch(nullptr, form->plan, Addresses{});
      EXPECT_NE(error, cudaSuccess);
      EXPECT_NE(error, cudaErrorInvalidValue);
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
#endif
