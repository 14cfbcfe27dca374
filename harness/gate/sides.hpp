// SPDX-License-Identifier: Apache-2.0
// The two sides of a real gate: programs with environments.
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
  // nullopt: the candidate is compared only with stored runs.
  std::optional<GateSide> base;
};
// Finds a side by its program: a file, or a folder that contains `bench` (another checkout). A
// checkout's launcher builds the program first, which may take any time within `budget`. Queries
// the version. Returns an error if the program cannot be run or is not a bench.
Result<GateSide> find_side(const std::string& path,
                           const std::map<std::string, std::string>& environment, Clock& clock,
                           const std::function<bool()>& interrupted,
                           std::optional<Nanoseconds> budget);

// Returns parts that start workers of both sides on the same processors. The caller sets `append`
// and `progress`.
GateParts real_gate_parts(const GateSide& candidate, const std::optional<GateSide>& base,
                          const Plan& plan, Env& env);

// Starts a worker of a side, returns its handshake reply and ends it. Returns an error if the
// worker is not usable.
Result<HelloReply> ask_side(const WorkerFactory& start, const HelloRequest& hello,
                            const std::function<bool()>& interrupted);
// The same for any protocol version; check_protocol() then decides whether it is usable. Returns an
// error if no worker starts or its answer is not a handshake reply.
Result<HelloReply> exchange_greeting(const WorkerFactory& start, const HelloRequest& hello,
                                     const std::function<bool()>& interrupted);

}  // namespace bench
