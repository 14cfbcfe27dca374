// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/cuda/kernels/pieces_form.hpp"

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> concat_form(const Problem& problem) {
  return pieces_form(problem, PiecesPlan::Move::join);
}

}  // namespace

extern const NativeEntry concat_cuda_native;
const NativeEntry concat_cuda_native = {.op = "concat", .form = concat_form};

}  // namespace bench::ops::cuda
