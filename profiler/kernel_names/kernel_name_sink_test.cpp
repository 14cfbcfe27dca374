// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_names/kernel_names.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

struct Kept final : public ActivitySink {
  Status consume(const Activity& activity) override {
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
};

Activity named(ActivityKind kind, const char* name) {
  Activity activity;
  activity.kind = kind;
  activity.name = name;
  return activity;
}

Activity passed(const Activity& activity) {
  Kept kept;
  KernelNameSink sink(kept);
  EXPECT_TRUE(sink.consume(activity).ok());
  EXPECT_EQ(kept.activities.size(), 1u);
  return kept.activities.front();
}

TEST(KernelNameSink, adds_what_the_name_tells) {
  Activity kernel = named(ActivityKind::kernel, "nvjet_tst_64x8_64x16_4x1_v_bz_TNT");
  kernel.attributes.set(Attribute::registers, std::int64_t{168});
  Activity expected = kernel;
  expected.attributes.set(Attribute::tensor_cores, "used (name: nvjet)");
  EXPECT_EQ(passed(kernel), expected);
}

TEST(KernelNameSink, reads_the_long_name) {
  Activity kernel = named(ActivityKind::kernel, "Kernel2");
  kernel.attributes.set(Attribute::long_name, "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>");
  EXPECT_EQ(passed(kernel).attributes.text(Attribute::tensor_cores), "not used (name: simt)");
}

TEST(KernelNameSink, leaves_what_the_file_says) {
  Activity kernel = named(ActivityKind::kernel, "nvjet_tst_64x8");
  for (const char* said : {"not used (counter)", "1", "-"}) {
    kernel.attributes.set(Attribute::tensor_cores, said);
    EXPECT_EQ(passed(kernel), kernel);
  }
}

TEST(KernelNameSink, leaves_unknown_names_and_other_kinds) {
  const Activity unknown = named(ActivityKind::kernel, "matmul_kernel");
  EXPECT_EQ(passed(unknown), unknown);
  const Activity range = named(ActivityKind::range, "nvjet_tst_64x8");
  EXPECT_EQ(passed(range), range);
}

}  // namespace
}  // namespace bench
