// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result/record.hpp"

#include <string>

namespace bench {

// Formats the results of the counters pass of a case (harness/worker/counters_pass.hpp), and what
// its kernel names show about tensor cores, for printing below the pass's line. Empty if there is
// neither.
std::string counters_text(const ProfilePassRecord& pass);

}  // namespace bench
