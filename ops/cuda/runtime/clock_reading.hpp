// SPDX-License-Identifier: Apache-2.0
// The values of a device's clocks at one moment. Plain data: nvcc reads it as C++17.
#pragma once

#include <cstdint>

namespace bench::ops::cuda {

// The device's time and the cycle count of its first multiprocessor at one moment. Two readings
// give the average clock between them. All 0: nothing was read.
struct ClockReading {
  std::int64_t nanoseconds;
  std::int64_t cycles;
};

}  // namespace bench::ops::cuda
