// SPDX-License-Identifier: Apache-2.0
// What run, list, validate and explain share: from arguments to a plan, with diagnostics printed.
#pragma once

#include "base/env.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/config/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// --quick as overrides of the configuration's defaults: a first look, not a result to keep.
std::vector<std::string> quick_overrides();

// Where NAME.yaml of a network is searched after the configuration's own folder:
// ./configs/networks, then beside the program (installed and built trees).
std::vector<std::string> network_folders(const std::string& program_path);

// Without what loads plugins.
LoadRequest load_request(const Arguments& arguments);

// The plan of the arguments' shard, or nothing after its diagnostics went to env.err.
std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env);

// The running program's own file, for workers.
std::string own_path();

}  // namespace bench
