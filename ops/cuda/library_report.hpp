// SPDX-License-Identifier: Apache-2.0
// Reports which of NVIDIA's libraries were found, and what each missing one disables.
#pragma once

#include "base/function_table.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/found_library.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Properties of this build that decide whether a library is usable.
struct LibraryExpectations {
  // cuptiGetVersion() of the CUPTI whose records this build can decode. nullopt if this build has
  // no CUPTI support.
  std::optional<unsigned> cupti_version;
};

// A row of the table of libraries.
struct LibrarySpec {
  std::string_view name;
  std::span<const std::string_view> files;
  // Sub-libraries that the library loads itself. The library ends the process if one is missing.
  // They are searched in the library's folder, then by the loader.
  std::span<const std::string_view> parts;
  std::string_view consequence;
  std::string_view remedy;
  // Returns the version as text. Error: the library is unusable.
  Result<std::string> (*version)(const DynamicLibrary& library,
                                 const LibraryExpectations& expectations);
};

// Formats a version packed as major * 10000 + minor * 100 + patch, as NVIDIA's libraries report it:
// "13.1.0".
std::string format_packed_version(std::size_t version);

// Returns the table of libraries: cuDNN, cuBLASLt, cuBLAS, NVML, CUPTI. Reading NVML's version does
// not initialise NVML.
std::span<const LibrarySpec> library_specs();
// Asserts that the table has a library of this name.
const LibrarySpec& library_spec(std::string_view name);

// Loads the library and reads its version. The library stays loaded.
LibraryReport report_library(const LibrarySpec& spec, std::span<const SearchStep> search,
                             const LibraryExpectations& expectations);
std::vector<LibraryReport> report_libraries(std::span<const SearchStep> search,
                                            const LibraryExpectations& expectations);

// Opens the library and checks its sub-libraries.
Result<DynamicLibrary, LoadFailure> open_library(const LibrarySpec& spec,
                                                 std::span<const SearchStep> search);

// Fills the functions of `table`. Error: the library lacks some; the next step is another version.
template <class Table>
Result<Done, LoadFailure> fill_library_functions(const DynamicLibrary& library, Table& table) {
  Status filled = fill_functions(library, table);
  if (filled) return Done{};
  Error error = std::move(filled).error();
  error.next = "install a version listed in docs/cuda.md";
  return LoadFailure{{}, error.message()};
}

// Opens the library of this name in the table of libraries and fills an Api's functions and `path`.
template <class Api>
Result<std::shared_ptr<const Api>, LoadFailure> load_functions(std::string_view name,
                                                               std::span<const SearchStep> search) {
  BENCH_ASSIGN_OR_RETURN(const DynamicLibrary library, open_library(library_spec(name), search));
  auto api = std::make_shared<Api>();
  BENCH_RETURN_IF_ERROR(fill_library_functions(library, *api));
  api->path = library.path();
  return std::shared_ptr<const Api>(std::move(api));
}

}  // namespace bench::ops::cuda
