// SPDX-License-Identifier: Apache-2.0
// Memory and tracer of this program's devices as tables of the plugin interface.
#pragma once

#include "ops/backend/device.hpp"
#include "ops/plugin/bench_plugin.h"

namespace bench::ops {

class DeviceCounters;  // ops/backend/device_counters.hpp

// The state argument of the tables' functions is the address of an object of exactly this type.
// Null: the device has none, and the table is not exported.
struct OpenedDevice {
  DeviceMemory* memory = nullptr;
  DeviceTracer* tracer = nullptr;
  DeviceCounters* counters = nullptr;
};

extern const bench_memory kExportedMemory;
extern const bench_tracer kExportedTracer;

}  // namespace bench::ops
