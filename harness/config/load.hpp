// SPDX-License-Identifier: Apache-2.0
// Creates a Plan from YAML files and case ids, or reports all errors in them.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "ops/operator_registry.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// An error of a configuration.
struct Diagnostic {
  Place place;
  std::string what;  // what was found and what was expected
  std::string next;  // the nearest valid name or value, or what to do; may be empty
  // A valid argument in place of one that names neither a file nor a case; empty otherwise.
  std::string example = {};
  // For such an argument: "operators: conv gemm ...", "networks: ...", ...
  std::vector<std::string> known = {};
  // Returns "configs/a.yaml:3:5: unknown key `strid`; did you mean `stride`?", with the example.
  std::string message() const;
  // Returns `next` with the example.
  std::string next_with_example() const;
};

// Returns the sentence of Diagnostic::next, up to the example that follows it.
std::string introduce_example(std::string_view next);

// A file of another format as a configuration.
struct ConvertedConfig {
  std::string text;  // YAML
  // Where each line of the text comes from; element i belongs to line i + 1. A place without a line
  // stands for a line of the configuration itself.
  std::vector<Place> origins;
};

struct LoadRequest {
  // Paths of files and case ids. An argument is a case id only if it cannot be read as a file.
  std::vector<std::string> arguments;
  // Values of --set, "key=value" with a YAML value, for files and ids. The keys are `budget` and
  // those of `defaults`, with a dot for nested keys ("measure.processes").
  std::vector<std::string> overrides;
  // Values of --filter: GLOB or /REGEX/ for ids. The plan keeps cases that match any of them.
  // Empty: all cases.
  std::vector<std::string> filters;
  // Values of --device: the plan keeps cases of these devices. Empty: all cases.
  std::vector<std::string> devices;
  // Folders of network files NAME.yaml, searched after "<folder of the file>/networks".
  std::vector<std::string> network_folders;
  // Folders with configurations of this program, whose names an error message shows.
  std::vector<std::string> config_folders = {};
  // Reads a file. This function must limit the size of what it returns.
  std::function<Result<std::string>(const std::string& path)> read;
  // Lists the names of files in a folder, for spelling hints. May be empty.
  std::function<std::vector<std::string>(const std::string& folder)> list;
  // Values of --plugin. These plugins are loaded before those that files name.
  std::vector<std::string> plugins = {};
  // Loads plugins and returns the registry including their operators. In an error, `where` is the
  // path of the faulty plugin. If the function is empty, the plan only lists the plugins.
  std::function<Result<std::shared_ptr<const ops::OperatorRegistry>>(
      const std::vector<std::string>& plugins)>
      load_plugins = {};
  // Converts a file of another format. Returns nullopt for a configuration. In an error, `where`
  // may be empty. If the function is empty, all files are configurations.
  std::function<std::optional<Result<ConvertedConfig>>(const std::string& path,
                                                       std::string_view text)>
      convert = {};
};

// Returns a plan, or the diagnostics of all files in the order in which they were read. After a
// syntax error, a file has no further diagnostics.
Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request);

}  // namespace bench
