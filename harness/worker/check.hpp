// SPDX-License-Identifier: Apache-2.0
// Checks results. Pure functions over plain outputs (row-major, in the tensor's own data type).
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/workload.hpp"
#include "ops/operator.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Up to this many operations the whole output is compared; the plain reference takes about a second
// for it.
inline constexpr std::int64_t kFullCheckOperations = std::int64_t{1} << 28;
// Elements compared beyond that limit, and by every later process.
inline constexpr std::int64_t kCheckedPositions = 4096;

// Flat positions of one output, ascending and distinct. An output of up to kCheckedPositions
// elements gives all of them. A larger one gives every corner and the whole border of one random
// plane (both ends of every dimension if that is too much). Random positions follow until there are
// at least kCheckedPositions. Depends only on dims and seed.
std::vector<std::int64_t> check_positions(const ops::Dims& dims, std::uint64_t seed);

// One output of a kernel.
struct PlainOutput {
  const ops::Tensor* tensor;
  const std::byte* data;
};

// A successful comparison, for human-readable output: how many elements, and the largest error as a
// fraction of the tolerance.
struct Agreement {
  std::int64_t elements = 0;
  double worst = 0;
};

// Compares the elements at `positions` (all if empty) with `want`. The error states position,
// actual value, expected value and tolerance of the first difference, and the number of
// differences.
Result<Agreement> compare(const PlainOutput& output, std::span<const std::int64_t> positions,
                          std::span<const double> want, const ops::Tolerance& tolerance);

// Returns an error if an element of a floating-point output is NaN: never written, or computed from
// unwritten data.
Status find_unwritten(const PlainOutput& output);

// Freivalds' test of a forward gemm without post-ops: C x = A (B x) (+ bias) for a random x of +-1,
// in O(MN + MK + KN) per batch. Returns nullopt if it does not apply.
std::optional<Status> freivalds(const ops::Problem& problem, ops::ReferenceInputs inputs,
                                const PlainOutput& output, std::uint64_t seed);

// Returns the digest of all outputs and their values at check_positions(dims, seed).
OutputSample sample_outputs(std::span<const PlainOutput> outputs, std::uint64_t seed);

// For example "destination[0,3,1]".
std::string element_name(const ops::Tensor& tensor, std::int64_t position);

// Rule 5 of the architecture for one instance: selects the check for a workload and returns its
// verdict.

struct Verified {
  std::string text;  // "full, 200704 elements, worst 0.12 of tolerance"
  OutputSample output;
};

struct CheckRequest {
  CheckKind kind = CheckKind::reference;
  OutputSample expected;  // with CheckKind::expected
  std::uint64_t seed = 1;
  std::optional<Bytes> available;  // available memory
};

// Checks the outputs that `instance` computed from `values`. Refuses with wrong_result and the
// position, or with failed if the check itself was impossible.
Result<Verified, ErrorReply> verify(ops::Backend& backend, const Workload& workload,
                                    PreparedKernel& instance, const InputValues& values,
                                    const CheckRequest& request, Clock& clock);

}  // namespace bench
