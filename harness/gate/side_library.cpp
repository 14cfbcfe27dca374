// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/side_library.hpp"

#include "base/file.hpp"
#include "harness/host/cuda_status.hpp"
#include "ops/blas_library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOnednnStem = "libdnnl.so";
// The name by which the loader searches for the oneDNN of this program.
constexpr std::string_view kOnednnSoname = "libdnnl.so.3";

// A library under test: the files that contain it, the backends whose cases use it, and the
// variable by which a worker finds it.
struct TestedLibrary {
  std::string pattern;                // for messages: "libdnnl.so.*"
  std::vector<std::string> backends;  // also the names of the libraries of a side
  std::string variable;
  bool (*is_file)(const TestedLibrary& library, std::string_view file);
};

std::vector<TestedLibrary> tested_libraries() {
  std::vector<TestedLibrary> libraries = {
      {fmt::format("{}.*", kOnednnStem),
       {"onednn"},
       "LD_LIBRARY_PATH",
       [](const TestedLibrary&, std::string_view file) { return file.starts_with(kOnednnStem); }},
      {"libcudnn.so.*, libcublasLt.so.*, libcublas.so.*",
       {},
       "BENCH_CUDA_LIBS",
       [](const TestedLibrary&, std::string_view file) {
         return file.starts_with("libcudnn") || file.starts_with("libcublas");
       }}};
  for (const std::string_view backend : cuda_backend_names())
    libraries.back().backends.emplace_back(backend);
  for (const ops::BlasLibrary& library : ops::blas_libraries()) {
    libraries.push_back({std::string(library.files.front()),
                         {std::string(library.backend)},
                         library.variable,
                         [](const TestedLibrary& row, std::string_view file) {
                           return ops::is_file_of(*ops::find_blas_library(row.backends.front()),
                                                  file);
                         }});
  }
  return libraries;
}

bool contains_library(const TestedLibrary& library, const fs::path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (library.is_file(library, entry.path().filename().string())) return true;
  }
  return false;
}

// Returns the place of the library: `path` itself, or the folder below it; nullopt if it has none.
std::optional<fs::path> find_place(const TestedLibrary& library, const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    return library.is_file(library, path.filename().string()) ? std::optional(path) : std::nullopt;
  }
  for (const char* folder : {"", "lib", "lib64"}) {
    fs::path place = *folder == '\0' ? path : path / folder;
    if (contains_library(library, place)) return place;
  }
  return std::nullopt;
}

// Returns the value of the library's variable. The loader and bench's search for NVIDIA's libraries
// take folders; the others also take a file.
std::string variable_value(const TestedLibrary& library, const fs::path& place,
                           const std::optional<std::string>& inherited) {
  std::error_code code;
  const fs::path absolute = fs::absolute(place, code).lexically_normal();
  if (library.variable.starts_with("BENCH_") && library.variable != "BENCH_CUDA_LIBS")
    return absolute.string();
  fs::path folder = fs::is_directory(absolute, code) ? absolute : absolute.parent_path();
  // A path that ends with a slash has an empty last part.
  if (!folder.has_filename()) folder = folder.parent_path();
  return inherited && !inherited->empty() ? fmt::format("{}:{}", folder.string(), *inherited)
                                          : folder.string();
}

// Whether the loaded file is the place, or one of the files in it.
bool is_from(const std::string& loaded, const std::string& place) {
  std::error_code code;
  if (!fs::is_directory(place, code)) return loaded == place;
  return std::ranges::any_of(fs::directory_iterator(place, code), [&](const auto& entry) {
    return resolve_path(entry.path().string()) == loaded;
  });
}

const LoadedFile* find_loaded(const GateSide& side, std::string_view name) {
  const auto found = std::ranges::find(side.loaded, name, &LoadedFile::name);
  return found == side.loaded.end() ? nullptr : &*found;
}

std::string describe_loaded(const GateSide& side, const LoadedFile& file) {
  const auto version = side.libraries.find(file.name);
  return fmt::format("{} {} from {}", file.name,
                     version == side.libraries.end() ? "" : version->second, file.path);
}

}  // namespace

Result<SideLibrary> find_side_library(
    const std::string& path, const Plan& plan,
    const std::function<std::optional<std::string>(const std::string&)>& variable) {
  std::error_code code;
  if (!fs::exists(path, code)) {
    return Error{"does not exist", path, "name the file of a library, or the folder that has it"};
  }
  std::set<std::string_view> used;
  for (const Case& spec : plan.cases) used.insert(spec.key.backend);
  SideLibrary result{path, {}, {}, {}};
  std::vector<std::string> expected;
  for (const TestedLibrary& library : tested_libraries()) {
    const auto is_used = [&](const std::string& backend) { return used.contains(backend); };
    if (!std::ranges::any_of(library.backends, is_used)) continue;
    expected.push_back(library.pattern);
    const auto place = find_place(library, path);
    if (!place) continue;
    result.places.push_back(resolve_path(place->string()));
    result.names.insert(result.names.end(), library.backends.begin(), library.backends.end());
    result.variables[library.variable] =
        variable_value(library, *place, variable(library.variable));
  }
  if (result.names.empty()) {
    return Error{fmt::format("contains no library of these cases ({})", fmt::join(expected, "; ")),
                 path, "name the file of a library, or the folder that has it"};
  }
  return result;
}

Status check_side_library(const SideLibrary& library, const GateSide& side) {
  for (const std::string& name : library.names) {
    const LoadedFile* const loaded = find_loaded(side, name);
    if (loaded == nullptr) {
      if (is_cuda_backend(name)) continue;
      return Error{fmt::format("{} was not loaded", name), library.path,
                   "`bench doctor` with this variable says why: " +
                       fmt::format("{}={}", library.variables.begin()->first,
                                   library.variables.begin()->second)};
    }
    // One of several libraries of a GPU may be elsewhere.
    const bool is_one_of_several = library.names.size() > 1 && is_cuda_backend(name);
    const bool is_taken = std::ranges::any_of(
        library.places, [&](const std::string& place) { return is_from(loaded->path, place); });
    if (is_taken || is_one_of_several) continue;
    return Error{fmt::format("the side loaded {} instead", describe_loaded(side, *loaded)),
                 library.path,
                 name == "onednn"
                     ? fmt::format("the loader searches for {}: name the file of this name, or its "
                                   "folder",
                                   kOnednnSoname)
                     : "name another file or folder"};
  }
  return Done{};
}

Status check_libraries_differ(const std::vector<std::string>& names, const GateSide& base,
                              const GateSide& candidate) {
  std::vector<std::string> same;
  for (const std::string& name : names) {
    const LoadedFile *const a = find_loaded(base, name), *const b = find_loaded(candidate, name);
    if (a == nullptr || b == nullptr) continue;
    if (!a->is_same_build(*b)) return Done{};
    same.push_back(describe_loaded(base, *a));
  }
  if (same.empty()) return Done{};
  return Error{fmt::format("both sides loaded the same build: {}", fmt::join(same, ", ")), "",
               "name another build of the library for one side"};
}

}  // namespace bench
