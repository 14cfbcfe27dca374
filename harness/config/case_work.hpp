// SPDX-License-Identifier: Apache-2.0
// What a case computes, for operators and networks.
#pragma once

#include "harness/config/plan.hpp"

#include <span>

namespace bench {

// Returns the work of the problem or of the whole network.
const ops::Work& case_work(const Case& spec);
// Returns the tensors of the problem or of the whole network, in the order of the kernel's buffers.
std::span<const ops::Tensor> case_tensors(const Case& spec);

}  // namespace bench
