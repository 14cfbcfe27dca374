// SPDX-License-Identifier: Apache-2.0
// Hardware counters of this program's devices as a table of the plugin interface.
#pragma once

#include "ops/plugin/bench_plugin.h"

namespace bench::ops {

// The state argument is the address of an OpenedDevice (exported_device.hpp) that has counters.
extern const bench_counters kExportedCounters;

}  // namespace bench::ops
