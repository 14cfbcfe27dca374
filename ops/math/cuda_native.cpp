// SPDX-License-Identifier: Apache-2.0
// On the CPU, blocks of elements are converted to the type that the kernel computes in, and one
// loop per function computes them in the first-level cache.
#include "ops/math/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/math/functions.hpp"
#include "ops/operator.hpp"

#include <algorithm>
#include <cstdint>

// Vector versions of the C library's functions, which the compiler uses in loops.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define BENCH_VECTOR_FUNCTION(name)                                               \
  double name(double) __attribute__((simd("notinbranch"), const, nothrow, leaf)); \
  float name##f(float) __attribute__((simd("notinbranch"), const, nothrow, leaf));
#define BENCH_VECTOR_FUNCTION_OF_TWO(name)                                                \
  double name(double, double) __attribute__((simd("notinbranch"), const, nothrow, leaf)); \
  float name##f(float, float) __attribute__((simd("notinbranch"), const, nothrow, leaf));
extern "C" {
BENCH_VECTOR_FUNCTION(sin)
BENCH_VECTOR_FUNCTION(cos)
BENCH_VECTOR_FUNCTION(tan)
BENCH_VECTOR_FUNCTION(asin)
BENCH_VECTOR_FUNCTION(acos)
BENCH_VECTOR_FUNCTION(atan)
BENCH_VECTOR_FUNCTION(sinh)
BENCH_VECTOR_FUNCTION(cosh)
BENCH_VECTOR_FUNCTION(tanh)
BENCH_VECTOR_FUNCTION(asinh)
BENCH_VECTOR_FUNCTION(acosh)
BENCH_VECTOR_FUNCTION(atanh)
BENCH_VECTOR_FUNCTION(exp)
BENCH_VECTOR_FUNCTION(exp2)
BENCH_VECTOR_FUNCTION(expm1)
BENCH_VECTOR_FUNCTION(log)
BENCH_VECTOR_FUNCTION(log2)
BENCH_VECTOR_FUNCTION(log10)
BENCH_VECTOR_FUNCTION(log1p)
BENCH_VECTOR_FUNCTION(erf)
BENCH_VECTOR_FUNCTION(erfc)
BENCH_VECTOR_FUNCTION(cbrt)
BENCH_VECTOR_FUNCTION_OF_TWO(pow)
BENCH_VECTOR_FUNCTION_OF_TWO(atan2)
BENCH_VECTOR_FUNCTION_OF_TWO(hypot)
}
#endif
#endif

