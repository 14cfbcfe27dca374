// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

Activity in_phase(ActivityKind kind, std::string_view phase) {
  Activity activity;
  activity.kind = kind;
  if (!phase.empty()) activity.attributes.set(Attribute::phase, phase);
  return activity;
}

TEST(Activity, APrimitiveIsExecutedInPhaseExecOrWithoutAPhase) {
  EXPECT_TRUE(is_executed(in_phase(ActivityKind::primitive, "exec")));
  EXPECT_TRUE(is_executed(in_phase(ActivityKind::primitive, "")));
  EXPECT_FALSE(is_executed(in_phase(ActivityKind::primitive, "create")));
  EXPECT_FALSE(is_executed(in_phase(ActivityKind::primitive, "create:cache_hit")));
  EXPECT_FALSE(is_executed(in_phase(ActivityKind::primitive, "dispatch")));
}

TEST(Activity, OtherKindsAreExecutedWhateverTheirPhaseIs) {
  EXPECT_TRUE(is_executed(in_phase(ActivityKind::kernel, "create")));
  EXPECT_TRUE(is_executed(in_phase(ActivityKind::range, "")));
}

}  // namespace
}  // namespace bench
