// SPDX-License-Identifier: Apache-2.0
// The work of the canaries: plain loops without a library, compiled with the same options in every
// build (CMakeLists.txt), so that only the machine affects their times.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

// Eight chains of `steps` multiplications and additions each. They fill the pipelines of one core
// and stay in its registers. Returns their sum, which depends on every step.
[[gnu::noinline]] double multiply_add_chains(std::int64_t steps);

// Computes out[i] = left[i] + 3 * right[i]; the arrays do not overlap.
[[gnu::noinline]] void triad(double* out, const double* left, const double* right,
                             std::size_t count);

// Runs loads from the first-level cache, multiplications, additions and integer operations, more of
// each than a core can issue. Any other thread on the same core therefore slows this function down.
// Reads `vectors` vectors of four floats `passes` times; `vectors` is a multiple of 8. Returns a
// value that depends on every step.
[[gnu::noinline, gnu::aligned(64)]] float mixed_operations(const float* from, std::int64_t vectors,
                                                           int passes);

// Runs multiplications that each wait for the previous one. Their time depends only on the clock,
// even if another thread shares the core. Returns a value that depends on every step.
[[gnu::noinline, gnu::aligned(64)]] double dependent_multiplications(std::int64_t steps);

}  // namespace bench
