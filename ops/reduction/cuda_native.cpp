// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/problem_elements.hpp"
#include "ops/description.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench::ops::cuda {
namespace {

// --- The CPU's kernel. The threads share out the outputs, or, if these are few, the elements of
// each output: then each thread leaves its results in the shared memory, and one finishes them.

// Neighbouring outputs that are computed together if their elements are neighbours too.
constexpr std::int64_t kColumns = 256;
// Fewer outputs for each thread are shared out by their elements.
constexpr std::int64_t kMinOutputs = 64;

struct Range {
  std::int64_t first, last;
};
Range part_of(std::int64_t count, int thread, int threads) {
  return {part_begin(count, thread, threads), part_begin(count, thread + 1, threads)};
}

bool shares_elements(const ReductionPlan& plan, int threads) {
  return plan.rows() < kMinOutputs * threads && plan.reduced.count() >= kMinOutputs * threads;
}

// Calls visit(position, count) for the runs of the reduced elements in a range. The elements of a
// run are `plan.reduced.inner_stride()` apart.
template <class Visit>
[[gnu::always_inline]] inline void for_each_run(const StridedDims& dims, Range range,
                                                const Visit& visit) {
  const std::int64_t size = dims.inner_size();
  for (std::int64_t i = range.first; i < range.last;) {
    const std::int64_t count = std::min(size - i % size, range.last - i);
    visit(dims.at(i), count);
    i += count;
  }
}

template <ReductionFunction kFunction, Element kType, class T>
[[gnu::always_inline]] inline T load_prepared(const void* source, std::int64_t i) {
  return ReductionPlan::prepare(kFunction, load_as<T>(kType, source, i));
}

// Combines `steps` times `count` elements into `results`. Steps are `stride` elements apart.
template <ReductionFunction kFunction, Element kType, class T>
[[gnu::always_inline]] inline void combine_steps(const void* source, std::int64_t first,
                                                 std::int64_t steps, std::int64_t stride,
                                                 std::int64_t count, T* results) {
  const auto load = [&](std::int64_t i) { return load_prepared<kFunction, kType, T>(source, i); };
  const auto combine = [](T a, T b) { return ReductionPlan::combine(kFunction, a, b); };
  std::int64_t step = 0;
  // Several elements for each load and store of a result.
  for (; step + 4 <= steps; step += 4, first += 4 * stride) {
    for (std::int64_t c = 0; c < count; ++c) {
      const T a = combine(load(first + c), load(first + stride + c));
      const T b = combine(load(first + 2 * stride + c), load(first + 3 * stride + c));
      results[c] = combine(results[c], combine(a, b));
    }
  }
  for (; step < steps; ++step, first += stride) {
    for (std::int64_t c = 0; c < count; ++c) results[c] = combine(results[c], load(first + c));
  }
}

// Computes neighbouring outputs whose elements are neighbours. `first`: the position of the first
// output's first element.
template <ReductionFunction kFunction, Element kType, class T>
[[gnu::always_inline]] inline void reduce_columns(const ReductionPlan& plan, const void* source,
                                                  std::int64_t first, std::int64_t columns,
                                                  Range elements, T* results) {
  std::fill_n(results, columns, ReductionPlan::start<T>(kFunction));
  for_each_run(plan.reduced, elements, [&](std::int64_t position, std::int64_t count) {
    combine_steps<kFunction, kType>(source, first + position, count, plan.reduced.inner_stride(),
                                    columns, results);
  });
}

// Computes one output.
template <ReductionFunction kFunction, Element kType, class T>
[[gnu::always_inline]] inline T reduce_row(const ReductionPlan& plan, const void* source,
                                           std::int64_t first, Range elements) {
  const auto combine = [](T a, T b) { return ReductionPlan::combine(kFunction, a, b); };
  // Compilers vectorise a maximum only in this form, and a sum better than in the plain one.
  constexpr std::int64_t kLanes = 64;
  alignas(kCacheLine) std::array<T, kLanes> lanes;
  lanes.fill(ReductionPlan::start<T>(kFunction));
  T result = lanes[0];
  bool has_lanes = false;
  const std::int64_t stride = plan.reduced.inner_stride();
  for_each_run(plan.reduced, elements, [&](std::int64_t position, std::int64_t count) {
    std::int64_t at = first + position, i = 0;
    if (stride == 1 && count >= kLanes) {
      has_lanes = true;
      const std::int64_t steps = count / kLanes;
      combine_steps<kFunction, kType>(source, at, steps, kLanes, kLanes, lanes.data());
      i = steps * kLanes;
    }
    for (; i < count; ++i) {
      result = combine(result, load_prepared<kFunction, kType, T>(source, at + i * stride));
    }
  });
  if (!has_lanes) return result;
  for (std::size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
  }
  return combine(result, lanes[0]);
}

// Calls store(output, value) for the outputs in a range, with the elements in a range.
template <ReductionFunction kFunction, Element kType, class T, class Store>
[[gnu::always_inline]] inline void reduce_range(const ReductionPlan& plan, const void* source,
                                                Range outputs, Range elements, const Store& store) {
  const bool has_columns = plan.kept.inner_stride() == 1;
  const std::int64_t width = has_columns ? std::min(plan.kept.inner_size(), kColumns) : 1;
  std::array<T, kColumns> results;
  for (std::int64_t output = outputs.first; output < outputs.last;) {
    if (width == 1) {
      store(output, reduce_row<kFunction, kType, T>(plan, source, plan.kept.at(output), elements));
      ++output;
      continue;
    }
    const std::int64_t inner = plan.kept.inner_size();
    const std::int64_t columns = std::min({width, inner - output % inner, outputs.last - output});
    reduce_columns<kFunction, kType>(plan, source, plan.kept.at(output), columns, elements,
                                     results.data());
    for (std::int64_t c = 0; c < columns; ++c)
      store(output + c, results[static_cast<std::size_t>(c)]);
    output += columns;
  }
}

template <ReductionFunction kFunction, Element kType>
[[gnu::always_inline]] inline void reduce_part(const ReductionPlan& plan, const Addresses& tensors,
                                               int thread, int threads) {
  using T = typename TypedAccess<kType>::Value;
  const std::int64_t size = plan.reduced.count();
  if (shares_elements(plan, threads)) {
    T* results = static_cast<T*>(tensors.at[2]) + thread * plan.rows();
    reduce_range<kFunction, kType, T>(
        plan, tensors.at[0], {0, plan.rows()}, part_of(size, thread, threads),
        [&](std::int64_t output, T value) { results[output] = value; });
    return;
  }
  const TypedAccess<kType> access{tensors};
  reduce_range<kFunction, kType, T>(
      plan, tensors.at[0], part_of(plan.rows(), thread, threads), {0, size},
      [&](std::int64_t output, T value) { access.store(1, output, plan.finish(value)); });
}

// Calls body(function), with a sum for the mean: its quotient belongs to the end.
template <class Body>
[[gnu::always_inline]] inline void call_with_function(ReductionFunction function,
                                                      const Body& body) {
  using enum ReductionFunction;
  switch (function) {
    case mean:
    case sum:
      return body(std::integral_constant<ReductionFunction, sum>());
    case max:
      return body(std::integral_constant<ReductionFunction, max>());
    case min:
      return body(std::integral_constant<ReductionFunction, min>());
    case prod:
      return body(std::integral_constant<ReductionFunction, prod>());
    case l1:
      return body(std::integral_constant<ReductionFunction, l1>());
    case l2:
      return body(std::integral_constant<ReductionFunction, l2>());
  }
}

// The gradient on the CPU: a row of the kernel is a part of a line, the plan's innermost dimension,
// of the gradient of the source. The result's gradient is one value or as many neighbours.
struct GradientLines : StatelessRows {
  static constexpr std::int64_t kPart = 4096;
  const ElementwisePlan& plan;
  double factor = 1;
  Element type = plan.destination.type;
  int last = plan.rank - 1;
  std::int64_t line = plan.dims[last];
  std::int64_t parts = (line + kPart - 1) / kPart;

