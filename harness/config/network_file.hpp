// SPDX-License-Identifier: Apache-2.0
// Reads networks from YAML files: layers with named inputs (docs/configuration.md, "Networks").
#pragma once

#include "base/result.hpp"
#include "harness/config/case_id.hpp"
#include "harness/config/load.hpp"
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

// A network definition with the positions of its layers and parameters in the file.
struct NetworkFile {
  ops::NetworkDefinition definition;
  int file = -1;  // number of this file in the Diagnostics given to read_network()
  struct LayerLocation {
    yaml::SourceLocation position;
    std::map<std::string, yaml::SourceLocation, std::less<>> parameters;
  };
  std::map<std::string, LayerLocation, std::less<>> layer_locations;  // by layer or input name

  // Returns the location of "LAYER" or "LAYER.PARAMETER", which ops::make_network() gives as the
  // `where` of an error. Returns the start of the file if the layer is unknown.
  FileLocation find_location(std::string_view where) const;
};

// Parses a network. `file` is the path for diagnostics. Reports unknown keys, operators and inputs
// with the nearest name. Also reports duplicate names, cycles, and values of the wrong type. Does
// not check shapes; ops::make_network() does. Returns nullopt after reporting an error.
std::optional<NetworkFile> read_network(
    Diagnostics& diagnostics, const std::string& file, std::string_view text,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

// Parses a network like read_network(), and returns the diagnostics on errors.
Result<ops::NetworkDefinition, std::vector<Diagnostic>> parse_network(
    std::string_view text, const std::string& file,
    const ops::OperatorRegistry& registry = ops::built_in_operators());

// A network with its batch, data type, mode and fusion. Its cases share it and do not change it.
struct BoundNetwork {
  std::shared_ptr<const PlannedNetwork> planned;
  std::shared_ptr<const ops::Network> network;
  std::vector<ops::DistinctLayer> layers;
  std::string segment;  // parameter segment of the case id
  std::string content;  // text that identifies all problems and their connections
};

// Finds network files and creates each BoundNetwork once. Owns both.
class NetworkStore {
 public:
  NetworkStore(const LoadRequest& request, const ops::OperatorRegistry& registry,
               Diagnostics& diagnostics)
      : request_(request), registry_(registry), diagnostics_(diagnostics) {}

  // Finds and parses NAME.yaml. Searches `folders`, then request.network_folders. Returns nullptr
  // after reporting an error at `location` or in the file.
  const NetworkFile* find(const std::string& name, const std::vector<std::string>& folders,
                          FileLocation location);
  // Binds a network to the batch, mode and fusion of `segment` and to a data type. Returns nullptr
  // after reporting an error.
  const BoundNetwork* bind(const NetworkFile& file, const NetworkSegment& segment, DataType dtype,
                           FileLocation location);

 private:
  std::unique_ptr<BoundNetwork> make_bound_network(const NetworkFile& file,
                                                   const NetworkSegment& segment, DataType dtype,
                                                   FileLocation location);
  bool has_file(const std::string& folder, const std::string& file) const;
  std::string make_unknown_network_hint(const std::string& name,
                                        const std::vector<std::string>& folders) const;

  const LoadRequest& request_;
  const ops::OperatorRegistry& registry_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::optional<NetworkFile>> files_;  // by path; nullopt: file with errors
  std::map<std::tuple<const NetworkFile*, std::int64_t, ops::Fusion, ops::Mode, DataType>,
           std::unique_ptr<BoundNetwork>>
      bound_;
};

// Return the keys of a network file, of a layer and of a block, for the manual.
struct NetworkDraft;
std::span<const KeyRow<NetworkDraft>> network_rows();
std::span<const KeyInfo> layer_keys();
std::span<const KeyInfo> block_keys();

}  // namespace bench
