// SPDX-License-Identifier: Apache-2.0
#include "ops/verbose.hpp"

#include "ops/peak/peak.hpp"

namespace bench::ops {
namespace {

// oneDNN has no such primitive.
std::optional<VerboseProblem> parse_request(const VerbosePrimitive& /*none*/) {
  return std::nullopt;
}

}  // namespace

extern const VerboseMapping peak_verbose;
const VerboseMapping peak_verbose = {
    .op = kPeakOperator, .primitives = {}, .request = parse_request};

}  // namespace bench::ops
