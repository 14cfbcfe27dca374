// SPDX-License-Identifier: Apache-2.0
// Checks the connections of a network file: names of inputs and outputs, and cycles.
#pragma once

#include "harness/config/reader.hpp"
#include "harness/config/yaml.hpp"
#include "ops/network/network.hpp"

#include <vector>

namespace bench {

// A network as written, with the positions of the names of inputs, by layer, and of outputs.
struct WrittenGraph {
  const ops::NetworkDefinition& definition;
  const std::vector<std::vector<yaml::SourceLocation>>& input_locations;
  const std::vector<yaml::SourceLocation>& output_locations;
};

// Reports unknown names, once per place in the file since the layers of a block are repeated, and a
// cycle.
void check_graph(const Reader& reader, const WrittenGraph& graph);

}  // namespace bench
