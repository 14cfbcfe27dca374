// SPDX-License-Identifier: Apache-2.0
// Exports backends of this program as those of a plugin: the inverse of open_backend(). A plugin
// written with this program's own classes returns ExportedPlugin::get() from bench_plugin_entry().
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/plugin/bench_plugin.h"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops {

struct BackendExport {
  std::string name;                    // the segment of case ids
  std::string device;                  // "cpu", "cuda"
  std::vector<std::string> operators;  // built-in operators that it serves; "network"
  // Returns why the backend cannot run here, or nullopt if it can. Must be cheap. Empty: it always
  // can.
  std::function<std::optional<std::string>()> probe;
  // Called at most once per process. The plugin then exports the backend's memory and tracer, if
  // any.
  std::function<Result<std::unique_ptr<Backend>, Refusal>()> open;
};

// Owns what it exports and is not movable: keep it for the life of the process, in a variable of
// bench_plugin_entry(). It supports problems of built-in operators and recreates them from their
// identifying data. Exceptions of backends and kernels become messages.
class ExportedPlugin {
 public:
  ExportedPlugin(std::string name, std::string version, std::vector<BackendExport> backends);
  ~ExportedPlugin();
  ExportedPlugin(const ExportedPlugin&) = delete;
  ExportedPlugin& operator=(const ExportedPlugin&) = delete;

  const bench_plugin* get() const { return &raw_; }

 private:
  class Exported;  // one backend

  std::string name_, version_;
  std::deque<Exported> backends_;
  std::vector<const bench_backend*> pointers_;
  bench_plugin raw_;
};

}  // namespace bench::ops
