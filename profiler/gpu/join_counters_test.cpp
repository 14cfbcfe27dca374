// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/join.hpp"
#include "tests/fakes/gpu_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::during;
using test::GpuScript;
using testing::ElementsAre;
using testing::Pair;

TEST(GpuJoin, CountersOfADevice) {
  GpuScript script;
  script.launch("a", during(1'000'000, 2'000'000), 0);
  script.launch("b", during(3'000'000, 4'000'000), 0);
  const GpuJoin join = join_gpu_session(script.session);
  const auto busy = test::counter(join.activities, "gpu_busy");
  ASSERT_EQ(busy.size(), 31u);  // 30 periods of 100 us, and the end point
  double sum = 0;
  for (const auto& [at, percent] : busy) sum += percent;
  EXPECT_NEAR(sum / 30, 66.7, 0.1);
  EXPECT_THAT(
      test::counter(join.activities, "unfinished_kernels"),
      ElementsAre(Pair(999'000, 1), Pair(2'000'000, 0), Pair(2'999'000, 1), Pair(4'000'000, 0)));
}

TEST(GpuJoin, ConcurrencyCountsThreadsInsideACall) {
  GpuScript script;
  const auto call = [&](GpuApiDomain domain, GpuInterval time, std::int64_t thread) {
    script.add(GpuApiCall{domain, "call", time, thread, {}, 0});
  };
  call(GpuApiDomain::runtime, during(10, 50), 1);
  call(GpuApiDomain::driver, during(20, 30), 1);  // nested in the runtime call
  call(GpuApiDomain::runtime, during(40, 60), 2);
  EXPECT_THAT(test::counter(join_gpu_session(script.session).activities, "concurrency"),
              ElementsAre(Pair(10, 1), Pair(40, 2), Pair(50, 1), Pair(60, 0)));
  GpuJoinOptions options;
  options.groups = {RecordGroup::device};
  EXPECT_THAT(test::counter(join_gpu_session(script.session, options).activities, "concurrency"),
              ElementsAre());
}

}  // namespace
}  // namespace bench
