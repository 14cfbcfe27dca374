// SPDX-License-Identifier: Apache-2.0
// Statistics of a network's layers and of single problems: parameters, activations, receptive
// fields.
#pragma once

#include "ops/network/network.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bench::ops {

struct LayerStatistics {
  std::int64_t parameters = 0;   // learned values
  std::int64_t activations = 0;  // elements of the result
  // Input positions that a result depends on, per spatial dimension (d, h, w), beyond the edges of
  // the input as well. nullopt: the layer is not one of an image, or its inputs were reordered.
  std::optional<std::vector<std::int64_t>> receptive_field;
  std::size_t equal_layers = 1;  // layers of the network with the same problem, this one included
};

// Returns the statistics of a problem that reads its inputs from outside. Only convolutions and
// pools have a receptive field.
LayerStatistics problem_statistics(const Problem& problem);

// Returns the statistics of each node. `network` must have been made without fusion; its layers are
// then those of the definition. The receptive fields refer to the network's inputs.
std::vector<LayerStatistics> layer_statistics(const Network& network);

}  // namespace bench::ops
