// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/report/record.hpp"

#include <string>

namespace bench {

// What the counters pass says of a case (harness/run/counters_pass.hpp), below the pass's line.
// Empty where there was none.
std::string counters_text(const ProfilePassRecord& pass);

}  // namespace bench
