// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer/cuda_native.hpp"

#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"
#include "ops/optimizer/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bench::ops::cuda {
namespace {

// Tensors of more bytes than caches have are written past them. An update in place writes lines
// that it has read anyway; here the lines of the separate results would have to be read first.
constexpr std::int64_t kStreamedBytes = std::int64_t{64} << 20;

// Copies whole lines past the caches, if the processor can.
void stream(char* to, const char* from, std::int64_t bytes) {
  std::int64_t done = 0;
#if defined(__SSE2__)
  for (; done + 16 <= bytes; done += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + done)));
  }
#endif
  std::memcpy(to + done, from + done, static_cast<std::size_t>(bytes - done));
}

// The results of a block. The compiler sees that they overlap no tensor, and vectorises the loop.
template <Element kType>
struct OptimizerResults {
  static constexpr std::int64_t kBlock = 512;
  using Value = typename TypedAccess<kType>::Value;
  using Stored =
      std::conditional_t<kType == Element::f64, double,
                         std::conditional_t<kType == Element::f32, float, std::uint16_t>>;
  int first_tensor;
  alignas(64) Stored at[3][kBlock];

  void store(int tensor, std::int64_t i, Value value) {
    store_as<Value>(kType, at[tensor - first_tensor], i, value);
  }
};

// The update on the CPU: some elements are one row of the kernel. Their results are computed in the
// first-level cache and then copied.
struct OptimizerBlocks : StatelessRows {
  static constexpr std::int64_t kBlock = OptimizerResults<Element::f32>::kBlock;
  const OptimizerPlan& plan;
  Element type = plan.type;

  std::int64_t rows() const { return (plan.elements + kBlock - 1) / kBlock; }
  template <class A>
  void write(const A& access, std::int64_t row, State<typename A::Value>, int, int) const {
    if (plan.function == OptimizerFunction::sgd) {
      update<OptimizerFunction::sgd>(access, row * kBlock);
    } else if (plan.function == OptimizerFunction::momentum) {
      update<OptimizerFunction::momentum>(access, row * kBlock);
    } else {
      update<OptimizerFunction::adam>(access, row * kBlock);
    }
  }

 private:
  template <OptimizerFunction kFunction, class A>
  void update(const A& access, std::int64_t first) const {
    OptimizerResults<A::kElement> results;
    results.first_tensor = 2 + states_of(kFunction);
    const OptimizerPlan numbers = plan;
    const std::int64_t count = std::min(kBlock, plan.elements - first);
    for (std::int64_t i = 0; i < count; ++i) {
      update_element<kFunction>(numbers, access, first + i, results, i);
    }
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(results.at[0][0]));
    for (int k = 0; k <= states_of(kFunction); ++k) {
      void* const tensor = access.tensors.at[results.first_tensor + k];
      copy_out(static_cast<char*>(tensor) + first * kSize, results.at[k], count * kSize);
    }
  }
  void copy_out(char* to, const void* from, std::int64_t bytes) const {
    if (plan.streams) return stream(to, static_cast<const char*>(from), bytes);
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
};

void run_optimizer(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<OptimizerPlan>();
  run_by(plan.precision, [&](auto zero) {
    const Access<decltype(zero)> access{tensors, plan.type};
    run_by_function(plan.function, [&](auto function) {
      for (std::int64_t i = 0; i < plan.elements; ++i) {
        update_element<decltype(function)::kValue>(plan, access, i, access, i);
      }
    });
  });
}

void run_optimizer_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                        int threads) {
  const auto plan = native_plan.as<OptimizerPlan>();
  run_part_of_rows(OptimizerBlocks{{}, plan}, tensors, thread, threads);
#if defined(__SSE2__)
  if (plan.streams) _mm_sfence();
#endif
}

Result<NativeForm, BackendError> optimizer_form(const Problem& problem) {
  const ParameterSet& parameters = problem.parameters;
  const std::string& function = parameters.word("function");
  OptimizerPlan plan;
  plan.elements = parameters.count("elements");
  plan.rate = kLearningRate;
  if (parameters.flag("weight_decay")) plan.decay = kWeightDecay;
  if (function == "sgd") {
    plan.momentum = parameters.real("momentum");
    if (plan.momentum != 0) plan.function = OptimizerFunction::momentum;
  } else {
    plan.function = OptimizerFunction::adam;
    plan.rate /= kBiasCorrection1;
    plan.beta1 = kBeta1;
    plan.beta2 = kBeta2;
    plan.epsilon = kOptimizerEpsilon;
    plan.root = 1 / std::sqrt(kBiasCorrection2);
    if (function == "adamw") plan.shrink = 1 - kLearningRate * kWeightDecay;
  }
  plan.streams = problem.work.bytes_read + problem.work.bytes_written > kStreamedBytes;
  return plain_form(problem, "bench:optimizer", "optimizer", plan);
}

}  // namespace

extern const NativeEntry optimizer_cuda_native;
const NativeEntry optimizer_cuda_native = {
    .op = "optimizer",
    .form = optimizer_form,
    .host = {OptimizerPlan::kKernel, run_optimizer, run_optimizer_part}};

}  // namespace bench::ops::cuda
