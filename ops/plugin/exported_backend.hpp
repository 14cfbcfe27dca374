// SPDX-License-Identifier: Apache-2.0
// Backends of this program as those of a plugin: the other side of open_backend(). A plugin that is
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
  std::vector<std::string> operators;  // that it serves, built-in ones; "network"
  // Why it cannot run here; absent where it can. Cheap; empty: it always can.
  std::function<std::optional<std::string>()> probe;
  // At most once a process. What the backend has then - memory, a tracer - is what the plugin has.
  std::function<Result<std::unique_ptr<Backend>, Refusal>()> open;
};

// Owns what it hands out and is not movable: keep it as long as the process, in a variable of
// bench_plugin_entry(). Problems are those of built-in operators, made anew from what identifies
// them. Exceptions of backends and kernels become messages.
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
