// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/cuda_native.hpp"

#include "ops/attention/cuda_native_cpu.hpp"
#include "ops/attention/cuda_native_cpu_gradient.hpp"
#include "ops/attention/cuda_native_gradient.hpp"
#include "ops/cuda/kernels/cpu_rows.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> attention_form(const Problem& problem) {
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel reads plain tensors; leave `layout: nhwc` out");
  }
  const ParameterSet& set = problem.parameters;
  AttentionPlan plan;
  plan.batch = set.count("batch");
  plan.heads = set.count("heads");
  plan.kv_heads = set.count("kv_heads");
  plan.q_len = set.count("q_len");
  plan.kv_len = set.count("kv_len");
  plan.head_dim = set.count("head_dim");
  plan.window = set.count("window");
  plan.is_causal = set.flag("causal");
  plan.has_lengths = set.has("lengths");
  plan.is_gradient = problem.direction == Direction::backward_data;
  plan.writes_log_sum = !plan.is_gradient && set.word("mode") == "training";
  if (plan.has_lengths) {
    const std::vector<std::int64_t>& lengths = set.numbers("lengths");
    if (lengths.size() > static_cast<std::size_t>(AttentionPlan::kMaxLengths)) {
      return unsupported(fmt::format("the kernel takes the `lengths` of up to {} sequences",
                                     AttentionPlan::kMaxLengths));
    }
    std::ranges::copy(lengths, plan.lengths);
  }
  return plain_form(problem, "bench:attention_block", "attention", plan);
}

// The CPU versions of the kernels for the device.
template <class T>
void run_forward(const AttentionPlan& plan, const Access<T>& access) {
  using Block = AttentionBlock<T, kHostLanes>;
  for (std::int64_t i = 0; i < Block::blocks(plan); ++i) {
    const Block block = Block::at(plan, access, i);
    typename Block::Shared shared;
    typename Block::Lane lanes[kHostLanes];
    for (auto& lane : lanes) block.begin(lane);
    const KeyRange keys = block.keys();
    for (std::int64_t tile = keys.begin; tile < keys.end; tile += kHostLanes) {
      for (int lane = 0; lane < kHostLanes; ++lane) block.score(shared, tile, lane);
      for (int lane = 0; lane < kHostLanes; ++lane) block.weigh(shared, lanes[lane], lane);
      for (int lane = 0; lane < kHostLanes; ++lane) {
        block.accumulate(shared, lanes[lane], tile, keys.end, lane);
      }
    }
    for (int lane = 0; lane < kHostLanes; ++lane) block.write(lanes[lane], lane);
  }
}

template <class T>
void run_gradient(const AttentionPlan& plan, const Access<T>& access) {
  using Block = AttentionGradientBlock<T, kHostLanes>;
  for (std::int64_t i = 0; i < Block::blocks(plan); ++i) {
    const Block block = Block::at(plan, access, i);
    typename Block::Shared shared;
    typename Block::Lane lanes[kHostLanes];
    const KeyRange partners = block.partners();
    for (std::int64_t tile = partners.begin; tile < partners.end; tile += kHostLanes) {
      for (int lane = 0; lane < kHostLanes; ++lane) block.weigh(shared, tile, partners.end, lane);
      for (int lane = 0; lane < kHostLanes; ++lane) {
        block.accumulate(shared, lanes[lane], tile, partners.end, lane);
      }
    }
    for (int lane = 0; lane < kHostLanes; ++lane) block.write(lanes[lane], lane);
  }
}

void run_attention(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<AttentionPlan>();
  run_by(plan.precision, [&](auto zero) {
    const Access<decltype(zero)> access{tensors, plan.type};
    return plan.is_gradient ? run_gradient(plan, access) : run_forward(plan, access);
  });
}

template <Element kType, class Registers>
[[gnu::always_inline]] inline void compute_one_type(const AttentionPlan& plan,
                                                    const Addresses& tensors, int thread,
                                                    int threads, AttentionStep step) {
  if (!plan.is_gradient) {
    return compute_attention<kType, Registers>(plan, tensors, thread, threads, step);
  }
  if (step == AttentionStep::finish) return;
  CpuAttentionGradient<kType, Registers> gradient(plan, tensors, thread);
  run_tasks(gradient, AttentionGradientWork::of(plan).tasks(plan), thread, threads);
}

template <VectorSet kSet>
using RegistersOf = std::conditional_t<
    kSet == VectorSet::avx512, Avx512Registers,
    std::conditional_t<kSet == VectorSet::avx2, Avx2Registers, PortableRegisters>>;

void step_attention(const NativePlan& native_plan, const Addresses& tensors, int thread,
                    int threads, AttentionStep step) {
  const auto plan = native_plan.as<AttentionPlan>();
  // A function for each type and set of vectors: compiled as parts of one large function, they take
  // the compiler minutes.
  call_with_type(plan.type, [&](auto type) {
    call_with_vectors([&](auto vectors) __attribute__((always_inline)) {
      compute_one_type<decltype(type)::value, RegistersOf<decltype(vectors)::value>>(
          plan, tensors, thread, threads, step);
    });
  });
}

void run_attention_part(const NativePlan& plan, const Addresses& tensors, int thread, int threads) {
  step_attention(plan, tensors, thread, threads, AttentionStep::run);
}
void finish_attention_part(const NativePlan& plan, const Addresses& tensors, int thread,
                           int threads) {
  step_attention(plan, tensors, thread, threads, AttentionStep::finish);
}
std::int64_t attention_memory(const NativePlan& native_plan, int threads) {
  const auto plan = native_plan.as<AttentionPlan>();
  return plan.is_gradient ? AttentionGradientWork::of(plan).bytes(threads)
                          : AttentionWork::of(plan, threads).bytes(plan, threads);
}

}  // namespace

extern const NativeEntry attention_cuda_native;
const NativeEntry attention_cuda_native = {.op = "attention",
                                           .form = attention_form,
                                           .host = {.kernel = AttentionPlan::kKernel,
                                                    .run = run_attention,
                                                    .run_part = run_attention_part,
                                                    .finish_part = finish_attention_part,
                                                    .memory_bytes = attention_memory}};

}  // namespace bench::ops::cuda
