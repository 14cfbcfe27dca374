// SPDX-License-Identifier: Apache-2.0
// The context of a worker: its backends, and the operators that it supports.
#pragma once

#include "base/result.hpp"
#include "ops/backend/backend_set.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/operator_registry.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct WorkerContext {
  ops::BackendSet backends;
  std::shared_ptr<const ops::OperatorRegistry> own_registry = {};  // null: the built-in one
  std::vector<ops::LibraryInfo> plugins = {};
  // Why the context is unusable: every command is refused with this error.
  std::optional<Error> fault = {};

  const ops::OperatorRegistry& registry() const {
    return own_registry ? *own_registry : ops::built_in_operators();
  }
};

// Finds libbench_cuda.so; the error states why it was not found.
using CudaPluginFinder = std::function<Result<std::string>()>;

// The backends of this program and those that these plugins add. If a plugin cannot be loaded,
// `fault` says so, with the file at `where`. With `find_cuda` it also contains those of CUDA; their
// plugin is located and loaded when a case first requests one. Without it such cases are skipped,
// with the reason.
std::shared_ptr<WorkerContext> make_worker_context(const std::vector<std::string>& plugins,
                                                   CudaPluginFinder find_cuda = {});

}  // namespace bench
