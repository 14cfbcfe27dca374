// SPDX-License-Identifier: Apache-2.0
// Fusion as deployed networks have it: batch norm folded into the convolution before it,
// activations and residual additions as post-ops of the convolution or gemm that makes their input.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"

#include <vector>

namespace bench::ops {

// `nodes` are single layers in execution order, the last one the output; so is the result. A layer
// joins its producer when it alone reads it:
//   batch_norm       a conv without post-ops, which gets a bias
//   unary pointwise  a conv or gemm
//   add              of two equal shapes: of its two producers the conv or gemm that runs later;
//   the
//                    other input becomes the residual
Result<std::vector<Node>> fuse(const std::vector<Node>& nodes);

}  // namespace bench::ops
