// SPDX-License-Identifier: Apache-2.0
// One configuration file as read: its own keys, before defaults are applied and cases are expanded.
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

struct ConfigFile {
  int file = -1;       // file number in Findings
  std::string path;    // as the user named it, or relative to the includer
  std::string folder;  // folder of the path; "." if it has none
  yaml::Document document;

  std::optional<std::string> name;
  std::vector<const yaml::Node*> includes;
  struct Plugin {
    std::string path;  // relative to the current folder
    Spot spot;
  };
  std::vector<Plugin> plugins;
  const yaml::Node* defaults = nullptr;
  std::optional<ProfileSwitches> profile;
  std::optional<GateSettings> gate;
  std::optional<Nanoseconds> budget;
  std::vector<const yaml::Node*> cases;
  bool has_cases = false;
};

// Parses a file and reports everything wrong with its own keys. Nodes stay valid as long as the
// result. A file that is not a mapping gives a result without content.
ConfigFile read_config(Findings& findings, const std::string& path, std::string_view text);

// Applies the file's `defaults` on top of `settings`.
void apply_defaults(const ConfigFile& config, const ops::OperatorRegistry& registry,
                    Findings& findings, Settings& settings);

// Returns a path named in a file, relative to the current folder.
std::string relative_to(const std::string& folder, const std::string& path);

// Tables of keys for the manual.
std::span<const KeyRow<ConfigFile>> file_rows();
std::span<const KeyRow<ProfileSwitches>> profile_rows();
std::span<const KeyRow<GateSettings>> gate_rows();

}  // namespace bench
