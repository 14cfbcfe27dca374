// SPDX-License-Identifier: Apache-2.0
// The two sides of a gate: programs with environments, and the workers that they start.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/gate/measurer.hpp"
#include "harness/gate/side_library.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/run/time_limit.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench {

struct GateSides {
  GateSide candidate;
  // nullopt: the candidate is compared only with stored runs.
  std::optional<GateSide> base;
  // Why the base cannot be measured; set by inspect_sides().
  std::optional<SideFailure> base_failure = std::nullopt;
  // The libraries that the sides must load; inspect_sides() checks that they do.
  std::optional<SideLibrary> base_library = std::nullopt, candidate_library = std::nullopt;
};

// Makes the side whose program is at `path`: a file, or a folder that contains `bench`, such as
// another checkout. Runs it with --version to find its version. A checkout's launcher first builds
// the program, which may take up to 2 hours. The wait ends earlier if `limit` ends it
// (TimeLimit::must_abort()). Returns an error if the program cannot be run or is not a bench.
Result<GateSide> find_side(const std::string& path,
                           const std::map<std::string, std::string>& environment,
                           const TimeLimit& limit, Clock& clock);

// Starts a worker of each side to find out what it loads: the libraries of the side, its `loaded`
// and `other_files`. If the plan has cases on a GPU, a probe of the side adds the plugin and the
// libraries that compute there (on a machine with a GPU); if it has cases on a library of matrix
// products, the worker's description adds that. A base whose worker does not answer is not an
// error: it sets `base_failure`. Nor is such a candidate, whose failure stage 1 reports. Returns an
// error if a side was given a library or a variable that it did not take (check_side_library(),
// check_variables()), or if libraries were given and both sides loaded the same build.
Status inspect_sides(GateSides& sides, const Plan& plan, const std::function<bool()>& must_abort,
                     Env& env);

// Returns an error if the loader did not obey a variable of the side. With LD_LIBRARY_PATH, the
// side must load the library under test from one of its folders, or another library that `other`
// does not load; with LD_PRELOAD and LD_AUDIT each of their libraries; with BENCH_CUDA_LIBS at
// least one library of the GPU from one of its folders, if these libraries are known. The paths of
// BENCH_CUDA_LIBS, BENCH_CUDA_PLUGIN and the variables of ops::blas_libraries() must exist. `other`
// is the other side, nullptr if it is unknown. `side` and `other` must have been inspected.
Status check_variables(const GateSide& side, const GateSide* other);

// Returns parts that start worker processes of both sides on the same processors. The caller sets
// the other members: `interrupted`, `append` and `progress`. `env` must outlive the parts.
GateParts real_gate_parts(const GateSide& candidate, const std::optional<GateSide>& base,
                          const Plan& plan, Env& env);

// Starts a worker of a side, returns its handshake reply and ends the worker. Returns an error if
// no worker starts, or if its protocol version differs.
Result<HelloReply> ask_side(const WorkerFactory& start, const HelloRequest& hello,
                            const std::function<bool()>& must_abort);

}  // namespace bench
