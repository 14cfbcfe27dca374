// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/support_oracle.hpp"
#include "ops/cuda/cudnn/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

// On a machine with a device, its properties can be used for planning. Elsewhere the error states a
// reason.
TEST(DeviceProperties, AreReadOrRefused) {
  BENCH_NEED_CUDNN(api);
  const auto json = read_device_json(api, 0);
  if (json) {
    const auto engines =
        planned_engines(api, cudnn_test::conv_problem({"n32c64h28k64r3p1"}), *json, {1, 1});
    EXPECT_TRUE(engines.ok()) << engines.error().reason << *json;
  } else {
    EXPECT_THAT(json.error().what, ::testing::HasSubstr("the device's properties"));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