  std::int64_t rows() const { return plan.elements / line * parts; }
  template <class A>
  void write(const A& access, std::int64_t row, State<typename A::Value>, int, int) const {
    const std::int64_t number = row / parts;
    const std::int64_t begin = row % parts * kPart;
    const std::int64_t end = std::min(begin + kPart, line);
    const std::int64_t from = line_in_result(number), to = number * line;
    const auto scale = static_cast<typename A::Value>(factor);
    if (plan.operands[0].strides[last] == 0) {
      const auto value = scale * access.load(0, from);
      for (std::int64_t i = begin; i < end; ++i) access.store(1, to + i, value);
      return;
    }
    for (std::int64_t i = begin; i < end; ++i) {
      access.store(1, to + i, scale * access.load(0, from + i));
    }
  }

 private:
  // Returns where the values of a line begin in the gradient of the result.
  std::int64_t line_in_result(std::int64_t number) const {
    std::int64_t position = 0;
    for (int d = last; d-- > 0;) {
      position += number % plan.dims[d] * plan.operands[0].strides[d];
      number /= plan.dims[d];
    }
    return position;
  }
};

void run_gradient_part(const ElementwisePlan& plan, const Addresses& tensors, int thread,
                       int threads) {
  const double factor = plan.step_count > 0 ? plan.steps[0].alpha : 1;
  run_part_of_rows(GradientLines{{}, plan, factor}, tensors, thread, threads);
}

void run_reduction_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                        int threads) {
  if (native_plan.kernel() == ElementwisePlan::kKernel) {
    return run_gradient_part(native_plan.as<ElementwisePlan>(), tensors, thread, threads);
  }
  const auto plan = native_plan.as<ReductionPlan>();
  // A function for each type, function and set of vectors: compiled as parts of one large function,
  // they take the compiler minutes.
  call_with_type(plan.type, [&](auto type) {
    call_with_function(plan.function, [&](auto function) {
      call_with_vectors([&](auto) __attribute__((always_inline)) {
        reduce_part<decltype(function)::value, decltype(type)::value>(plan, tensors, thread,
                                                                      threads);
      });
    });
  });
}

