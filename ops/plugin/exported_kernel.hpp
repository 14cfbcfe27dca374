// SPDX-License-Identifier: Apache-2.0
// Exports a kernel of this program through the plugin interface: a built-in kernel that a plugin
// requests from the host, or a kernel of a plugin written with this program's own classes.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <functional>
#include <memory>
#include <string_view>

namespace bench::ops {

// Receives the named parts of an execution. Not owned; must outlive the kernel.
class PartListener {
 public:
  virtual ~PartListener() = default;
  virtual void part_begins(std::string_view name) noexcept = 0;
  virtual void part_ends() noexcept = 0;
};

struct KernelExport {
  std::unique_ptr<Kernel> kernel;
  // If set: the problem that the kernel was created from. The kernel's problem is then a view of
  // it.
  std::unique_ptr<const Problem> problem = nullptr;
  // Receives the parts that an observed execution names. With `whole`, each execution is itself a
  // part.
  PartListener* parts = nullptr;
  std::string_view whole = {};  // must outlive the kernel
  // Whether to pack tensors that the kernel takes plain.
  enum class Packing { always, where_needed };
  Packing packing = Packing::where_needed;
};

// The result deletes itself and the kernel in destroy().
const bench_kernel* export_kernel(KernelExport with);

// Returns the invocation behind an exported one.
Invocation& exported_invocation(const bench_invocation& invocation);

}  // namespace bench::ops
