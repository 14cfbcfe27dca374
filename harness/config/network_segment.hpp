// SPDX-License-Identifier: Apache-2.0
// Parses and formats the parameter segment of a network's case id:
// NAME[-nBATCH][+separate][+training].
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

struct NetworkSegment {
  std::string name;
  std::int64_t batch = 1;
  ops::Fusion fusion = ops::Fusion::fused;
  ops::Mode mode = ops::Mode::inference;
};

std::string format_network_segment(const NetworkSegment& segment);
Result<NetworkSegment> parse_network_segment(std::string_view text);

// Returns whether the name is a valid network name: only letters, digits and underscores. Such a
// name can be part of an id and the stem of a file name.
bool is_network_name(std::string_view name);

}  // namespace bench
