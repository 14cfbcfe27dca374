// SPDX-License-Identifier: Apache-2.0
// Makes a plan from arguments and prints its diagnostics. Used by all commands that take
// configurations or case ids.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// Returns the overrides that --quick adds. They give a first impression, not a result to keep.
std::vector<std::string> quick_overrides();

// Returns the folders that are searched for a network's NAME.yaml after the configuration's own
// folder: ./configs/networks, then those relative to the program (installed and built trees).
std::vector<std::string> network_folders(const std::string& program_path);

// Returns a request without `load_plugins`, which the caller sets.
LoadRequest make_load_request(const Arguments& arguments);

// Returns the plan of the arguments' shard, or nullopt after printing its diagnostics to env.err.
std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env);

// Returns the path of the running program, with which it starts workers; "bench" if it cannot be
// found.
std::string own_path();

}  // namespace bench
