// SPDX-License-Identifier: Apache-2.0
// Fusion as in deployed networks: batch norm is folded into the convolution before it. Activations
// and residual additions become post-ops of the convolution or gemm that produces their input.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"

#include <vector>

namespace bench::ops {

// `nodes` are single layers in execution order; the last one is the output. The result has the same
// form. A layer joins its producer if it is the producer's only reader:
//   batch_norm       joins a conv without post-ops, which gets a bias
//   unary pointwise  joins a conv or gemm
//   add              of two equal shapes: joins the later conv or gemm of its two producers; the
//                    other input becomes the residual
Result<std::vector<Node>> fuse(const std::vector<Node>& nodes);

}  // namespace bench::ops
