// SPDX-License-Identifier: Apache-2.0
// The two sides of a gate: programs with environments, and the workers that they start.
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
// Makes the side whose program is at `path`: a file, or a folder that contains `bench`, such as
// another checkout. Runs it with --version to find its version. A checkout's launcher first builds
// the program, which may take up to 2 hours, or `budget` if that is shorter. Returns an error if
// the program cannot be run or is not a bench.
Result<GateSide> find_side(const std::string& path,
                           const std::map<std::string, std::string>& environment, Clock& clock,
                           const std::function<bool()>& interrupted,
                           std::optional<Nanoseconds> budget);

// Returns parts that start worker processes of both sides on the same processors. The caller sets
// the other members: `interrupted`, `levels`, `append` and `progress`. `env` must outlive the
// parts.
GateParts real_gate_parts(const GateSide& candidate, const std::optional<GateSide>& base,
                          const Plan& plan, Env& env);

// Starts a worker of a side, returns its handshake reply and ends the worker. Returns an error if
// no worker starts, or if its protocol version differs.
Result<HelloReply> ask_side(const WorkerFactory& start, const HelloRequest& hello,
                            const std::function<bool()>& interrupted);
// The same for any protocol version; the caller checks it with check_protocol(). Returns an error
// if no worker starts or its answer is not a handshake reply.
Result<HelloReply> request_handshake(const WorkerFactory& start, const HelloRequest& hello,
                                     const std::function<bool()>& interrupted);

}  // namespace bench
