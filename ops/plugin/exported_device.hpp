// SPDX-License-Identifier: Apache-2.0
// Exports the parts of a device of this program through the plugin interface.
#pragma once

#include "ops/backend/device.hpp"
#include "ops/backend/device_counters.hpp"
#include "ops/plugin/bench_plugin_device.hpp"

#include <memory>

namespace bench::ops {

// Each forwards to the given part, which must outlive it. Null: there is no such part.
std::unique_ptr<plugin::Memory> export_memory(DeviceMemory* memory);
std::unique_ptr<plugin::Tracer> export_tracer(DeviceTracer* tracer);
// Measures invocations of exported kernels only.
std::unique_ptr<plugin::Counters> export_counters(DeviceCounters* counters);

}  // namespace bench::ops
