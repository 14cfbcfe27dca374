// SPDX-License-Identifier: Apache-2.0
// What the plan by itself states about a case, as a record without outcome or times.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"

#include <span>

namespace bench {

CaseRecord case_facts(const Case& spec);
const ops::Work& work_of(const Case& spec);
// Tensors of the problem or of the whole network, in the order of the kernel's buffers.
std::span<const ops::Tensor> tensors_of(const Case& spec);

}  // namespace bench
