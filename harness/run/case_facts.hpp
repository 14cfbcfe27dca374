// SPDX-License-Identifier: Apache-2.0
// What the plan alone says about a case, as a record without outcome or times.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"

#include <span>

namespace bench {

CaseRecord case_facts(const Case& spec);
const ops::Work& work_of(const Case& spec);
// Of the problem or the network as one, in the order of the kernel's buffers.
std::span<const ops::Tensor> tensors_of(const Case& spec);

}  // namespace bench
