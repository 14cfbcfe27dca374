// SPDX-License-Identifier: Apache-2.0
// Computes single elements for the native kernels. The same source is compiled for the device and
// for the CPU, where tests compare it with the operators' references. C++17.
#pragma once

#include "ops/cuda/kernels/element_codes.hpp"
#include "ops/cuda/kernels/plans.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

// --- Functions of one value and of two values, with the formulas of ops/pointwise/functions.cpp.

template <class T>
BENCH_BOTH T compute_sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
BENCH_BOTH T gelu_tanh_inner(T x) {
  return std::tanh(T(0.7978845608028654) * x * (T(1) + T(0.044715) * x * x));
}

template <class T>
BENCH_BOTH T apply(Function function, T x, T alpha, T beta) {
  switch (function) {
    case Function::relu:
      return x < T(0) ? T(0) : x;
    case Function::leaky_relu:
      return x > T(0) ? x : alpha * x;
    case Function::elu:
      return x > T(0) ? x : alpha * std::expm1(x);
    case Function::gelu_erf:
      return T(0.5) * x * (T(1) + std::erf(x * T(0.7071067811865476)));
    case Function::gelu_tanh:
      return T(0.5) * x * (T(1) + gelu_tanh_inner(x));
    case Function::sigmoid:
      return compute_sigmoid(x);
    case Function::tanh:
      return std::tanh(x);
    case Function::swish:
      return x * compute_sigmoid(alpha * x);
    case Function::hardswish: {
      const T gate = x / T(6) + T(0.5);
      return x * (gate < T(0) ? T(0) : gate > T(1) ? T(1) : gate);
    }
    case Function::hardsigmoid: {
      const T gate = x / T(6) + T(0.5);
      return gate < T(0) ? T(0) : gate > T(1) ? T(1) : gate;
    }
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
    case Function::sqrt:
      return std::sqrt(x);
    case Function::abs:
      return x < T(0) ? -x : x;
    case Function::clip: {
      const T raised = x < alpha ? alpha : x;
      return raised > beta ? beta : raised;
    }
    case Function::square:
      return x * x;
    case Function::scale:
      return alpha * x;
  }
  return x;
}

template <class T>
BENCH_BOTH T gelu_erf_derivative(T x) {
  return T(0.5) * (T(1) + std::erf(x * T(0.7071067811865476))) +
         x * T(0.3989422804014327) * std::exp(T(-0.5) * x * x);
}

template <class T>
BENCH_BOTH T gelu_tanh_derivative(T x) {
  const T t = gelu_tanh_inner(x);
  const T inner = T(0.7978845608028654) * (T(1) + T(3) * T(0.044715) * x * x);
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * inner;
}

template <class T>
BENCH_BOTH T derivative(Function function, T x, T alpha, T beta) {
  switch (function) {
    case Function::relu:
      return x > T(0) ? T(1) : T(0);
    case Function::leaky_relu:
      return x > T(0) ? T(1) : alpha;
    case Function::elu:
      return x > T(0) ? T(1) : alpha * std::exp(x);
    case Function::gelu_erf:
      return gelu_erf_derivative(x);
    case Function::gelu_tanh:
      return gelu_tanh_derivative(x);
    case Function::sigmoid: {
      const T s = compute_sigmoid(x);
      return s * (T(1) - s);
    }
    case Function::tanh: {
      const T t = std::tanh(x);
      return T(1) - t * t;
    }
    case Function::swish: {
      const T s = compute_sigmoid(alpha * x);
      return s + alpha * x * s * (T(1) - s);
    }
    case Function::hardswish:
      return x <= T(-3) ? T(0) : x >= T(3) ? T(1) : x / T(3) + T(0.5);
    case Function::hardsigmoid:
      return x > T(-3) && x < T(3) ? T(1) / T(6) : T(0);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return T(1) / x;
    case Function::sqrt:
      return T(0.5) / std::sqrt(x);
    case Function::abs:
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
    case Function::clip:
      return x > alpha && x <= beta ? T(1) : T(0);
    case Function::square:
      return T(2) * x;
    case Function::scale:
      return alpha;
  }
  return T(0);
}

