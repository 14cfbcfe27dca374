// SPDX-License-Identifier: Apache-2.0
// A plugin: a shared library that brings operators and backends (ops/plugin/bench_plugin.h). Only
// workers load one: its code runs in their process.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/catalogue.hpp"
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
  // Loads the file for the life of this process, and checks all that it says of itself. Errors
  // (`where`: the file): it cannot be loaded, is no plugin, of another version of the interface, or
  // contradicts it.
  static Result<Plugin> load(const std::string& file);

  const std::string& file() const { return file_; }
  LibraryInfo library() const;
  // Operators whose functions call the plugin, and its backends.
  CatalogueAddition addition() const;

  std::vector<const bench_backend*> backends() const;

 private:
  Plugin(std::string file, const bench_plugin* plugin) : file_(std::move(file)), raw_(plugin) {}

  std::string file_;
  const bench_plugin* raw_;  // lives as long as the process
};

// What is wrong with its tables of memory and tracer, "has ..."; absent: nothing.
std::optional<std::string> device_fault(const bench_backend& backend);
// Why the backend cannot run here, as far as it tells without being opened.
std::optional<std::string> probe_backend(const bench_backend& backend);
// Opens it. `built_in` makes the kernels of built-in operators that it asks for, and outlives it.
// `plugin` is its library where it names none.
Result<std::unique_ptr<Backend>, Refusal> open_backend(const bench_backend& backend,
                                                       LibraryInfo plugin, Backend& built_in);

}  // namespace bench::ops
