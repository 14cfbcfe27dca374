// SPDX-License-Identifier: Apache-2.0
// How much time the layers of a network would save at their ceilings, and which layers. Pure.
#pragma once

#include "base/units.hpp"
#include "harness/result/report.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// The part of the recoverable time that `majority` layers hold.
inline constexpr double kMajorityShare = 0.8;

struct RecoverableTime {
  std::string network;
  std::string cache;           // cache mode of the layers
  Nanoseconds measured{0};     // sum over the layers with a roofline, with multiplicity
  Nanoseconds recoverable{0};  // sum over these of measured - ideal; a layer gives at least 0
  struct Layer {
    std::string id;
    std::vector<std::string> layers;  // names in the network
    std::size_t multiplicity = 1;
    Nanoseconds recoverable{0};
    double share = 0;  // fraction of the network's recoverable time
  };
  std::vector<Layer> layers;        // largest recoverable time first
  std::size_t majority = 0;         // the fewest distinct layers that hold kMajorityShare of it
  std::size_t without_ceiling = 0;  // measured layers without a roofline
};

// One entry per network and cache mode of its layers that has a layer with a roofline.
std::vector<RecoverableTime> recoverable_times(const Report& report);

// For example "5 of 20 layers hold 80 % of the 11.2 ms that resnet50_v1_5 could gain at the
// machine's ceilings." Without gain it says so.
std::string recoverable_sentence(const RecoverableTime& network);

}  // namespace bench