template <class T>
BENCH_BOTH T combine(Combination combination, T a, T b) {
  switch (combination) {
    case Combination::add:
      return a + b;
    case Combination::sub:
      return a - b;
    case Combination::mul:
      return a * b;
    case Combination::div:
      return a / b;
    case Combination::max:
      return a < b ? b : a;
    case Combination::min:
      return b < a ? b : a;
  }
  return a;
}

// --- Elementwise plans.

// Returns the value after one step. `operand` is the step's operand, if the step has one.
template <class T>
BENCH_BOTH T apply_step(const ElementStep& step, T value, T operand) {
  switch (step.kind) {
    case ElementStep::Kind::apply:
      return apply(step.function, value, static_cast<T>(step.alpha), static_cast<T>(step.beta));
    case ElementStep::Kind::gradient:
      return derivative(step.function, value, static_cast<T>(step.alpha),
                        static_cast<T>(step.beta)) *
             operand;
    case ElementStep::Kind::combine:
      return combine(step.combination, value, operand);
    case ElementStep::Kind::normalise:
      return value / std::sqrt(operand + static_cast<T>(step.alpha));
  }
  return value;
}

// Splits a flat position into the indexes of the plan's dimensions. Constant limits of the loops
// let the device keep the indexes in registers.
template <class Index>
BENCH_BOTH void split_position(const ElementwisePlan& plan, Index position, std::int64_t* index) {
  BENCH_UNROLL
  for (int d = kMaxDims - 1; d > 0; --d) {
    index[d] = 0;
    if (d >= plan.rank) continue;
    const Index size = static_cast<Index>(plan.dims[d]);
    index[d] = position % size;
    position /= size;
  }
  index[0] = position;
}

// Returns index[dim]. An index that is only known at run time would keep the array in the device's
// local memory, with about 100 bytes of traffic for each element.
BENCH_BOTH std::int64_t index_along(const std::int64_t* index, int dim) {
  std::int64_t found = index[0];
  BENCH_UNROLL
  for (int d = 1; d < kMaxDims; ++d) {
    if (d == dim) found = index[d];
  }
  return found;
}

BENCH_BOTH std::int64_t element_offset(const ElementwisePlan& plan, const Operand& operand,
                                       const std::int64_t* index) {
  std::int64_t sum = 0;
  BENCH_UNROLL
  for (int d = 0; d < kMaxDims; ++d) {
    if (d < plan.rank) sum += index[d] * operand.strides[d];
  }
  return sum;
}

// Computes the element at the flat position `position`. `Index` is an integer type that can
// represent all positions.
template <class T, class Index>
BENCH_BOTH void compute_element(const ElementwisePlan& plan, const Addresses& tensors,
                                Index position) {
  std::int64_t index[kMaxDims];
  split_position(plan, position, index);
  const auto offset = [&](const Operand& operand) { return element_offset(plan, operand, index); };
  const bool is_padding =
      plan.padding != PaddingMode::none &&
      index_along(index, plan.block) * plan.block_size + index_along(index, plan.within) >=
          plan.limit;
  if (is_padding && plan.padding == PaddingMode::skip) return;
  T value = T(0);
  if (!is_padding) {
    const auto read = [&](const Operand& operand) {
      return load_as<T>(operand.type, tensors.at[operand.tensor], offset(operand));
    };
    value = read(plan.operands[0]);
    for (int s = 0; s < plan.step_count; ++s) {
      const ElementStep& step = plan.steps[s];
      const bool has_operand = step.kind != ElementStep::Kind::apply;
      value = apply_step(step, value, has_operand ? read(plan.operands[step.operand]) : T(0));
    }
  }
  store_as<T>(plan.destination.type, tensors.at[plan.destination.tensor], offset(plan.destination),
              value);
}

// --- Runs of elements along the last dimension (ElementwisePlan::run).

// Whether a step costs so little that memory limits a launch. Only such steps are computed in runs.
BENCH_BOTH bool is_cheap(const ElementStep& step) {
  return step.kind == ElementStep::Kind::combine ||
         (step.kind == ElementStep::Kind::apply && step.function == Function::relu);
}

