// SPDX-License-Identifier: Apache-2.0
// Shared by run, list, validate and explain: makes a plan from arguments and prints diagnostics.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// --quick as overrides of the configuration's defaults: for a first impression, not for a result to
// keep.
std::vector<std::string> quick_overrides();

// The folders that are searched for a network's NAME.yaml after the configuration's own folder:
// ./configs/networks, then those relative to the program (installed and built trees).
std::vector<std::string> network_folders(const std::string& program_path);

// Without the part that loads plugins.
LoadRequest load_request(const Arguments& arguments);

// Returns the plan of the arguments' shard, or nullopt after printing its diagnostics to env.err.
std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env);

// The running program's own file, for starting workers.
std::string own_path();

}  // namespace bench
