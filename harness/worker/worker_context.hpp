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
  // Why the context is unusable; every command then returns this error.
  std::optional<Error> fault = {};

  const ops::OperatorRegistry& registry() const {
    return own_registry ? *own_registry : ops::built_in_operators();
  }
};

// Finds libbench_cuda.so; the error states why it was not found.
using CudaPluginFinder = std::function<Result<std::string>()>;

// Creates a context with the backends of this program and those that `plugins` (files) add. If a
// plugin cannot be loaded, `fault` is the reason and names the file. With `find_cuda`, the context
// also contains the CUDA backends. Their plugin is located and loaded when a case first requests
// one of them. If that fails, the case is skipped with the reason.
std::shared_ptr<WorkerContext> make_worker_context(const std::vector<std::string>& plugins,
                                                   CudaPluginFinder find_cuda = {});

}  // namespace bench
