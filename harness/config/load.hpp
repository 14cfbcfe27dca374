// SPDX-License-Identifier: Apache-2.0
// From YAML files and case ids to a Plan, or to every error that the files contain.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "ops/catalogue.hpp"

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
  std::vector<std::string>
      arguments;  // files or case ids ("an argument that names a file is a file")
  std::vector<std::string> overrides;  // --set key=value: value is YAML; keys: those of `defaults`,
                                       // dotted below it ("measure.processes"), `budget`; ids
                                       // take them as files do
  std::vector<std::string>
      filters;  // --filter GLOB or /REGEX/ over ids; a case stays that matches any; empty = all
  std::vector<std::string> devices;  // --device: keeps cases of these devices; empty = all
  std::vector<std::string>
      network_folders;  // searched for NAME.yaml after "<folder of the file>/networks"
  std::function<Result<std::string>(const std::string& path)>
      read;  // file access (limit applied by the caller)
  std::function<std::vector<std::string>(const std::string& folder)>
      list;  // names of the files of a folder, for spelling hints; may be empty
  std::vector<std::string> plugins = {};  // --plugin: before those that files name
  // The catalogue with these plugins. Errors: `where` is the one at fault. Empty: plugins are only
  // listed in the plan.
  std::function<Result<std::shared_ptr<const ops::Catalogue>>(
      const std::vector<std::string>& plugins)>
      load_plugins = {};
};

// All diagnostics of all files, in file order; a syntax error is the only one of its file.
Result<Plan, std::vector<Diagnostic>> load_plan(const LoadRequest& request);

}  // namespace bench
