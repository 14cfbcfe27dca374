// SPDX-License-Identifier: Apache-2.0
// What a device's clocks say at one moment. Plain: nvcc reads it as C++17.
#pragma once

#include <cstdint>

namespace bench::ops::cuda {

// The device's time and the cycles of its first multiprocessor at one moment; two of them give the
// clock between. All 0: nothing was read.
struct ClockReading {
  std::int64_t nanoseconds;
  std::int64_t cycles;
};

}  // namespace bench::ops::cuda
