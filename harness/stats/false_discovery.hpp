// SPDX-License-Identifier: Apache-2.0
// Benjamini and Hochberg's control of the false discovery rate (J. R. Statist. Soc. B 57, 1995).
#pragma once

#include <span>
#include <vector>

namespace bench {

// Returns adjusted p-values in the order of `p_values`, which must lie within 0..1. Each one is the
// lowest rate q at which its hypothesis is rejected. At rate q, all hypotheses with adjusted p <= q
// are rejected.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

}  // namespace bench
