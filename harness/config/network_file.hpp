// SPDX-License-Identifier: Apache-2.0
// A network as a YAML file: layers with named inputs (docs/configuration.md, "Networks").
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "harness/config/reader.hpp"
#include "ops/network/network.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// A network definition with the locations of its parts.
struct NetworkFile {
  ops::NetworkDefinition definition;
  int file = -1;  // file number in the Findings with which it was read
  struct LayerPlace {
    yaml::Mark mark;
    std::map<std::string, yaml::Mark, std::less<>> parameters;
  };
  std::map<std::string, LayerPlace, std::less<>> places;  // by layer name

  // Returns the location of "LAYER" or "LAYER.PARAMETER" (`where` of ops::make_network). Returns
  // the start of the file if `where` names no known layer.
  Spot spot_of(std::string_view where) const;
};

// Reads a network and reports unknown keys, operators and inputs with the nearest name, duplicate
// names, cycles, and values of the wrong type. Does not check shapes; ops::make_network() does.
// Returns nullopt if anything was reported.
std::optional<NetworkFile> read_network(
    Findings& findings, const std::string& file, std::string_view text,
    const ops::Catalogue& catalogue = ops::built_in_catalogue());

// The same for callers without a configuration. Diagnostics name `file`.
Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file,
    const ops::Catalogue& catalogue = ops::built_in_catalogue());

// Tables of keys for the manual.
struct NetworkDraft;
std::span<const KeyRow<NetworkDraft>> network_rows();
std::span<const KeyInfo> layer_keys();

}  // namespace bench
