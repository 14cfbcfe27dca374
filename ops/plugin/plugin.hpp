// SPDX-License-Identifier: Apache-2.0
// A plugin: a shared library with operators and backends (ops/plugin/bench_plugin.h). Only workers
// load plugins, because the code runs in their process.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/described_operator.hpp"
#include "ops/operator.hpp"
#include "ops/operator_registry.hpp"
#include "ops/plugin/bench_plugin.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

class Plugin {
 public:
  // Loads the file until the process ends, and checks its description. Errors (`where`: the file):
  // it cannot be loaded, is not a plugin, has another version of the interface, or violates the
  // interface.
  static Result<Plugin> load(const std::string& file);

  const std::string& file() const { return file_; }
  LibraryInfo library() const;
  // Returns operators whose functions call the plugin, and its backends.
  PluginAddition addition() const;

  std::vector<const bench_backend*> backends() const;

 private:
  Plugin(std::string file, const bench_plugin* plugin) : file_(std::move(file)), raw_(plugin) {}

  std::string file_;
  const bench_plugin* raw_;  // lives as long as the process
};

// Returns what is wrong with the backend's table of memory functions ("has ..."), or nullopt.
std::optional<std::string> device_fault(const bench_backend& backend);
// Returns why the backend cannot run here, as far as it reports this without being opened.
std::optional<std::string> probe_backend(const bench_backend& backend);
// Opens the backend. `built_in` creates the kernels of built-in operators that it requests, and
// must outlive it. `plugin` is used as its library if it names none.
Result<std::unique_ptr<Backend>, BackendError> open_backend(const bench_backend& backend,
                                                            LibraryInfo plugin, Backend& built_in);

// Error: its parameters are unusable (described_operator.hpp).
Status check_operator_description(const bench_operator& op);
// `op` must live as long as the process and must have been checked.
std::shared_ptr<const Operator> make_plugin_operator(const bench_operator& op);

}  // namespace bench::ops
