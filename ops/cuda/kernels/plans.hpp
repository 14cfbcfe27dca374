// SPDX-License-Identifier: Apache-2.0
// Plans of launches of native kernels that several operators share. A plan is plain data: the host
// creates it and passes it to the kernel by value. C++17 without other headers of the project,
// because nvcc compiles this header too.
#pragma once

#include <cstdint>

namespace bench::ops::cuda {

// In the order of bench::DataType.
enum class Element : std::uint8_t { f64, f32, f16, bf16, s32, s8, u8, f8_e4m3, f8_e5m2 };

// In the order of ops::unary_functions() and ops::binary_functions().
enum class Function : std::uint8_t {
  relu,
  leaky_relu,
  elu,
  gelu_erf,
  gelu_tanh,
  sigmoid,
  tanh,
  swish,
  hardswish,
  hardsigmoid,
  exp,
  log,
  sqrt,
  abs,
  clip,
  square,
  scale
};
enum class Combination : std::uint8_t { add, sub, mul, div, max, min };

// The precision that a kernel computes in: wide (f64) for f64 data, else single (f32).
enum class Precision : std::uint8_t { single, wide };

inline constexpr int kMaxDims = 6;
inline constexpr int kMaxOperands = 10;
inline constexpr int kMaxSteps = 12;

// Addresses of the tensors that plans refer to by number.
struct Addresses {
  void* at[kMaxOperands] = {};
};

struct Operand {
  int tensor = 0;
  Element type = Element::f32;
  std::int64_t strides[kMaxDims] = {};  // in elements; 0: broadcast
};

// One step of an element's computation. `value` is the result of the steps before.
struct ElementStep {
  enum class Kind : std::uint8_t {
    apply,      // f(value)
    gradient,   // f'(value) * operand
    combine,    // g(value, operand)
    normalise,  // value / sqrt(operand + alpha)
  };
  Kind kind = Kind::apply;
  Function function = Function::relu;
  Combination combination = Combination::add;
  int operand = 0;  // index in ElementwisePlan::operands
  double alpha = 0, beta = 0;
};

// How to treat padding positions of a blocked layout, which are outside the tensor. none: there is
// no padding. skip: nothing is written. zero: 0 is written.
enum class PaddingMode : std::uint8_t { none, skip, zero };

// Computes destination[i] = steps(operands[0][i]) for every position i of `dims`. Without steps
// this is a copy with conversion. Dimensions are ordered as in the destination's memory, innermost
// last.
struct ElementwisePlan {
  static constexpr const char* kKernel = "elementwise";
  int rank = 1;
  std::int64_t dims[kMaxDims] = {1};
  std::int64_t elements = 1;
  int operand_count = 1;
  Operand operands[kMaxOperands];
  Operand destination;
  int step_count = 0;
  ElementStep steps[kMaxSteps];
  Precision precision = Precision::single;
  // Positions with index[block] * block_size + index[within] >= limit are padding.
  PaddingMode padding = PaddingMode::none;
  int block = 0, within = 0;
  std::int64_t block_size = 1, limit = 1;
  // Elements along the last dimension that a thread loads and stores together: 1, 4 or 8. More than
  // 1 only for f32, f16 and bf16, cheap steps, and operands that are contiguous or constant along
  // the last dimension.
  int run = 1;
};

// Computes destination[b][column][row] = source[b][row][column] for elements of 1, 2, 4 or 8
// `bytes`. Tensor 0 is the source, 1 the destination.
struct TransposePlan {
  static constexpr const char* kKernel = "transpose";
  std::int64_t batch = 1, rows = 1, columns = 1;
  int bytes = 4;
};

// Copies pixels of `channels` elements to pixels of `padded` elements, whose other elements become
// 0. An element has 1, 2, 4 or 8 `bytes`. Tensor 0 is the source, 1 the destination.
struct PadPlan {
  static constexpr const char* kKernel = "pad_channels";
  std::int64_t pixels = 1, channels = 1, padded = 1;
  int bytes = 4;
};

// Computes destination[c] = sum of source over images and positions. Strides are in elements.
struct ChannelSumPlan {
  static constexpr const char* kKernel = "channel_sum";
  std::int64_t channels = 1, images = 1, volume = 1;
  std::int64_t channel_stride = 1, image_stride = 1, position_stride = 1;
  int source = 0, destination = 1;
  Element source_type = Element::f32, destination_type = Element::f32;
  Precision precision = Precision::single;
};

}  // namespace bench::ops::cuda
