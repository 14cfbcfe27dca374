// SPDX-License-Identifier: Apache-2.0
// Maps a tensor to the role of its buffer.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"
#include "ops/tensor.hpp"

namespace bench::ops {

inline BufferRole buffer_role(const Tensor& tensor) {
  switch (tensor.role) {
    case TensorRole::input:
      return holds_indices(tensor) ? BufferRole::index : BufferRole::input;
    case TensorRole::weights:
      return BufferRole::weights;
    case TensorRole::output:
      break;
  }
  return BufferRole::output;
}

}  // namespace bench::ops
