// SPDX-License-Identifier: Apache-2.0
// Writes a network definition as a network file.
#pragma once

#include "ops/network/network.hpp"

#include <string>
#include <string_view>

namespace bench {

// Returns the text of a network file. `title` is the first comment, without `#`; its lines are
// kept. The definition must have named inputs.
std::string format_network(const ops::NetworkDefinition& network, std::string_view title);

}  // namespace bench
