// SPDX-License-Identifier: Apache-2.0
// Finds and loads shared libraries at run time. For each missing library the error lists the places
// that were tried. base/function_table.hpp finds the functions of a library.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// One location to search. An empty folder means the loader's own search: LD_LIBRARY_PATH, the
// ldconfig cache, the system folders.
struct SearchStep {
  std::string folder;
  std::string origin;  // "$BENCH_CUDA_LIBS", "beside the plugin", "the loader's path", ...
};

// Reads an environment variable. Returns nullopt if it is not set.
using Variables = std::function<std::optional<std::string>(const std::string&)>;

// Appends a step unless the list has its folder. Removes slashes at the end of the folder.
void add_search_step(std::vector<SearchStep>& steps, std::string folder, std::string origin);

// Why a library could not be loaded.
struct LoadFailure {
  std::vector<std::string> tried;  // "libcudnn.so.9 in /usr/local/cuda/lib64: no such file"
  std::string reason;              // one line for humans that summarises `tried`
};

// A loaded library. It stays loaded until the process ends: many libraries start threads and
// register exit handlers, and do not support unloading. Its symbols are invisible for other
// libraries. Copies refer to the same library.
class DynamicLibrary {
 public:
  // Opens the first of `files` that can be loaded, from the first step that has it. A file that
  // exists but cannot be loaded is skipped; the error lists it if no file can be loaded.
  static Result<DynamicLibrary, LoadFailure> open(std::span<const std::string_view> files,
                                                  std::span<const SearchStep> search);

  // Opens one file: a path, or a name that the loader searches. Error: the loader's message.
  static Result<DynamicLibrary, std::string> load(const std::string& path);

  // Returns the library of this name if the process has loaded it. The result does not keep it
  // loaded.
  static std::optional<DynamicLibrary> find_loaded(const char* name);

  // Returns all libraries whose names are global in this process, as one library.
  static DynamicLibrary whole_process();

  // Returns null if the library does not export the name.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  // Error: the library does not export the name.
  template <class Function>
  Result<Function*> require(const char* name) const {
    if (auto* const found = function<Function>(name)) return found;
    return missing_functions_error(std::span(&name, 1));
  }
  void* symbol(const char* name) const;

  // Makes symbol() also find a name with this prefix, if the library has none without.
  void accept_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  // Returns the error of a library that does not export `names`.
  Error missing_functions_error(std::span<const char* const> names) const;

  // Returns the path of the loaded file; links are resolved if open() found it.
  const std::string& path() const { return path_; }
  // Returns the SearchStep::origin of the step by which open() found the file.
  const std::string& origin() const { return origin_; }

 private:
  DynamicLibrary(void* handle, std::string path, std::string origin);
  void* handle_;
  std::string path_, origin_, prefix_;
};

}  // namespace bench
