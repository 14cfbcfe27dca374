// SPDX-License-Identifier: Apache-2.0
// Checks the outputs of a network against those of its twin (workload.hpp).
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/wire/messages.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/workload.hpp"
#include "ops/tolerance.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Returns the tolerance of a network in inference for an output with these values. It is absolute
// and based on the largest value, because a network and its twin round in different places.
ops::Tolerance network_tolerance(const ops::Network& network, std::span<const double> want);

// Returns how many of `count` elements of an output may be beyond the tolerance: some in a step of
// training, else none.
std::int64_t permitted_beyond(const ops::Network& network, std::size_t count);

struct NetworkCheck {
  std::string text;                // what was compared with what, and the worst element
  std::vector<double> tolerances;  // OutputSample::tolerances
};

// Runs the twin on the same data and compares all elements of all outputs. The gradients of a deep
// network change by per cents if its inputs change by one rounding. So the twin of a step of
// training runs again, with all inputs changed by one rounding, and an output may differ by a
// multiple of what this moves it. The error is wrong_result, or failed if the twin does not run.
Result<NetworkCheck, ErrorReply> check_against_twin(ops::Backend& backend, const Workload& workload,
                                                    std::span<const PlainOutput> outputs,
                                                    const CheckRequest& request, Clock& clock);

}  // namespace bench
