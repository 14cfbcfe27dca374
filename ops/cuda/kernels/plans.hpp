// SPDX-License-Identifier: Apache-2.0
// What a launch of one of our own kernels computes, as plain data: planned on the host, passed to
// the kernel by value. C++17 without anything else of the project, since nvcc reads it too.
#pragma once

#include <cstdint>
#include <variant>

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
  exp,
  log,
  sqrt,
  abs,
  clip,
  square
};
enum class Combination : std::uint8_t { add, sub, mul, div, max, min };

// In what a kernel computes: f64 where it computes on f64, else f32.
enum class Precision : std::uint8_t { single, wide };

inline constexpr int kMaxDims = 6;
inline constexpr int kMaxOperands = 10;
inline constexpr int kMaxSteps = 12;

// Addresses of the tensors that plans name by number.
struct Addresses {
  void* at[kMaxOperands] = {};
};

struct Operand {
  int tensor = 0;
  Element type = Element::f32;
  std::int64_t strides[kMaxDims] = {};  // in elements; 0: stretched
};

// One step of an element's computation, on the value so far.
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
  int operand = 0;  // number in ElementwisePlan::operands
  double alpha = 0, beta = 0;
};

// Of positions that a blocked layout has and the tensor has not.
enum class Outside : std::uint8_t { none, skip, zero };

// destination[i] = steps(operands[0][i]) for every position i of `dims`; none: a copy, with
// conversion. Dimensions are ordered as the destination's memory, innermost last.
struct ElementwisePlan {
  int rank = 1;
  std::int64_t dims[kMaxDims] = {1};
  std::int64_t elements = 1;
  int operand_count = 1;
  Operand operands[kMaxOperands];
  Operand destination;
  int step_count = 0;
  ElementStep steps[kMaxSteps];
  Precision precision = Precision::single;
  // Outside are positions with index[block] * block_size + index[within] >= limit.
  Outside outside = Outside::none;
  int block = 0, within = 0;
  std::int64_t block_size = 1, limit = 1;
};

// destination[b][column][row] = source[b][row][column], of elements of `bytes` 1, 2, 4 or 8.
// Tensor 0 is the source, 1 the destination.
struct TransposePlan {
  std::int64_t batch = 1, rows = 1, columns = 1;
  int bytes = 4;
};

// Rows of `size` elements that lie `inner` apart, `outer` * `inner` of them, dense. Tensor 0 is the
// source, 1 the destination.
struct SoftmaxPlan {
  std::int64_t outer = 1, size = 1, inner = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;
};

// destination[c] = sum of source over images and positions. Strides in elements.
struct ChannelSumPlan {
  std::int64_t channels = 1, images = 1, volume = 1;
  std::int64_t channel_stride = 1, image_stride = 1, position_stride = 1;
  int source = 0, destination = 1;
  Element source_type = Element::f32, destination_type = Element::f32;
  Precision precision = Precision::single;
};

using OwnPlan = std::variant<ElementwisePlan, TransposePlan, SoftmaxPlan, ChannelSumPlan>;

}  // namespace bench::ops::cuda
