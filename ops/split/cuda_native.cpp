// SPDX-License-Identifier: Apache-2.0
// A split is the kernel of concat in the other direction. On the CPU, each thread copies the runs
// of its part of the source.
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/pieces_form.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> split_form(const Problem& problem) {
  return pieces_form(problem, PiecesPlan::Move::split);
}

void run_split_part(const NativePlan& native_plan, const Addresses& tensors, int thread,
                    int threads) {
  const auto plan = native_plan.as<PiecesPlan>();
  const auto* source = static_cast<const char*>(tensors.at[0]);
  const std::int64_t end = part_begin(plan.elements, thread + 1, threads);
  std::int64_t at = part_begin(plan.elements, thread, threads);
  while (at < end) {
    const PiecesPlan::Place place = plan.find(at / plan.line, at % plan.line);
    const std::int64_t count = std::min(place.run_left, end - at);
    std::memcpy(static_cast<char*>(tensors.at[1 + place.piece]) + place.position * plan.bytes,
                source + at * plan.bytes, static_cast<std::size_t>(count * plan.bytes));
    at += count;
  }
}

}  // namespace

extern const NativeEntry split_cuda_native;
const NativeEntry split_cuda_native = {
    .op = "split",
    .form = split_form,
    .host = {PiecesPlan::kKernel, run_rows<PiecesPlan>, run_split_part}};

}  // namespace bench::ops::cuda
