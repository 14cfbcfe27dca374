// SPDX-License-Identifier: Apache-2.0
#include "ops/peak/cuda_native.hpp"

#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/peak/peak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Kind = PeakPlan::Kind;
using Factors = PeakPlan::Factors;

struct PeakFactors {
  DataType dtype;
  Factors factors;
};
constexpr std::array<PeakFactors, 3> kPeakFactors = {
    {{DataType::f32, Factors::f32}, {DataType::f64, Factors::f64}, {DataType::f16, Factors::f16}}};

constexpr double kProductFactor = 0x1p-6;
static_assert(kProductFactor * kProductFactor == kPeakProduct);

// The loops that a device has, by function. `launches`: how many the kernel's launcher enqueues.
struct PeakKind {
  std::string_view function;
  Kind kind;
  std::string_view implementation;
  std::int64_t launches;
};
constexpr std::array<PeakKind, 5> kPeakKinds = {{
    {kGpuArithmetic, Kind::products, "bench:peak_fma", 3},
    {"read", Kind::read, "bench:peak_read", 2},
    {"write", Kind::write, "bench:peak_write", 1},
    {"copy", Kind::copy, "bench:peak_copy", 1},
    {"triad", Kind::triad, "bench:peak_triad", 1},
}};

Result<NativeForm, BackendError> peak_form(const Problem& problem) {
  const std::string& function = problem.parameters.word("function");
  const auto* row = std::ranges::find(kPeakKinds, function, &PeakKind::function);
  if (row == kPeakKinds.end()) {
    return unsupported(
        fmt::format("`{}` is a loop of CPUs; a GPU has `{}`, `read`, `write`, `copy` and `triad`",
                    function, kGpuArithmetic));
  }
  PeakPlan plan;
  plan.kind = row->kind;
  plan.steps = peak_steps(problem);
  const auto* factors = std::ranges::find(kPeakFactors, problem.dtype, &PeakFactors::dtype);
  plan.factors = factors == kPeakFactors.end() ? Factors::f32 : factors->factors;
  plan.factor = row->kind == Kind::products ? kProductFactor : kTriadFactor;
  if (const MovementLoop* loop = find_movement_loop(function)) {
    plan.quads = problem.parameters.count("bytes") / loop->arrays /
                 static_cast<std::int64_t>(sizeof(PeakQuad));
  }
  return NativeForm{std::string(row->implementation), std::string(kPeakOperator), NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain), row->launches};
}

template <Factors kFactors>
void sum_on_host(const PeakPlan& plan, const Addresses& tensors) {
  using T = typename PeakSums<kFactors>::Type;
  constexpr std::int64_t kElements = kPeakThreads * kPeakAccumulators;
  auto* destination = static_cast<T*>(tensors.at[1]);
  std::fill_n(destination, kElements, T(0));
  for (std::int64_t block = 0; block < kHostLanes; ++block) {
    for (int thread = 0; thread < kPeakThreads; ++thread) {
      T sums[kPeakAccumulators];
      compute_block_sums<kFactors>(plan, tensors.at[0], thread, block, kHostLanes, sums);
      for (int i = 0; i < kPeakAccumulators; ++i) {
        destination[i * kPeakThreads + thread] += sums[i];
      }
    }
  }
  for (std::int64_t i = 0; i < kElements; ++i) destination[i] += read_as<T>(tensors.at[0], i);
}

struct HostMemory {
  static PeakQuad load(const void* array, std::int64_t quad) {
    return read_as<PeakQuad>(array, quad);
  }
  static void store(void* array, std::int64_t quad, const PeakQuad& value) {
    static_cast<PeakQuad*>(array)[quad] = value;
  }
};

template <Kind kKind>
void move_on_host(const PeakPlan& plan, const Addresses& tensors) {
  float largest = read_as<float>(tensors.at[0], 0);
  for (std::int64_t thread = 0; thread < kHostLanes; ++thread) {
    largest = std::max(largest, move_quads<kKind, HostMemory>(plan, tensors, thread, kHostLanes));
  }
  if (kKind == Kind::read) *static_cast<float*>(tensors.at[1]) = largest;
}

void sum_by_type(const PeakPlan& plan, const Addresses& tensors) {
  switch (plan.factors) {
    case Factors::f32:
      return sum_on_host<Factors::f32>(plan, tensors);
    case Factors::f64:
      return sum_on_host<Factors::f64>(plan, tensors);
    case Factors::f16:
      return sum_on_host<Factors::f16>(plan, tensors);
  }
}

void run_peak(const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<PeakPlan>();
  switch (plan.kind) {
    case Kind::products:
      return sum_by_type(plan, tensors);
    case Kind::read:
      return move_on_host<Kind::read>(plan, tensors);
    case Kind::write:
      return move_on_host<Kind::write>(plan, tensors);
    case Kind::copy:
      return move_on_host<Kind::copy>(plan, tensors);
    case Kind::triad:
      return move_on_host<Kind::triad>(plan, tensors);
  }
}

}  // namespace

extern const NativeEntry peak_cuda_native;
const NativeEntry peak_cuda_native = {
    .op = kPeakOperator, .form = peak_form, .host = {PeakPlan::kKernel, run_peak}};

}  // namespace bench::ops::cuda
