// SPDX-License-Identifier: Apache-2.0
// Which of NVIDIA's libraries are there, and what the absence of each disables.
#pragma once

#include "ops/cuda/library_search.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

struct LibraryReport {
  std::string name;         // "cuDNN"
  std::string consequence;  // of its absence: "conv on cuda is unsupported"
  std::string remedy;
  // Where it is there:
  std::string path, origin, version;
  // Why it is not there, or cannot be used although it is: then `path` is set as well.
  std::string reason;
  std::vector<std::string> tried;  // where it is not there

  bool usable() const { return reason.empty(); }
  friend bool operator==(const LibraryReport&, const LibraryReport&) = default;
};

// What the report depends on beside the files.
struct LibraryExpectations {
  // cuptiGetVersion() of the library whose records this build can decode. Absent: built without.
  std::optional<unsigned> cupti_version;
};

// A row of the table of libraries.
struct LibrarySpec {
  std::string_view name;
  std::span<const std::string_view> files;
  // Parts that it loads itself and without which it ends the process: looked for beside it, then as
  // the loader finds them.
  std::span<const std::string_view> parts;
  std::string_view consequence;
  std::string_view remedy;
  // Its version, as text. Error: it is of no use.
  Result<std::string> (*version)(const DynamicLibrary& library,
                                 const LibraryExpectations& expectations);
};

// As NVIDIA's libraries tell it, major * 10000 + minor * 100 + patch: "13.1.0".
std::string packed_version(std::size_t version);

// cuDNN, cuBLASLt, cuBLAS, NVML, CUPTI; NVML's version is asked without initialising it.
std::span<const LibrarySpec> library_specs();
const LibrarySpec& library_spec(std::string_view name);  // asserts that there is one

// Loads the library, which stays loaded.
LibraryReport report_library(const LibrarySpec& spec, std::span<const SearchStep> search,
                             const LibraryExpectations& expectations);
std::vector<LibraryReport> report_libraries(std::span<const SearchStep> search,
                                            const LibraryExpectations& expectations);

// The library itself, with its parts checked; the first step of every function table.
Result<DynamicLibrary, LoadFailure> open_library(const LibrarySpec& spec,
                                                 std::span<const SearchStep> search);

}  // namespace bench::ops::cuda
