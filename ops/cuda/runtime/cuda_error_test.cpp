// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/cuda_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

constexpr CudaFailure kIllegal = {"cudaStreamSynchronize", cudaErrorIllegalAddress,
                                  "cudaErrorIllegalAddress",
                                  "an illegal memory access was encountered"};

TEST(CudaError, NamesTheCallAndSaysCudasWords) {
  EXPECT_EQ(cuda_error({"cudaMemcpyAsync", cudaErrorInvalidValue, "cudaErrorInvalidValue",
                        "invalid argument"},
                       DeviceHealth::usable)
                .message(),
            "cudaMemcpyAsync: invalid argument (cudaErrorInvalidValue, 1)");
}

TEST(CudaError, SaysThatTheDeviceIsLost) {
  EXPECT_EQ(cuda_error(kIllegal, DeviceHealth::lost).what,
            "the device is lost: cudaStreamSynchronize: an illegal memory access was encountered "
            "(cudaErrorIllegalAddress, 700); later cases run in a fresh worker");
}

TEST(CudaError, KnowsWhatEndsAContext) {
  for (const int code : {cudaErrorIllegalAddress, cudaErrorLaunchFailure, cudaErrorECCUncorrectable,
                         cudaErrorLaunchTimeout}) {
    EXPECT_TRUE(is_sticky(code)) << code;
  }
  for (const int code : {cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation,
                         cudaErrorNotReady, cudaErrorStreamCaptureInvalidated}) {
    EXPECT_FALSE(is_sticky(code)) << code;
  }
}

TEST(CudaError, OutOfMemoryIsSkippedAndNotFailed) {
  const BackendError error = out_of_memory({3 << 20}, Bytes{1 << 20}, Bytes{8 << 20});
  EXPECT_EQ(error.kind, BackendError::Kind::skipped);
  EXPECT_EQ(error.reason,
            "not enough memory: 3.000 MiB requested, the device has 1.000 MiB of 8.000 MiB free");
  EXPECT_EQ(out_of_memory({3 << 20}, std::nullopt, std::nullopt).reason,
            "not enough memory: 3.000 MiB requested, the device does not have this much free");
}

}  // namespace
}  // namespace bench::ops::cuda
