// SPDX-License-Identifier: Apache-2.0
// Finds and loads shared libraries at run time. For each missing library the error lists the places
// that were tried.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

  // Returns null if the library does not export the symbol.
  void* symbol(const char* name) const;
  // Returns the path of the loaded file, with links resolved.
  const std::string& path() const { return path_; }
  // Returns the SearchStep::origin of the step that found the file.
  const std::string& origin() const { return origin_; }

 private:
  DynamicLibrary(void* handle, std::string path, std::string origin);
  void* handle_;
  std::string path_, origin_;
};

// One function of a table that is filled from a library.
struct FunctionSlot {
  const char* symbol;
  void** target;
};

// Fills every slot. Error: `what` names the missing symbols, `where` is the library's path. After
// an error no slot may be called.
Status resolve_functions(const DynamicLibrary& library, std::span<const FunctionSlot> slots);

// Makes the slot of a typed function pointer.
template <class Function>
FunctionSlot slot(const char* symbol, Function*& target) {
  return {symbol, reinterpret_cast<void**>(&target)};
}

}  // namespace bench
