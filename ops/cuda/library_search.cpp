// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/library_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <unistd.h>
#include <utility>

namespace bench::ops::cuda {
namespace {

constexpr const char* kLibrariesVariable = "BENCH_CUDA_LIBS";
constexpr const char* kToolkitVariable = "CUDA_HOME";
constexpr const char* kDefaultToolkit = "/usr/local/cuda";

void add_step(std::vector<SearchStep>& steps, std::string folder, std::string origin) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const bool is_listed = std::any_of(steps.begin(), steps.end(),
                                     [&](const SearchStep& step) { return step.folder == folder; });
  if (!is_listed) steps.push_back({std::move(folder), std::move(origin)});
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

// Returns the path of the loaded file, or `requested` if the loader does not report it.
std::string loaded_path(void* handle, const std::string& requested) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && *map->l_name != '\0') {
    return real_path(map->l_name);
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

std::vector<SearchStep> library_search_path(const Variables& variables,
                                            const std::string& plugin_folder) {
  std::vector<SearchStep> steps;
  const std::string folders = variables(kLibrariesVariable).value_or("");
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin) {
      add_step(steps, folders.substr(begin, end - begin), fmt::format("${}", kLibrariesVariable));
    }
    begin = end + 1;
  }
  if (!plugin_folder.empty()) add_step(steps, plugin_folder, "beside the plugin");
  steps.push_back({"", "the loader's path"});
  add_step(steps, fmt::format("{}/lib64", kDefaultToolkit), "the default toolkit");
  const std::string toolkit = variables(kToolkitVariable).value_or("");
  if (!toolkit.empty()) add_step(steps, toolkit + "/lib64", fmt::format("${}", kToolkitVariable));
  return steps;
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
        return DynamicLibrary(attempt.handle, loaded_path(attempt.handle, std::string(file)),
                              step.origin);
      }
      if (attempt.is_broken && broken.empty()) broken = attempt.failure;
      failure.tried.push_back(std::move(attempt.failure));
    }
  }
  failure.reason = broken.empty() ? fmt::format("{} was not found", fmt::join(files, " or "))
                                  : "it was found but cannot be loaded: " + broken;
  return failure;
}

void* DynamicLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

bool load_driver_or_stub(std::span<const SearchStep> search) {
  constexpr std::string_view kDriver[] = {"libcuda.so.1"}, kStub[] = {"libcuda.so"};
  const SearchStep loader[] = {{"", "the loader's path"}};
  if (DynamicLibrary::open(kDriver, loader)) return true;
  std::vector<SearchStep> stubs;
  for (const SearchStep& step : search) {
    if (!step.folder.empty()) stubs.push_back({step.folder + "/stubs", step.origin});
  }
  return DynamicLibrary::open(kStub, stubs).ok();
}

Status resolve(const DynamicLibrary& library, std::span<const FunctionSlot> slots) {
  std::vector<std::string_view> missing;
  for (const FunctionSlot& function : slots) {
    *function.target = library.symbol(function.symbol);
    if (*function.target == nullptr) missing.emplace_back(function.symbol);
  }
  if (missing.empty()) return Done{};
  return Error{fmt::format("the library does not export {}", fmt::join(missing, ", ")),
               library.path(), "install a version listed in docs/cuda.md"};
}

}  // namespace bench::ops::cuda
