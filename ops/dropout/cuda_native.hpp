// SPDX-License-Identifier: Apache-2.0
// The native kernel of dropout, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cstdint>

namespace bench::ops::cuda {

// forward: tensor 0 is the source, 1 the destination, 2 the mask. gradient: tensor 0 is the mask, 1
// the gradient of the destination, 2 that of the source.
struct DropoutPlan : RowsOfElements {
  static constexpr const char* kKernel = "dropout";
  bool gradient = false;
  std::uint32_t threshold = 0, seed = 0;
  double scale = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;

  // The random number of a position: the finaliser of MurmurHash3.
  BENCH_BOTH std::uint8_t stays(std::int64_t position) const {
    std::uint32_t bits = static_cast<std::uint32_t>(position) * 0x9e3779b9u + seed;
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
    return (bits ^ (bits >> 16)) >= threshold ? 1 : 0;
  }

  template <class A>
  BENCH_BOTH void write(const A& access, std::int64_t row, const State<typename A::Value>&,
                        int lane, int lanes) const {
    using T = typename A::Value;
    const T factor = static_cast<T>(scale);
    if (gradient) {
      const auto* mask = static_cast<const std::uint8_t*>(access.tensors.at[0]);
      for (std::int64_t i = row * kPart + lane; i < end_of(row); i += lanes) {
        access.store(2, i, mask[i] != 0 ? access.load(1, i) * factor : T(0));
      }
      return;
    }
    auto* mask = static_cast<std::uint8_t*>(access.tensors.at[2]);
    for (std::int64_t i = row * kPart + lane; i < end_of(row); i += lanes) {
      const std::uint8_t kept = stays(i);
      mask[i] = kept;
      access.store(1, i, kept != 0 ? access.load(0, i) * factor : T(0));
    }
  }
};

}  // namespace bench::ops::cuda
