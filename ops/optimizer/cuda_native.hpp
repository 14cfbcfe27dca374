// SPDX-License-Identifier: Apache-2.0
// The native kernel of optimizer, on a CUDA device and on the CPU. C++17.
#pragma once

#include "ops/cuda/kernels/rows.hpp"

#include <cmath>
#include <cstdint>

namespace bench::ops::cuda {

enum class OptimizerFunction : std::uint8_t { sgd, momentum, adam };

// Tensor 0 has the parameters, 1 the gradient; then come the states (none, the momentum's buffer,
// or both moments), the new parameters and the new states.
struct OptimizerPlan {
  static constexpr const char* kKernel = "optimizer";
  OptimizerFunction function = OptimizerFunction::sgd;
  std::int64_t elements = 1;
  Element type = Element::f32;
  Precision precision = Precision::single;
  double rate = 0;      // factor of the direction; divided by the first bias correction
  double momentum = 0;  // factor of the buffer
  double decay = 0;     // factor of the parameters that are added to the gradient
  double shrink = 1;    // factor of the parameters themselves (adamw)
  double beta1 = 0, beta2 = 0, epsilon = 0;
  double root = 1;       // 1 / root of the second bias correction
  bool streams = false;  // whether a CPU writes past its caches
};

// The number of states per parameter.
BENCH_BOTH constexpr int states_of(OptimizerFunction function) {
  return function == OptimizerFunction::adam ? 2 : function == OptimizerFunction::momentum ? 1 : 0;
}

template <class T>
struct OptimizerValues {
  T parameter, first, second;
};

// Returns the values after one step. `kFunction` is that of the plan.
template <OptimizerFunction kFunction, class T>
BENCH_BOTH OptimizerValues<T> step(const OptimizerPlan& plan, const OptimizerValues<T>& old,
                                   T gradient) {
  const T slope = gradient + static_cast<T>(plan.decay) * old.parameter;
  const T shrunk = static_cast<T>(plan.shrink) * old.parameter;
  const auto rate = static_cast<T>(plan.rate);
  if (kFunction == OptimizerFunction::sgd) return {shrunk - rate * slope, T(0), T(0)};
  if (kFunction == OptimizerFunction::momentum) {
    const T buffer = static_cast<T>(plan.momentum) * old.first + slope;
    return {shrunk - rate * buffer, buffer, T(0)};
  }
  const T first = old.first + (slope - old.first) * static_cast<T>(1 - plan.beta1);
  const T second =
      old.second * static_cast<T>(plan.beta2) + slope * slope * static_cast<T>(1 - plan.beta2);
  const T divisor = std::sqrt(second) * static_cast<T>(plan.root) + static_cast<T>(plan.epsilon);
  return {shrunk - rate * (first / divisor), first, second};
}

// Computes element `i`: reads it from `source`, and writes element `to` of `destination`.
template <OptimizerFunction kFunction, class A, class B>
BENCH_BOTH void update_element(const OptimizerPlan& plan, const A& source, std::int64_t i,
                               B& destination, std::int64_t to) {
  using T = typename A::Value;
  constexpr int kStates = states_of(kFunction);
  OptimizerValues<T> old{source.load(0, i), T(0), T(0)};
  if (kStates > 0) old.first = source.load(2, i);
  if (kStates > 1) old.second = source.load(3, i);
  const OptimizerValues<T> values = step<kFunction>(plan, old, source.load(1, i));
  destination.store(2 + kStates, to, values.parameter);
  if (kStates > 0) destination.store(3 + kStates, to, values.first);
  if (kStates > 1) destination.store(4 + kStates, to, values.second);
}

// Calls run(value of OptimizerFunction as a type) for the plan's function.
template <OptimizerFunction kFunction>
struct OptimizerConstant {
  static constexpr OptimizerFunction kValue = kFunction;
};
template <class Run>
void run_by_function(OptimizerFunction function, const Run& run) {
  if (function == OptimizerFunction::sgd) run(OptimizerConstant<OptimizerFunction::sgd>());
  if (function == OptimizerFunction::momentum) {
    run(OptimizerConstant<OptimizerFunction::momentum>());
  }
  if (function == OptimizerFunction::adam) run(OptimizerConstant<OptimizerFunction::adam>());
}

}  // namespace bench::ops::cuda
