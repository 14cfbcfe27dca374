// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

#include "base/function_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

// Returns the path by which the loader opened the file, or `requested` if it does not report it.
std::string loaded_path(void* handle, const std::string& requested) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && *map->l_name != '\0') {
    return map->l_name;
  }
  return requested;
}

struct LoadAttempt {
  void* handle = nullptr;
  std::string failure;
  bool is_broken = false;  // a file exists but cannot be loaded
};

std::string last_loader_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown error of the loader";
}

LoadAttempt try_load(const std::string& file, const SearchStep& step) {
  LoadAttempt result;
  const std::string target = step.folder.empty() ? file : step.folder + "/" + file;
  if (!step.folder.empty() && ::access(target.c_str(), F_OK) != 0) {
    result.failure = fmt::format("{} in {}: no such file", file, step.folder);
    return result;
  }
  result.handle = ::dlopen(target.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (result.handle != nullptr) return result;
  const std::string error = last_loader_error();
  // True if the loader's own search path contains no such file. The loader reports this only in the
  // text of its error.
  const bool is_absent = step.folder.empty() && error.starts_with(file + ":") &&
                         error.find("No such file or directory") != std::string::npos;
  result.is_broken = !is_absent;
  result.failure = is_absent ? fmt::format("{} in {}: no such file", file, step.origin)
                             : fmt::format("{}: {}", target, error);
  return result;
}

}  // namespace

void add_search_step(std::vector<SearchStep>& steps, std::string folder, std::string origin) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const bool is_listed = std::any_of(steps.begin(), steps.end(),
                                     [&](const SearchStep& step) { return step.folder == folder; });
  if (!is_listed) steps.push_back({std::move(folder), std::move(origin)});
}

DynamicLibrary::DynamicLibrary(void* handle, std::string path, std::string origin)
    : handle_(handle), path_(std::move(path)), origin_(std::move(origin)) {}

Result<DynamicLibrary, LoadFailure> DynamicLibrary::open(std::span<const std::string_view> files,
                                                         std::span<const SearchStep> search) {
  LoadFailure failure;
  std::string broken;
  for (const SearchStep& step : search) {
    for (const std::string_view file : files) {
      LoadAttempt attempt = try_load(std::string(file), step);
      if (attempt.handle != nullptr) {
        return DynamicLibrary(
            attempt.handle, real_path(loaded_path(attempt.handle, std::string(file))), step.origin);
      }
      if (attempt.is_broken && broken.empty()) broken = attempt.failure;
      failure.tried.push_back(std::move(attempt.failure));
    }
  }
  failure.reason = broken.empty() ? fmt::format("{} was not found", fmt::join(files, " or "))
                                  : "it was found but cannot be loaded: " + broken;
  return failure;
}

Result<DynamicLibrary, std::string> DynamicLibrary::load(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return last_loader_error();
  return DynamicLibrary(handle, loaded_path(handle, path), "");
}

std::optional<DynamicLibrary> DynamicLibrary::find_loaded(const char* name) {
  void* const handle = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  DynamicLibrary library(handle, loaded_path(handle, name), "");
  ::dlclose(handle);  // releases the reference of this look-up
  return library;
}

DynamicLibrary DynamicLibrary::whole_process() { return {RTLD_DEFAULT, "", ""}; }

void* DynamicLibrary::symbol(const char* name) const {
  void* const found = ::dlsym(handle_, name);
  if (found != nullptr || prefix_.empty()) return found;
  return ::dlsym(handle_, (prefix_ + name).c_str());
}

std::vector<const char*> find_functions(const DynamicLibrary& library, void* table,
                                        std::span<const FunctionRow> rows) {
  std::vector<const char*> missing;
  for (const FunctionRow& row : rows) {
    void* const function = library.symbol(row.name);
    row.assign(table, function);
    if (function == nullptr && row.presence == Presence::required) missing.push_back(row.name);
  }
  return missing;
}

Error DynamicLibrary::missing_functions_error(std::span<const char* const> names) const {
  return {fmt::format("the library does not export {}", fmt::join(names, ", ")), path_, ""};
}

}  // namespace bench