// Combines what the threads left in the shared memory.
void finish_reduction(const NativePlan& native_plan, const Addresses& tensors, int thread,
                      int threads) {
  if (native_plan.kernel() != ReductionPlan::kKernel) return;
  const auto plan = native_plan.as<ReductionPlan>();
  if (thread != 0 || !shares_elements(plan, threads)) return;
  run_by(plan.precision, [&](auto zero) {
    using T = decltype(zero);
    const Access<T> access{tensors, plan.type};
    const T* results = static_cast<const T*>(tensors.at[2]);
    for (std::int64_t output = 0; output < plan.rows(); ++output) {
      T result = results[output];
      for (int other = 1; other < threads; ++other) {
        result =
            ReductionPlan::combine(plan.function, result, results[other * plan.rows() + output]);
      }
      access.store(1, output, plan.finish(result));
    }
  });
}

std::int64_t reduction_memory(const NativePlan& native_plan, int threads) {
  if (native_plan.kernel() != ReductionPlan::kKernel) return 0;
  const auto plan = native_plan.as<ReductionPlan>();
  if (!shares_elements(plan, threads)) return 0;
  return threads * plan.rows() * static_cast<std::int64_t>(sizeof(double));
}

// --- The plan.

// Adds an outer dimension. One that continues the outermost dimension is merged with it.
void add_outer(StridedDims& dims, std::int64_t size, std::int64_t stride) {
  if (dims.rank > 0 && dims.sizes[0] * dims.strides[0] == stride) {
    dims.sizes[0] *= size;
    return;
  }
  std::copy_backward(dims.sizes, dims.sizes + dims.rank, dims.sizes + dims.rank + 1);
  std::copy_backward(dims.strides, dims.strides + dims.rank, dims.strides + dims.rank + 1);
  dims.sizes[0] = size;
  dims.strides[0] = stride;
  ++dims.rank;
}

// Each element of the gradient of the source is one of the result's gradient, for a mean times a
// factor. The planner leaves out dimensions of size 1 and merges the others, so that the innermost
// dimension is as long as it can be.
Result<NativeForm, BackendError> gradient_form(const Problem& problem) {
  ProblemElements elements(problem, MemoryLayout::plain);
  elements.operand(0);
  if (problem.parameters.word("function") == "mean") {
    const auto size = static_cast<double>(quantity(problem, "size"));
    elements.planner().step(function_step(Function::scale, 1 / size, 0));
  }
  return elements.finish("reduction");
}

Result<NativeForm, BackendError> reduction_form(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  if (shape.size() > kMaxDims) {
    return unsupported(
        fmt::format("{} dimensions; the kernel has at most {}", shape.size(), kMaxDims));
  }
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel reduces plain tensors; leave `layout: nhwc` out");
  }
  if (problem.direction != Direction::forward) return gradient_form(problem);
  const Dims& axes = problem.parameters.numbers("axis");
  const auto functions = find_parameter(problem.op->parameters, "function")->words;
  const auto function = std::ranges::find(functions, problem.parameters.word("function"));
  ReductionPlan plan;
  plan.function = static_cast<ReductionFunction>(function - functions.begin());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const bool is_reduced = std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
    add_outer(is_reduced ? plan.reduced : plan.kept, shape[axis], stride);
    stride *= shape[axis];
  }
  return plain_form(problem, "bench:reduction_block", "reduction", plan);
}

}  // namespace

extern const NativeEntry reduction_cuda_native;
const NativeEntry reduction_cuda_native = {
    .op = "reduction",
    .form = reduction_form,
    .host = {ReductionPlan::kKernel, run_rows<ReductionPlan>, run_reduction_part, finish_reduction,
             reduction_memory}};

}  // namespace bench::ops::cuda
