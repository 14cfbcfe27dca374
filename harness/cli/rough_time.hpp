// SPDX-License-Identifier: Apache-2.0
// Estimated times in messages.
#pragma once

#include "base/units.hpp"

#include <string>

namespace bench {

// Rounds to an estimate's precision: "2.6 s", "115 s", "33 min", "4.5 h", "74 d".
std::string format_rough_time(Nanoseconds time);

}  // namespace bench
