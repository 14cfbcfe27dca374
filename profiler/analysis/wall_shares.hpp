// SPDX-License-Identifier: Apache-2.0
// Divides wall time among rows whose times several threads spent at once.
#pragma once

#include "base/units.hpp"

#include <map>
#include <string>

namespace bench::analysis {

using Durations = std::map<std::string, Nanoseconds>;

Nanoseconds sum_durations(const Durations& durations);

// Divides the wall time `occupied` among rows in proportion to their times, if the sum of these is
// larger because several threads worked at once. The parts then add up to `occupied` exactly.
// Otherwise, returns the times themselves.
Durations divide_wall(const Durations& times, Nanoseconds occupied);

}  // namespace bench::analysis
