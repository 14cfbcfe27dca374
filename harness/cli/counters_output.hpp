// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result/record.hpp"

#include <string>

namespace bench {

// What the counters pass says of a case (harness/worker/counters_pass.hpp), and what the names of
// its kernels say of tensor cores, below the pass's line. Empty where there was neither.
std::string counters_text(const ProfilePassRecord& pass);

}  // namespace bench
