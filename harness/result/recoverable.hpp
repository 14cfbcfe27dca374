// SPDX-License-Identifier: Apache-2.0
// Computes how much time the layers of a network would save if they reached their ceilings. Pure
// functions.
#pragma once

#include "base/units.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Fraction of the recoverable time to which RecoverableTime::majority refers.
inline constexpr double kMajorityFraction = 0.8;

struct RecoverableTime {
  std::string network;
  std::string cache;           // cache mode of the layers
  Nanoseconds measured{0};     // sum over the layers with a roofline, with multiplicity
  Nanoseconds recoverable{0};  // sum of max(measured - ideal, 0) over these layers
  struct Layer {
    std::string id;
    std::vector<std::string> layers;  // names in the network
    std::size_t multiplicity = 1;
    Nanoseconds recoverable{0};
    double share = 0;  // fraction of the network's recoverable time
  };
  std::vector<Layer> layers;  // largest recoverable time first
  std::size_t majority = 0;   // smallest number of layers that contain kMajorityFraction of it
  std::size_t without_ceiling = 0;  // measured layers without a roofline
  bool has_all_layers = true;       // whether the report has all layers of the network
};

// Returns one entry per network and cache mode of its layers. Omits networks without a roofline for
// any layer.
std::vector<RecoverableTime> recoverable_times(const Report& report);

// Returns a sentence such as "5 of 20 distinct layers hold 80 % of the 11.2 ms that resnet50_v1_5
// could gain at the machine's ceilings." If nothing is recoverable, the sentence says so.
std::string recoverable_sentence(const RecoverableTime& network);

}  // namespace bench