template <int kRun>
BENCH_BOTH void load_run(Element type, const void* array, std::int64_t offset, float* values) {
  if (type == Element::f16) {
    const auto stored = load_stored<std::uint16_t, kRun>(array, offset);
    for (int i = 0; i < kRun; ++i) values[i] = decode_f16(stored.at[i]);
  } else if (type == Element::bf16) {
    const auto stored = load_stored<std::uint16_t, kRun>(array, offset);
    for (int i = 0; i < kRun; ++i) values[i] = decode_bf16(stored.at[i]);
  } else {
    const auto stored = load_stored<float, kRun>(array, offset);
    for (int i = 0; i < kRun; ++i) values[i] = stored.at[i];
  }
}

template <int kRun>
BENCH_BOTH void store_run(Element type, void* array, std::int64_t offset, const float* values) {
  if (type == Element::f16) {
    StoredRun<std::uint16_t, kRun> stored;
    for (int i = 0; i < kRun; ++i) stored.at[i] = static_cast<std::uint16_t>(encode_f16(values[i]));
    store_stored(array, offset, stored);
  } else if (type == Element::bf16) {
    StoredRun<std::uint16_t, kRun> stored;
    for (int i = 0; i < kRun; ++i)
      stored.at[i] = static_cast<std::uint16_t>(encode_bf16(values[i]));
    store_stored(array, offset, stored);
  } else {
    StoredRun<float, kRun> stored;
    for (int i = 0; i < kRun; ++i) stored.at[i] = values[i];
    store_stored(array, offset, stored);
  }
}

template <int kRun>
BENCH_BOTH void apply_cheap_step(const ElementStep& step, const float* operand, float* values) {
  if (step.kind == ElementStep::Kind::combine) {
    for (int i = 0; i < kRun; ++i) values[i] = combine(step.combination, values[i], operand[i]);
  } else {
    for (int i = 0; i < kRun; ++i) values[i] = values[i] < 0 ? 0 : values[i];
  }
}

// Computes run number `number`. kRun is the plan's.
template <int kRun, class Index>
BENCH_BOTH void compute_run(const ElementwisePlan& plan, const Addresses& tensors, Index number) {
  std::int64_t index[kMaxDims];
  split_position(plan, static_cast<Index>(number * kRun), index);
  const auto read = [&](const Operand& operand, float* values) {
    const std::int64_t offset = element_offset(plan, operand, index);
    const void* array = tensors.at[operand.tensor];
    if (operand.strides[plan.rank - 1] != 0)
      return load_run<kRun>(operand.type, array, offset, values);
    const float value = load_as<float>(operand.type, array, offset);
    for (int i = 0; i < kRun; ++i) values[i] = value;
  };
  float values[kRun] = {}, operand[kRun] = {};
  read(plan.operands[0], values);
  for (int s = 0; s < plan.step_count; ++s) {
    const ElementStep& step = plan.steps[s];
    if (step.kind == ElementStep::Kind::combine) read(plan.operands[step.operand], operand);
    apply_cheap_step<kRun>(step, operand, values);
  }
  store_run<kRun>(plan.destination.type, tensors.at[plan.destination.tensor],
                  element_offset(plan, plan.destination, index), values);
}

// --- Sums over images and positions.

// Returns the sum over every `lanes`-th element of a channel, starting with element `lane`.
template <class T>
BENCH_BOTH T sum_channel_part(const ChannelSumPlan& plan, const void* source, std::int64_t channel,
                              int lane, int lanes) {
  T sum = T(0);
  const std::int64_t count = plan.images * plan.volume;
  for (std::int64_t i = lane; i < count; i += lanes) {
    const std::int64_t offset = channel * plan.channel_stride +
                                i / plan.volume * plan.image_stride +
                                i % plan.volume * plan.position_stride;
    sum += load_as<T>(plan.source_type, source, offset);
  }
  return sum;
}

}  // namespace bench::ops::cuda
