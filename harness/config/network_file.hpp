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

// A definition with the places of what it is made of.
struct NetworkFile {
  ops::NetworkDefinition definition;
  int file = -1;  // in the Findings that it was read with
  struct LayerPlace {
    yaml::Mark mark;
    std::map<std::string, yaml::Mark, std::less<>> parameters;
  };
  std::map<std::string, LayerPlace, std::less<>> places;  // by layer name

  // Where "LAYER" or "LAYER.PARAMETER" (ops::make_network's `where`) stands; the file's start when
  // it names no layer.
  Spot spot_of(std::string_view where) const;
};

// Findings: unknown keys, operators and inputs with the nearest name, duplicate names, cycles, and
// what the parameters' types say. Shapes are make_network's business. Absent after any finding.
std::optional<NetworkFile> read_network(
    Findings& findings, const std::string& file, std::string_view text,
    const ops::Catalogue& catalogue = ops::built_in_catalogue());

// The same for callers without a configuration. `file` stands in the diagnostics.
Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file,
    const ops::Catalogue& catalogue = ops::built_in_catalogue());

// For the manual.
struct NetworkDraft;
std::span<const KeyRow<NetworkDraft>> network_rows();
std::span<const KeyInfo> layer_keys();

}  // namespace bench
