// SPDX-License-Identifier: Apache-2.0
// Exports backends of this program as those of a plugin: the inverse of open_backend(). A plugin
// written with this program's own classes returns export_plugin().raw() from bench_plugin_entry().
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops {

struct BackendExport {
  std::string name;                    // the backend's name in case ids: "cudnn"
  std::string device;                  // "cpu", "cuda"
  std::vector<std::string> operators;  // built-in operators that it serves; "network"
  // Returns why the backend cannot run here, or nullopt if it can. Must be cheap. Empty: it always
  // can.
  std::function<std::optional<std::string>()> probe;
  // Called at most once per process, after probe() found nothing. The plugin then exports the
  // backend's memory, tracer and counters, if any.
  std::function<Result<std::unique_ptr<Backend>, BackendError>()> open;
};

// Keep the result and both texts for the life of the process, in a static variable of
// bench_plugin_entry(). The plugin supports problems of built-in operators and recreates them from
// their identifying data. It converts exceptions of backends and kernels to messages.
plugin::Plugin export_plugin(const char* name, const char* version,
                             std::vector<BackendExport> backends);

}  // namespace bench::ops
