// SPDX-License-Identifier: Apache-2.0
// Exports kernels and devices of this program through the plugin interface. There are two uses: a
// plugin requests a built-in kernel from the host, or a plugin is written with this program's own
// classes.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/device_counters.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin_device.hpp"
#include "ops/plugin/bench_plugin_kernel.hpp"
#include "ops/plugin/c_interface.hpp"

#include <memory>
#include <string_view>
#include <utility>

namespace bench::ops {

// Return the value of a result, or throw its error as the C++ wrapper of the interface expects it.
template <class T>
T value_or_throw(Result<T> result) {
  if (result) return std::move(result).value();
  throw plugin::Error(BENCH_FAILED, result.error().what, result.error().where, result.error().next);
}
template <class T>
T value_or_throw(Result<T, BackendError> result) {
  if (result) return std::move(result).value();
  throw plugin::Error(to_c_status(result.error()), result.error().reason);
}

inline void throw_if_error(const Status& status) {
  if (status.ok()) return;
  const Error& error = status.error();
  throw plugin::Error(BENCH_FAILED, error.what, error.where, error.next);
}

// Receives the named parts of an execution. Not owned; must outlive the kernel.
class PartListener {
 public:
  virtual ~PartListener() = default;
  virtual void part_begins(std::string_view name) noexcept = 0;
  virtual void part_ends() noexcept = 0;
};

// Exports a kernel of a plugin. `parts` receives the parts that an observed execution names.
// Tensors that the kernel takes plain are not packed.
std::unique_ptr<plugin::Kernel> export_kernel(std::unique_ptr<Kernel> kernel, PartListener& parts);

// Exports a kernel of the host to a plugin. All its tensors are packed. Each execution is a part
// named after the problem's operator. The plugin can read the problem. The result deletes itself in
// destroy().
const bench_kernel* export_built_in(std::unique_ptr<Kernel> kernel,
                                    std::unique_ptr<const Problem> problem, PartListener& parts);

// Returns this program's invocation to which `invocation`, bound by an exported kernel, forwards.
Invocation& exported_invocation(plugin::Invocation& invocation);

// Each result forwards to the argument, which must outlive it. For nullptr, returns nullptr.
std::unique_ptr<plugin::Memory> export_memory(DeviceMemory* memory);
std::unique_ptr<plugin::Tracer> export_tracer(DeviceTracer* tracer);
// Measures invocations of exported kernels only.
std::unique_ptr<plugin::Counters> export_counters(DeviceCounters* counters);

}  // namespace bench::ops
