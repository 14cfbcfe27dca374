// SPDX-License-Identifier: Apache-2.0
// Computes the work of a network from its nodes and tensors.
#pragma once

#include "base/result.hpp"
#include "ops/network/network.hpp"

namespace bench::ops {

// Sets Network::work. Error: a count exceeds 2^63 - 1.
Status count_work(Network& network);

}  // namespace bench::ops
