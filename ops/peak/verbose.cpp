// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/peak/peak.hpp"

namespace bench::ops {
namespace {

// The library has no such primitive.
std::optional<VerboseProblem> request(const VerbosePrimitive& /*none*/) { return std::nullopt; }

}  // namespace

extern const VerboseMapping peak_verbose;
const VerboseMapping peak_verbose = {.op = kPeakOperator, .primitives = {}, .request = request};

}  // namespace bench::ops
