// SPDX-License-Identifier: Apache-2.0
// Checks the results of a kernel. All functions except verify() are pure functions over plain
// outputs (row-major, in the tensor's own data type).
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
#include <string_view>
#include <vector>

namespace bench {

// Maximum number of operations for which all elements are compared. The plain reference takes about
// a second for them.
inline constexpr std::int64_t kMaxFullCheckOperations = std::int64_t{1} << 28;
// Minimum number of elements compared beyond that limit, and by every later process.
inline constexpr std::int64_t kCheckedPositions = 4096;

// Returns the flat positions to check in one output, ascending and distinct. Selects all elements
// of an output with up to kCheckedPositions elements. From a larger output it selects every corner,
// the whole border of one random plane (unless the border is too large), and random positions on
// the faces. It adds random positions until there are at least kCheckedPositions. Depends only on
// dims and seed.
std::vector<std::int64_t> check_positions(const ops::Dims& dims, std::uint64_t seed);

// One output of a kernel.
struct PlainOutput {
  const ops::Tensor* tensor;
  const std::byte* data;
};

// The result of a successful comparison, for human-readable output.
struct CheckSummary {
  std::int64_t elements = 0;  // number of elements compared
  double worst = 0;           // largest error as a fraction of the tolerance
  std::int64_t beyond = 0;    // number of elements beyond the tolerance, which were permitted
};

void add(CheckSummary& total, const CheckSummary& part);
// Formats "METHOD, 200704 elements, worst 0.12 of tolerance".
std::string format_check_summary(std::string_view method, const CheckSummary& total);

// Compares the elements at `positions` (all if empty) with the expected values `want`. At most
// `permitted` of them may be beyond the tolerance. The error states position, actual value,
// expected value and tolerance of the first difference, and the number of differences.
Result<CheckSummary> compare(const PlainOutput& output, std::span<const std::int64_t> positions,
                             std::span<const double> want, const ops::Tolerance& tolerance,
                             std::int64_t permitted = 0);

// Returns an error if an element of a floating-point output is NaN: never written, or computed from
// unwritten data.
Status find_unwritten(const PlainOutput& output);

// Applies Freivalds' test to a forward gemm without post-ops: C x = A (B x) (+ bias) for a random x
// of +-1, in O(MN + MK + KN) per batch. Returns nullopt if the problem is not such a gemm.
std::optional<Status> freivalds(const ops::Problem& problem, ops::ReferenceInputs inputs,
                                const PlainOutput& output, std::uint64_t seed);

// Returns the digest of all outputs and their values at check_positions(dims, seed).
OutputSample sample_outputs(std::span<const PlainOutput> outputs, std::uint64_t seed);

// Formats the element at a flat position, for example "destination[0,3,1]".
std::string format_element(const ops::Tensor& tensor, std::int64_t position);

// The result of a successful verify().
struct Verification {
  std::string text;  // "full, 200704 elements, worst 0.12 of tolerance"
  OutputSample output;
};

struct CheckRequest {
  CheckKind kind = CheckKind::reference;
  OutputSample expected;  // with CheckKind::expected
  std::uint64_t seed = 1;
  std::optional<Bytes> available;                   // available memory
  std::string_view origin = "the first process's";  // what `expected` has, for messages
};

// Selects the check for a workload and checks the outputs that `prepared` computed from `values`.
// The error is wrong_result with the position, or failed if the check itself was impossible.
Result<Verification, ErrorReply> verify(ops::Backend& backend, const Workload& workload,
                                        PreparedKernel& prepared, const InputValues& values,
                                        const CheckRequest& request, Clock& clock);

// Returns whether the backend computes a single problem with another engine from now on, after its
// kernel failed with `error`: a wrong result, or an execution that failed.
bool takes_next_engine(ops::Backend& backend, const Workload& workload, const ErrorReply& error);

// Runs the kernel once more, with the invocation that was sampled (null: that of `prepared`), and
// compares its outputs with `request.expected`, which it computed before. The error is wrong_result
// if they differ: the kernel stopped computing, something else wrote to its workspace, or its
// threads race.
Result<Done, ErrorReply> verify_again(ops::Backend& backend, const Workload& workload,
                                      PreparedKernel& prepared, ops::Invocation* invocation,
                                      const CheckRequest& request, Clock& clock);

}  // namespace bench
