// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

Activity kernel(const char* name, const char* purpose = nullptr) {
  Activity activity;
  activity.kind = ActivityKind::kernel;
  activity.name = name;
  if (purpose != nullptr) activity.attributes.set(Attribute::auxiliary, purpose);
  return activity;
}

std::optional<std::string> describe_use(const std::vector<Activity>& activities) {
  return tensor_cores_by_name(activities);
}

constexpr const char* kTensorCoreName = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT";
constexpr const char* kSimtName = "cutlass_80_simt_sgemm_128x32_8x5_nn_align1";
constexpr const char* kUnknownName = "matmul_kernel";

TEST(TensorCoresByName, AgreeingKernelsSpeakWithOneVoice) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kTensorCoreName)}), "used (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kSimtName)}), "not used (name: simt)");
  EXPECT_EQ(describe_use({kernel(kUnknownName)}), "unknown");
}

TEST(TensorCoresByName, AuxiliaryKernelsAreNotAsked) {
  EXPECT_EQ(
      describe_use({kernel("nchwToNhwcKernel", "layout conversion"), kernel(kTensorCoreName)}),
      "used (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kTensorCoreName, "layout conversion")}), std::nullopt);
}

TEST(TensorCoresByName, AUseIsCountedAmongOthers) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kSimtName), kernel(kSimtName)}),
            "used by 1 of 3 kernels (name: nvjet)");
}

// On an H100, 280 of 285 kernels had unknown names, and the line read as 280 without tensor cores.
TEST(TensorCoresByName, UnknownKernelsDoNotReadAsKernelsWithout) {
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kUnknownName), kernel(kUnknownName)}),
            "used by 1 of 3 kernels, unknown for 2 (name: nvjet)");
  EXPECT_EQ(describe_use({kernel(kTensorCoreName), kernel(kSimtName), kernel(kUnknownName)}),
            "used by 1 of 3 kernels, not used by 1, unknown for 1 (name: nvjet)");
}

TEST(TensorCoresByName, WithoutAUseOneUnknownNameLeavesItOpen) {
  EXPECT_EQ(describe_use({kernel(kSimtName), kernel(kUnknownName)}), "unknown");
}

TEST(TensorCoresByName, OtherActivitiesAreNoKernels) {
  Activity range = kernel(kTensorCoreName);
  range.kind = ActivityKind::range;
  EXPECT_EQ(describe_use({range}), std::nullopt);
}

}  // namespace
}  // namespace bench
