// SPDX-License-Identifier: Apache-2.0
// What every way of measuring a case asks of a worker first.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>

namespace bench {

// With a check against the reference. `met`: of a layer, else empty.
PrepareRequest prepare_request(const Case& spec, std::uint64_t seed, ops::MetLayouts met);

}  // namespace bench
