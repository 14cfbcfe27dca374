// SPDX-License-Identifier: Apache-2.0
// Maps the role of a tensor to the role of its buffer.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/problem.hpp"

namespace bench::ops {

constexpr BufferRole buffer_role(TensorRole role) {
  switch (role) {
    case TensorRole::input:
      return BufferRole::input;
    case TensorRole::weights:
      return BufferRole::weights;
    case TensorRole::output:
      break;
  }
  return BufferRole::output;
}

}  // namespace bench::ops
