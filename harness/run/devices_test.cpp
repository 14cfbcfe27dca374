// SPDX-License-Identifier: Apache-2.0
#include "harness/run/devices.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

CaseKey key_on(const std::string& backend, const std::string& device) {
  CaseKey key;
  key.backend = backend;
  key.device = device;
  return key;
}

TEST(Devices, AsksOnceAndOnlyForItsOwnBackendsOnCuda) {
  int asked = 0;
  Devices devices([&] {
    ++asked;
    return CudaStatus{};
  });
  EXPECT_FALSE(devices.unavailable_reason(key_on("onednn", "cpu")));
  EXPECT_FALSE(devices.unavailable_reason(key_on("mine", "cuda")));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(devices.unavailable_reason(key_on("cudnn", "cuda")));
  EXPECT_TRUE(devices.unavailable_reason(key_on("cublaslt", "cuda")));
  EXPECT_EQ(asked, 1);
}

TEST(Devices, WithoutOneThereAreNoDetails) {
  Devices devices([] { return CudaStatus{}; });
  EXPECT_TRUE(devices.details().empty());
  EXPECT_TRUE(devices.unavailable_reason(key_on("cudnn", "cuda")));
  EXPECT_TRUE(devices.details().empty());
}

}  // namespace
}  // namespace bench
