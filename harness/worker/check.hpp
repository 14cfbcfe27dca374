// SPDX-License-Identifier: Apache-2.0
// Is a result right? Pure functions over plain outputs (row-major, the tensor's own data type).
#pragma once

#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Up to here the whole output is compared: the plain reference takes about a second for it.
inline constexpr std::int64_t kFullCheckOperations = std::int64_t{1} << 28;
// Elements compared beyond that, and by every later process.
inline constexpr std::int64_t kCheckedPositions = 4096;

// Flat positions of one output, ascending and distinct: all of them up to kCheckedPositions, else
// every corner, the whole border of one random plane (both ends of every dimension where that is
// too much), and random positions until there are at least kCheckedPositions. Depends on dims and
// seed alone.
std::vector<std::int64_t> check_positions(const ops::Dims& dims, std::uint64_t seed);

// One output of a kernel.
struct PlainOutput {
  const ops::Tensor* tensor;
  const std::byte* data;
};

// A comparison that went well, for people: how many elements, and the largest error as a share of
// the tolerance.
struct Agreement {
  std::int64_t elements = 0;
  double worst = 0;
};

// Compares elements `positions` (all when empty) with `want`. Error: position, got, want,
// tolerance of the first that differs, and how many do.
Result<Agreement> compare(const PlainOutput& output, std::span<const std::int64_t> positions,
                          std::span<const double> want, const ops::Tolerance& tolerance);

// Error when an element of a floating-point output is NaN: never written, or computed from nothing.
Status find_unwritten(const PlainOutput& output);

// Freivalds' test of a forward gemm without post-ops: C x = A (B x) (+ bias) for a random x of +-1,
// in O(MN + MK + KN) a batch. Absent where it does not apply.
std::optional<Status> freivalds(const ops::Problem& problem, ops::ReferenceInputs inputs,
                                const PlainOutput& output, std::uint64_t seed);

// Digest of all outputs and their values at check_positions(dims, seed).
OutputSample sample_outputs(std::span<const PlainOutput> outputs, std::uint64_t seed);

// "destination[0,3,1]".
std::string element_name(const ops::Tensor& tensor, std::int64_t position);

}  // namespace bench
