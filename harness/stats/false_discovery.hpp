// SPDX-License-Identifier: Apache-2.0
// Benjamini and Hochberg's control of the false discovery rate (J. R. Statist. Soc. B 57, 1995).
#pragma once

#include <span>
#include <vector>

namespace bench {

// Adjusted p-values in the order of `p_values`, which lie within 0..1: the least rate q at which
// each would be rejected. At rate q all with adjusted p <= q are.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

}  // namespace bench
