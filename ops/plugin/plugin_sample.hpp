// SPDX-License-Identifier: Apache-2.0
// Validates a sample that a plugin took on its device's clock.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/plugin/bench_plugin.h"

#include <string>

namespace bench::ops {

// If several flags are set, the most severe applies: void before throttled before unsteady. A
// missing reason is replaced by a text that states this. A sample without a time is discarded. An
// invalid host time or clock is treated as unknown. Error: an impossible time.
Result<DeviceSample> read_sample(const bench_sample& sample, const SampleRequest& request,
                                 const std::string& reason);

}  // namespace bench::ops
