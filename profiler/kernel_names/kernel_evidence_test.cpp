// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

Activity kernel(const char* name, const char* purpose = nullptr) {
  Activity made;
  made.kind = ActivityKind::kernel;
  made.name = name;
  if (purpose != nullptr) made.attributes.set(Attribute::auxiliary, purpose);
  return made;
}

std::optional<std::string> told_by(const std::vector<Activity>& activities) {
  return tensor_cores_by_name(activities);
}

constexpr const char* kTensor = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT";
constexpr const char* kPlain = "cutlass_80_simt_sgemm_128x32_8x5_nn_align1";
constexpr const char* kOdd = "matmul_kernel";

TEST(TensorCoresByName, agreeing_kernels_speak_with_one_voice) {
  EXPECT_EQ(told_by({kernel(kTensor), kernel(kTensor)}), "used (name: nvjet)");
  EXPECT_EQ(told_by({kernel(kPlain)}), "not used (name: simt)");
  EXPECT_EQ(told_by({kernel(kOdd)}), "unknown");
}

TEST(TensorCoresByName, auxiliary_kernels_are_not_asked) {
  EXPECT_EQ(told_by({kernel("nchwToNhwcKernel", "layout conversion"), kernel(kTensor)}),
            "used (name: nvjet)");
  EXPECT_EQ(told_by({kernel(kTensor, "layout conversion")}), std::nullopt);
}

TEST(TensorCoresByName, a_use_is_counted_among_others) {
  EXPECT_EQ(told_by({kernel(kTensor), kernel(kPlain), kernel(kOdd)}),
            "used by 1 of 3 kernels (name: nvjet)");
}

TEST(TensorCoresByName, without_a_use_one_unknown_name_leaves_it_open) {
  EXPECT_EQ(told_by({kernel(kPlain), kernel(kOdd)}), "unknown");
}

TEST(TensorCoresByName, other_activities_are_no_kernels) {
  Activity range = kernel(kTensor);
  range.kind = ActivityKind::range;
  EXPECT_EQ(told_by({range}), std::nullopt);
}

}  // namespace
}  // namespace bench
