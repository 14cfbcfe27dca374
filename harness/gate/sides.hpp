// SPDX-License-Identifier: Apache-2.0
// The real machine below a gate: its two sides as programs with environments.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/gate/measurer.hpp"
#include "harness/judge/evidence_file.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench {

struct GateSides {
  GateSide candidate;
  // Absent: the candidate is judged against stored runs alone.
  std::optional<GateSide> base;
};
// A side by its program: a file, or a folder that holds `bench` (another checkout, whose launcher
// builds it first, however long that takes within `budget`). Asks it for its version. Error: it
// cannot be run, or is no bench.
Result<GateSide> find_side(const std::string& path,
                           const std::map<std::string, std::string>& environment, Clock& clock,
                           const std::function<bool()>& interrupted,
                           std::optional<Nanoseconds> budget);

// Workers of both sides on the same processors. `append` and `progress` are left to the caller.
GateParts real_gate_parts(const GateSide& candidate, const std::optional<GateSide>& base,
                          const Plan& plan, Env& env);

// Starts a worker of a side and lets it go: what it says of itself. Error: it is of no use.
Result<HelloReply> ask_side(const WorkerFactory& start, const HelloRequest& hello,
                            const std::function<bool()>& interrupted);
// The same of whatever protocol; check_protocol() says whether it can be used. Error: no worker
// comes up, or it answers something else.
Result<HelloReply> exchange_greeting(const WorkerFactory& start, const HelloRequest& hello,
                                     const std::function<bool()>& interrupted);

}  // namespace bench
