// SPDX-License-Identifier: Apache-2.0
// Reads YAML files and case ids into a Plan, or reports every error in the files.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "ops/operator_registry.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Diagnostic {
  Place place;
  std::string what;             // what was found and what was expected
  std::string next;             // the nearest valid name or value, or the next step; may be empty
  std::string message() const;  // "configs/a.yaml:3:5: unknown key `strid`; did you mean `stride`?"
};

struct LoadRequest {
  // Files or case ids; an argument that names a file is a file.
  std::vector<std::string> arguments;
  // Values of --set key=value, where the value is YAML. Keys are those of `defaults`, with dots for
  // nested ones ("measure.processes"), and `budget`. They apply to files and ids.
  std::vector<std::string> overrides;
  // Values of --filter: GLOB or /REGEX/ for ids. A case stays if any of them matches; empty = all.
  std::vector<std::string> filters;
  // Values of --device: keeps cases of these devices; empty = all
  std::vector<std::string> devices;
  // Searched for NAME.yaml after "<folder of the file>/networks".
  std::vector<std::string> network_folders;
  // Reads a file; the caller limits its size.
  std::function<Result<std::string>(const std::string& path)> read;
  // Lists the names of files in a folder, for spelling hints; may be empty.
  std::function<std::vector<std::string>(const std::string& folder)> list;
  // Values of --plugin: loaded before plugins that files name
  std::vector<std::string> plugins = {};
  // Returns the registry including these plugins. In an error, `where` is the plugin at fault. If
  // the function is empty, the plan only lists the plugins.
  std::function<Result<std::shared_ptr<const ops::OperatorRegistry>>(
      const std::vector<std::string>& plugins)>
      load_plugins = {};
};

// Returns a plan or the diagnostics of all files, in file order. A file with a syntax error has no
// further diagnostics.
Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request);

}  // namespace bench