namespace bench::ops::cuda {
namespace {

constexpr std::int64_t kBlock = 512;

template <class T>
struct MathBlock {
  alignas(64) T operands[3][kBlock];
  alignas(64) T gradient[kBlock];
  alignas(64) T results[3][kBlock];
};

// Computes a block. The compiler folds the functions' switch, because `kCode` is constant.
template <MathCode kCode, class T>
[[gnu::always_inline]] inline void compute_values(const MathPlan& plan, MathBlock<T>& block,
                                                  std::int64_t count) {
  const T alpha = static_cast<T>(plan.alpha);
  for (std::int64_t i = 0; i < count; ++i) {
    block.results[0][i] = math_value<T>(
        kCode, {block.operands[0][i], block.operands[1][i], block.operands[2][i], alpha});
  }
}
template <MathCode kCode, class T>
[[gnu::always_inline]] inline void compute_gradients(const MathPlan& plan, MathBlock<T>& block,
                                                     std::int64_t count) {
  const T alpha = static_cast<T>(plan.alpha);
  for (std::int64_t i = 0; i < count; ++i) {
    const MathGradient<T> slopes = math_gradient<T>(
        kCode, {block.operands[0][i], block.operands[1][i], block.operands[2][i], alpha},
        block.gradient[i]);
    block.results[0][i] = slopes.a;
    block.results[1][i] = slopes.b;
    block.results[2][i] = slopes.c;
  }
}

template <class T>
[[gnu::always_inline]] inline void compute_block(const MathPlan& plan, MathBlock<T>& block,
                                                 std::int64_t count) {
#define BENCH_MATH_CASE(name)                                                    \
  case MathCode::name:                                                           \
    return plan.gradient ? compute_gradients<MathCode::name>(plan, block, count) \
                         : compute_values<MathCode::name>(plan, block, count);
  switch (plan.code) { BENCH_MATH_FUNCTIONS(BENCH_MATH_CASE) }
#undef BENCH_MATH_CASE
}

template <Element kType, class T>
[[gnu::always_inline]] inline void load_block(const void* tensor, std::int64_t first,
                                              std::int64_t count, T* values) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = load_as<T>(kType, tensor, first + i);
}
template <Element kType, class T>
[[gnu::always_inline]] inline void store_block(const T* values, std::int64_t first,
                                               std::int64_t count, void* tensor) {
  for (std::int64_t i = 0; i < count; ++i) store_as<T>(kType, tensor, first + i, values[i]);
}

// Calls body(ElementConstant) for the types of cases that the CPU computes.
template <class Body>
[[gnu::always_inline]] inline void call_with_any_type(Element type, const Body& body) {
  switch (type) {
    case Element::s8:
      return body(ElementConstant<Element::s8>());
    case Element::u8:
      return body(ElementConstant<Element::u8>());
    default:
      return call_with_type(type, body);
  }
}

template <class T>
[[gnu::always_inline]] inline void run_blocks(const MathPlan& plan, const Addresses& tensors,
                                              std::int64_t begin, std::int64_t end) {
  MathBlock<T> block = {};
  const auto load = [&](int tensor, std::int64_t first, std::int64_t count, T* values)
      __attribute__((always_inline)) {
    call_with_any_type(
        plan.type, [&](auto type) __attribute__((always_inline)) {
          load_block<decltype(type)::value>(tensors.at[tensor], first, count, values);
        });
  };
  const int gradients = plan.gradient ? 1 : 0;
  for (std::int64_t first = begin; first < end; first += kBlock) {
    const std::int64_t count = std::min(kBlock, end - first);
    for (int t = 0; t < plan.operands; ++t) load(t, first, count, block.operands[t]);
    if (plan.gradient) load(plan.operands, first, count, block.gradient);
    compute_block(plan, block, count);
    for (int t = 0; t < plan.results; ++t) {
      call_with_any_type(
          plan.type, [&](auto type) __attribute__((always_inline)) {
            store_block<decltype(type)::value>(block.results[t], first, count,
                                               tensors.at[plan.operands + gradients + t]);
          });
    }
  }
}

void run_math_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                   int threads) {
  const auto plan = native_plan.as<MathPlan>();
  const std::int64_t begin = part_begin(plan.elements, thread, threads);
  const std::int64_t end = part_begin(plan.elements, thread + 1, threads);
  call_with_vectors([&](auto) __attribute__((always_inline)) {
    if (plan.precision == Precision::wide) {
      run_blocks<double>(plan, tensors, begin, end);
    } else {
      run_blocks<float>(plan, tensors, begin, end);
    }
  });
}

Result<NativeForm, BackendError> math_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel takes plain tensors; leave `layout: nhwc` out");
  }
  const MathFunction& function = *find_math_function(problem.parameters.word("function"));
  MathPlan plan;
  plan.code = static_cast<MathCode>(&function - math_functions().data());
  plan.gradient = problem.direction != Direction::forward;
  plan.operands = function.operands;
  plan.results = plan.gradient ? gradient_operands(function) : 1;
  plan.alpha = problem.parameters.has("alpha") ? problem.parameters.real("alpha")
                                               : function.alpha.value_or(0);
  plan.elements = problem.output().elements();
  return plain_form(problem, "bench:math", "math", plan);
}

}  // namespace

extern const NativeEntry math_cuda_native;
const NativeEntry math_cuda_native = {
    .op = "math",
    .form = math_form,
    .host = {MathPlan::kKernel, run_rows<MathPlan>, run_math_part}};

}  // namespace bench::ops::cuda
