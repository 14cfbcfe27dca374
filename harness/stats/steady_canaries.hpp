// SPDX-License-Identifier: Apache-2.0
// The speed of the machine beside each sample of a process, from canaries that are disturbed
// themselves.
#pragma once

#include "base/units.hpp"

#include <span>
#include <vector>

namespace bench {

// Returns for each canary, in the order of measurement, the lower median of the known canaries
// among its neighbours: itself, the 4 known ones before it and the 4 after it, fewer at the ends.
// A disturbance that is shorter than half of these does not show the speed of the sample, and
// a lasting change of speed stays where it was. 0 means unknown and stays 0.
// docs/decisions/0059 has the study.
std::vector<Nanoseconds> steady_canaries(std::span<const Nanoseconds> canaries);

}  // namespace bench
