// SPDX-License-Identifier: Apache-2.0
// Finds network files and binds each to batch, data type, mode and fusion, once per combination.
#pragma once

#include "harness/config/load.hpp"
#include "harness/config/network_file.hpp"
#include "harness/config/network_segment.hpp"
#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bench {

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
  NetworkStore(const LoadRequest& request, const ops::Catalogue& catalogue, Findings& findings)
      : request_(request), catalogue_(catalogue), findings_(findings) {}

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
  const ops::Catalogue& catalogue_;
  Findings& findings_;
  std::map<std::string, std::optional<NetworkFile>> files_;  // by path; nullopt = file with errors
  std::map<std::tuple<const NetworkFile*, std::int64_t, ops::Fusion, ops::Mode, DataType>,
           std::unique_ptr<BoundNetwork>>
      bound_;
};

}  // namespace bench
