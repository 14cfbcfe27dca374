// SPDX-License-Identifier: Apache-2.0
// A configuration file as parsed, before defaults are applied and cases are expanded.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"
#include "harness/config/settings.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct ConfigFile : RunSettings {
  int file = -1;  // number of this file in Diagnostics
  // As in the command line. For an included file, joined with the folder of its includer.
  std::string path;
  std::string folder;       // folder of the path; "." if it has none
  yaml::Document document;  // owns the nodes below

  std::optional<std::string> name;
  std::vector<const yaml::Node*> includes;
  struct Plugin {
    std::string path;  // relative to the current folder
    FileLocation location;
  };
  std::vector<Plugin> plugins;
  const yaml::Node* defaults = nullptr;
  std::vector<const yaml::Node*> cases;
  bool has_cases = false;  // whether the file has the key `cases`
  // The folder in which networks are looked for first. nullopt: `networks` beside the file.
  std::optional<std::string> network_folder;
};

// The key that --set shares with a file.
inline constexpr KeyInfo kBudgetKey = {
    "budget", "duration", "", "time of the whole run; what it could not measure is listed", 1};

// Parses a file and reports the errors in its own keys. Does not read the contents of `defaults`
// and `cases`. The result owns its nodes. If the file is not a mapping, the result has no content.
ConfigFile read_config(Diagnostics& diagnostics, const std::string& path, std::string_view text);

// Applies the file's `defaults` on top of `settings`.
void apply_defaults(const ConfigFile& config, const ops::OperatorRegistry& registry,
                    Diagnostics& diagnostics, Settings& settings);

// Joins the folder and a path relative to it, and normalises the result. Returns an absolute `path`
// without the folder.
std::string resolve_path(const std::string& folder, const std::string& path);

// Return the keys of a file, of `profile` and of `gate`, for the manual.
std::span<const KeyRow<ConfigFile>> file_rows();
std::vector<KeyRow<ProfileSwitches>> profile_rows();  // the switches that have a type in YAML
std::span<const KeyRow<GateSettings>> gate_rows();

}  // namespace bench
