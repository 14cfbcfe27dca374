// SPDX-License-Identifier: Apache-2.0
// Finding and loading NVIDIA's libraries at run time: a documented search path (docs/cuda.md), and
// for each that is not there the places that were tried. Nothing here needs CUDA.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// One place to look. An empty folder is the loader's own search: LD_LIBRARY_PATH, the cache of
// ldconfig, the system's folders.
struct SearchStep {
  std::string folder;
  std::string origin;  // "$BENCH_CUDA_LIBS", "beside the plugin", "the loader's path", ...
};

// Absent: the variable is not set.
using Variables = std::function<std::optional<std::string>(const std::string&)>;

// In order: each folder of $BENCH_CUDA_LIBS (a colon list), `plugin_folder`, the loader's path,
// /usr/local/cuda/lib64, $CUDA_HOME/lib64. Empty folders and repetitions are left out.
std::vector<SearchStep> library_search_path(const Variables& variables,
                                            const std::string& plugin_folder);

// Why a library is not there.
struct LoadFailure {
  std::vector<std::string> tried;  // "libcudnn.so.9 in /usr/local/cuda/lib64: no such file"
  std::string reason;              // of them together, for people: one line
};

// A loaded library. It stays loaded for the life of the process: CUDA's libraries start threads and
// register exit handlers, unloading them is not supported. Copies name the same library.
class DynamicLibrary {
 public:
  // The first of `files` that loads from the first step that has it. A file that is there but does
  // not load is passed over, and remembered for the case that none does.
  static Result<DynamicLibrary, LoadFailure> open(std::span<const std::string_view> files,
                                                  std::span<const SearchStep> search);

  // Null where the library does not export it.
  void* symbol(const char* name) const;
  // Of the loaded file, links resolved.
  const std::string& path() const { return path_; }
  // Where it was found: SearchStep::origin.
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

// Fills every slot. Error: `what` names the symbols that the library lacks, `where` is its path;
// then no slot may be called.
Status resolve(const DynamicLibrary& library, std::span<const FunctionSlot> slots);

// The slot of a typed function pointer.
template <class Function>
FunctionSlot slot(const char* symbol, Function*& target) {
  return {symbol, reinterpret_cast<void**>(&target)};
}

}  // namespace bench::ops::cuda
