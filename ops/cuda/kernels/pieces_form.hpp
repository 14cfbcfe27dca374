// SPDX-License-Identifier: Apache-2.0
// Plans concat and split for the native kernel.
#pragma once

#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/kernels/pieces.hpp"

namespace bench::ops::cuda {

Result<NativeForm, BackendError> pieces_form(const Problem& problem, PiecesPlan::Move move);

}  // namespace bench::ops::cuda
