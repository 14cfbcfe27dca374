// SPDX-License-Identifier: Apache-2.0
// A kernel of this program as one of the plugin interface: the built-in kernels that a plugin asks
// the host for, and those that a plugin of this program's own classes hands out.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <functional>
#include <memory>
#include <string_view>

namespace bench::ops {

// Who is told of named parts of an execution; not owned, outlive the kernel.
class PartListener {
 public:
  virtual ~PartListener() = default;
  virtual void part_begins(std::string_view name) noexcept = 0;
  virtual void part_ends() noexcept = 0;
};

struct KernelExport {
  std::unique_ptr<Kernel> kernel;
  // Set: what the kernel was made of, which its problem is then a view of.
  std::unique_ptr<const Problem> problem = nullptr;
  // What an observed execution names; with `whole`, each execution is such a part itself.
  PartListener* parts = nullptr;
  std::string_view whole = {};  // outlives the kernel
  // Whether tensors are packed where the kernel takes them plain.
  enum class Packing { always, where_needed };
  Packing packing = Packing::where_needed;
};

// Deletes itself, and the kernel, in destroy().
const bench_kernel* export_kernel(KernelExport with);

// What is behind an invocation of such a kernel.
Invocation& exported_invocation(const bench_invocation& invocation);

}  // namespace bench::ops
