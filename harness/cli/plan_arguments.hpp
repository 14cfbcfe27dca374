// SPDX-License-Identifier: Apache-2.0
// Makes a plan from arguments and prints its diagnostics. Used by all commands that take
// configurations or case ids.
#pragma once

#include "base/env.hpp"
#include "base/json_writer.hpp"
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

// Returns the folders of this program's configurations: those that contain network_folders().
std::vector<std::string> config_folders(const std::string& program_path);

// Returns the path of a configuration. A name such as `quick`, `quick.yaml` or `configs/quick.yaml`
// that is neither a file here nor an operator is searched in the folders. Returns every other
// argument, and a name that is found nowhere, unchanged.
std::string find_config(const std::string& argument, const std::vector<std::string>& folders);

// Read an input: one that an argument names (`-` is standard input), or one that a file names. The
// size is limited.
Result<std::string> read_named_file(const std::string& path);
Result<std::string> read_included_file(const std::string& path);

// Returns a request without `load_plugins`, which the caller sets.
LoadRequest make_load_request(const Arguments& arguments);

// Makes the request accept inputs of other benchmarks as configurations. Adds to `remarks`, which
// must outlive the request, what no case can express.
void accept_imports(LoadRequest& request, std::vector<std::string>& remarks);

// Prints diagnostics to env.err. Below an argument that names neither a file nor a case, prints the
// command line with an example instead of it, and at the end all names that there are.
void print_diagnostics(const std::vector<Diagnostic>& diagnostics, const Arguments& arguments,
                       Env& env);

// Returns the plan of all shards, or nullopt after printing its diagnostics to env.err.
std::optional<Plan> plan_or_diagnose(const Arguments& arguments, Env& env);

// Writes the case record of a result file without `outcome` and `flags`, which only a run decides.
void write_case_facts(JsonWriter& writer, const Case& spec);

// Returns the path of the running program, with which it starts workers; "bench" if it cannot be
// found.
std::string own_path();

}  // namespace bench
