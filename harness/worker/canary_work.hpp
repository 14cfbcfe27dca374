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

// to[i] = left[i] + 3 * right[i]; the arrays do not overlap.
[[gnu::noinline]] void triad(double* to, const double* left, const double* right,
                             std::size_t count);

// Loads from the first-level cache, multiplications, additions and integer operations, more of each
// than a core can issue. A neighbour on the same core therefore slows this down, whatever it does.
// Reads `vectors` vectors of four floats, a multiple of 8, `passes` times. Returns a value that
// depends on every step.
[[gnu::noinline, gnu::aligned(64)]] float mixed_operations(const float* from, std::int64_t vectors,
                                                           int passes);

// Multiplications that each wait for the previous one. Their time depends only on the clock, even
// if another thread shares the core. Returns a value that depends on every step.
[[gnu::noinline, gnu::aligned(64)]] double dependent_multiplications(std::int64_t steps);

// Reads CLOCK_MONOTONIC `reads` times. Returns a sum over the values.
[[gnu::noinline]] std::int64_t read_clock(std::int64_t reads);

}  // namespace bench
