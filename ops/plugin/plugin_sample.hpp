// SPDX-License-Identifier: Apache-2.0
// What a plugin says of a sample on its device's clock, read with mistrust.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/plugin/bench_plugin.h"

#include <string>

namespace bench::ops {

// Of several flags the worst counts: void before throttled before unsteady. A missing reason is
// said to be missing; a sample whose time is not known is void; what is no number of host time or
// clock is unknown. Error: a time that none can be.
Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason);

}  // namespace bench::ops
