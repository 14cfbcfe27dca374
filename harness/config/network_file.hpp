// SPDX-License-Identifier: Apache-2.0
// A network as a YAML file: layers with named inputs (docs/configuration.md, "Networks").
#pragma once

#include "base/result.hpp"
#include "harness/config/load.hpp"
#include "harness/config/network_segment.hpp"
#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"
#include "ops/network/network.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bench {

// A network definition with the locations of its parts.
struct NetworkFile {
  ops::NetworkDefinition definition;
  int file = -1;  // number of this file in the Findings given to read_network()
  struct LayerPlace {
    yaml::SourceLocation location;
    std::map<std::string, yaml::SourceLocation, std::less<>> parameters;
  };
  std::map<std::string, LayerPlace, std::less<>> places;  // by layer name

  // Returns the location of "LAYER" or "LAYER.PARAMETER" (`where` of ops::make_network). Returns
  // the start of the file if `where` names no known layer.
  Spot find_spot(std::string_view where) const;
};

// Reads a network and reports unknown keys, operators and inputs with the nearest name, duplicate
// names, cycles, and values of the wrong type. Does not check shapes; ops::make_network() does.
// Returns nullopt if anything was reported.
std::optional<NetworkFile> read_network(
    Findings& findings, const std::string& file, std::string_view text,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

// The same for callers without a configuration. Diagnostics name `file`.
Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

// NetworkStore (below) finds network files and binds each to batch, data type, mode and fusion,
// once per combination.

// A network with everything that its cases need; immutable and shared by them.
struct BoundNetwork {
  std::shared_ptr<const PlannedNetwork> planned;
  std::shared_ptr<const ops::Network> network;
  std::vector<ops::DistinctLayer> layers;
  std::string segment;  // parameter segment of the case id
  std::string content;  // text that identifies the complete computation
};

class NetworkStore {
 public:
  NetworkStore(const LoadRequest& request, const ops::OperatorRegistry& registry,
               Findings& findings)
      : request_(request), registry_(registry), findings_(findings) {}

  // Finds NAME.yaml in the first of these folders that has it, then in request.network_folders.
  // Returns nullptr after reporting an error at `spot` or in the file.
  const NetworkFile* find(const std::string& name, const std::vector<std::string>& folders,
                          Spot spot);
  // Returns nullptr after reporting an error.
  const BoundNetwork* bind(const NetworkFile& file, const NetworkSegment& segment, DataType dtype,
                           Spot spot);

 private:
  std::unique_ptr<BoundNetwork> make(const NetworkFile& file, const NetworkSegment& segment,
                                     DataType dtype, Spot spot);
  bool lists(const std::string& folder, const std::string& name) const;
  std::string missing_hint(const std::string& name, const std::vector<std::string>& folders) const;

  const LoadRequest& request_;
  const ops::OperatorRegistry& registry_;
  Findings& findings_;
  std::map<std::string, std::optional<NetworkFile>> files_;  // by path; nullopt = file with errors
  std::map<std::tuple<const NetworkFile*, std::int64_t, ops::Fusion, ops::Mode, DataType>,
           std::unique_ptr<BoundNetwork>>
      bound_;
};

// The keys of a network file and of a layer, from which the manual's tables are generated.
struct NetworkDraft;
std::span<const KeyRow<NetworkDraft>> network_rows();
std::span<const KeyInfo> layer_keys();

}  // namespace bench
