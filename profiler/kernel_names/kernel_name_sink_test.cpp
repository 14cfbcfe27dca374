// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

struct CollectingSink final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

Activity make_activity(ActivityKind kind, const char* name) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  return activity;
}

Activity annotate(const Activity& activity) {
  CollectingSink collected;
  KernelNameSink sink(collected);
  EXPECT_TRUE(sink.consume(activity).ok());
  EXPECT_EQ(collected.activities.size(), 1u);
  return collected.activities.front();
}

TEST(KernelNameSink, AddsWhatTheNameTells) {
  Activity kernel = make_activity(ActivityKind::kernel, "nvjet_tst_64x8_64x16_4x1_v_bz_TNT");
  kernel.attributes.set(Attribute::registers, std::int64_t{168});
  Activity expected = kernel;
  expected.attributes.set(Attribute::tensor_cores, "used (name: nvjet)");
  EXPECT_EQ(annotate(kernel), expected);
}

TEST(KernelNameSink, ReadsTheLongName) {
  Activity kernel = make_activity(ActivityKind::kernel, "Kernel2");
  kernel.attributes.set(Attribute::long_name, "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>");
  EXPECT_EQ(annotate(kernel).attributes.text(Attribute::tensor_cores), "not used (name: simt)");
}

TEST(KernelNameSink, LeavesWhatTheFileSays) {
  Activity kernel = make_activity(ActivityKind::kernel, "nvjet_tst_64x8");
  for (const char* value : {"not used (counter)", "1", "-"}) {
    kernel.attributes.set(Attribute::tensor_cores, value);
    EXPECT_EQ(annotate(kernel), kernel);
  }
}

TEST(KernelNameSink, LeavesUnknownNamesAndOtherKinds) {
  const Activity unknown = make_activity(ActivityKind::kernel, "matmul_kernel");
  EXPECT_EQ(annotate(unknown), unknown);
  const Activity range = make_activity(ActivityKind::range, "nvjet_tst_64x8");
  EXPECT_EQ(annotate(range), range);
}

}  // namespace
}  // namespace bench
