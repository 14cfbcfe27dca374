// SPDX-License-Identifier: Apache-2.0
// Functions that all launches of native kernels share. C++17, for nvcc.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace bench::ops::cuda {

// Maximum number of blocks per launch. It fills the largest device several times over. Kernels loop
// over the remaining work with a stride.
constexpr std::int64_t kMaxBlocks = 16384;

inline unsigned grid_size(std::int64_t blocks, std::int64_t max_blocks = kMaxBlocks) {
  return static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
}

// Calls `start` with a zero of the type that `precision` selects. Returns the launch's error.
template <class Start>
cudaError_t launch_by(Precision precision, Start start) {
  if (precision == Precision::wide) {
    start(double());
  } else {
    start(float());
  }
  return cudaGetLastError();
}

// Access of a device's kernel to tensors whose element type the compiler knows.
template <Element kType>
using DeviceAccess = TypedAccess<kType, const Addresses&>;

// Calls `start` with the ElementConstant of a floating-point type. Returns the launch's error.
template <class Start>
cudaError_t launch_by_type(Element type, Start start) {
  switch (type) {
    case Element::f64:
      start(ElementConstant<Element::f64>());
      break;
    case Element::f32:
      start(ElementConstant<Element::f32>());
      break;
    case Element::f16:
      start(ElementConstant<Element::f16>());
      break;
    case Element::bf16:
      start(ElementConstant<Element::bf16>());
      break;
    case Element::f8_e4m3:
      start(ElementConstant<Element::f8_e4m3>());
      break;
    case Element::f8_e5m2:
      start(ElementConstant<Element::f8_e5m2>());
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

}  // namespace bench::ops::cuda
