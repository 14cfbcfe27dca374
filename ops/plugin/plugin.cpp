// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/plugin.hpp"

#include "base/file.hpp"
#include "ops/plugin/c_interface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>

namespace bench::ops {
namespace {

using Entry = const bench_plugin* (*)();

constexpr std::string_view kDocumentation = "docs/plugins.md shows how to build a plugin";
constexpr std::array<std::string_view, 2> kDevices = {"cpu", "cuda"};

Error file_error(const std::string& file, std::string what, std::string_view next = {}) {
  return {std::move(what), file, std::string(next)};
}

// The loader's message begins with the file's name.
std::string loader_message(const std::string& file) {
  const char* message = dlerror();
  std::string text = message == nullptr ? "no reason given" : message;
  if (text.starts_with(file + ": ")) text.erase(0, file.size() + 2);
  return text;
}

Result<const bench_plugin*> open_library(const std::string& file) {
  if (access(file.c_str(), R_OK) != 0) {
    return file_error(
        file, fmt::format("cannot be read: {}", std::strerror(errno)),
        "relative paths start at the configuration's folder (`plugins`) or at the current "
        "folder (--plugin)");
  }
  // Refuses a FIFO, because the loader would wait for its writer.
  BENCH_RETURN_IF_ERROR(open_input(file, OpenDescriptors::refuse));
  // The loader would search for a name without a slash in the system's folders.
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return file_error(file, fmt::format("cannot be loaded: {}", loader_message(path)),
                      "build it as a shared library for this machine");
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(library, BENCH_PLUGIN_ENTRY));
  if (entry == nullptr) {
    return file_error(file,
                      fmt::format("is not a plugin: it does not export {}()", BENCH_PLUGIN_ENTRY),
                      kDocumentation);
  }
  const bench_plugin* plugin = entry();
  if (plugin == nullptr) {
    return file_error(file, fmt::format("{}() returned no plugin", BENCH_PLUGIN_ENTRY),
                      kDocumentation);
  }
  return plugin;
}

Status check_version(const bench_plugin& plugin, const std::string& file) {
  if (BENCH_HAS(bench_plugin, &plugin, abi) && plugin.abi != BENCH_PLUGIN_ABI) {
    return file_error(
        file,
        fmt::format("has version {} of the plugin interface, this program has version {}",
                    plugin.abi, BENCH_PLUGIN_ABI),
        "build it with this release's bench/plugin.h");
  }
  if (plugin.size < sizeof(bench_plugin)) {
    return file_error(file, "describes itself with a struct that is too short", kDocumentation);
  }
  if (const auto fault = struct_fault(&plugin))
    return file_error(file, fmt::format("describes itself with a struct that {}", *fault),
                      kDocumentation);
  return Done{};
}

// Error: a list of the plugin cannot be read.
template <class Row>
Status check_list(const Row* const* rows, std::size_t count, std::string_view what,
                  const std::string& file) {
  if (count > 0 && rows == nullptr)
    return file_error(file, fmt::format("has no list of its {}", what));
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto fault = struct_fault(rows[i]))
      return file_error(file, fmt::format("number {} of its {} {}", i, what, *fault),
                        kDocumentation);
  }
  return Done{};
}

Status check_operator(const bench_operator& op, const std::string& file) {
  BENCH_RETURN_IF_ERROR(check_list(op.parameters, op.parameter_count, "parameters", file));
  if (op.model == nullptr || op.reference == nullptr) {
    return file_error(
        file,
        fmt::format("its operator `{}` has no model or no reference", string_or_empty(op.name)),
        kDocumentation);
  }
  Status status = check_operator_description(op);
  if (!status.ok()) return file_error(file, status.error().what, kDocumentation);
  return Done{};
}

Status check_backend(const bench_backend& backend, const std::string& file) {
  const std::string name = string_or_empty(backend.name);
  const std::string device = string_or_empty(backend.device);
  if (!is_plugin_name(name)) {
    return file_error(file, fmt::format("the backend name `{}` is not [a-z][a-z0-9_]*", name));
  }
  if (std::ranges::find(kDevices, device) == kDevices.end()) {
    return file_error(file, fmt::format("its backend `{}` is for the device `{}`", name, device),
                      "devices are cpu and cuda");
  }
  const bool has_operator_list = backend.operator_count == 0 || backend.operators != nullptr;
  if (!has_operator_list || backend.open == nullptr || backend.close == nullptr ||
      backend.create == nullptr) {
    return file_error(file, fmt::format("its backend `{}` lacks a function or its operators", name),
                      kDocumentation);
  }
  if (const auto fault = device_fault(backend)) {
    return file_error(file, fmt::format("its backend `{}` {}", name, *fault), kDocumentation);
  }
  return Done{};
}

Status check_plugin(const bench_plugin& plugin, const std::string& file) {
  BENCH_RETURN_IF_ERROR(check_version(plugin, file));
  BENCH_RETURN_IF_ERROR(check_list(plugin.operators, plugin.operator_count, "operators", file));
  BENCH_RETURN_IF_ERROR(check_list(plugin.backends, plugin.backend_count, "backends", file));
  for (std::size_t i = 0; i < plugin.operator_count; ++i) {
    BENCH_RETURN_IF_ERROR(check_operator(*plugin.operators[i], file));
  }
  for (std::size_t i = 0; i < plugin.backend_count; ++i) {
    BENCH_RETURN_IF_ERROR(check_backend(*plugin.backends[i], file));
  }
  if (plugin.name == nullptr || *plugin.name == '\0')
    return file_error(file, "does not report its name");
  return Done{};
}

}  // namespace

Result<Plugin> Plugin::load(const std::string& file) {
  BENCH_ASSIGN_OR_RETURN(const bench_plugin* plugin, open_library(file));
  BENCH_RETURN_IF_ERROR(check_plugin(*plugin, file));
  return Plugin(file, plugin);
}

LibraryInfo Plugin::library() const {
  return {string_or_empty(raw_->name), string_or_empty(raw_->version), file_, "plugin"};
}

PluginAddition Plugin::addition() const {
  PluginAddition addition{file_, {}, {}};
  for (std::size_t i = 0; i < raw_->operator_count; ++i) {
    addition.operators.push_back(make_plugin_operator(*raw_->operators[i]));
  }
  for (const bench_backend* backend : backends()) {
    BackendRow row{string_or_empty(backend->name), string_or_empty(backend->device), {}};
    for (std::size_t i = 0; i < backend->operator_count; ++i) {
      row.operators.push_back(string_or_empty(backend->operators[i]));
    }
    addition.backends.push_back(std::move(row));
  }
  return addition;
}

std::vector<const bench_backend*> Plugin::backends() const {
  return {raw_->backends, raw_->backends + raw_->backend_count};
}

}  // namespace bench::ops
