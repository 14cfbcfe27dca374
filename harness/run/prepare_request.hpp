// SPDX-License-Identifier: Apache-2.0
// The first request to a worker for every way of measuring a case.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>

namespace bench {

// Requests a check against the reference. `met`: for a layer, else empty.
PrepareRequest prepare_request(const Case& spec, std::uint64_t seed, ops::MetLayouts met);

}  // namespace bench
