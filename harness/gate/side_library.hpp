// SPDX-License-Identifier: Apache-2.0
// The options --base-library and --cand-library: a side that loads another build of a library under
// test, with the checks that it did.
#pragma once

#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/judge/evidence_file.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A library, or the libraries of a folder, that a side must load.
struct SideLibrary {
  std::string path;  // as the user wrote it: a file or a folder
  // Folders and files that contain what must be loaded, without symbolic links.
  std::vector<std::string> places;
  // Names of the libraries, as in GateSide::libraries: "onednn"; "cudnn", "cublaslt", "cublas".
  std::vector<std::string> names;
  // The variables by which a worker of the side loads them.
  std::map<std::string, std::string> variables;
};

// Finds the libraries below `path` that the plan's cases use: oneDNN, cuDNN and cuBLAS, and the
// libraries of matrix products. A folder may also be the prefix of an installation, with its
// libraries in lib or lib64. `variable` reads the environment that workers inherit. Error: the path
// does not exist, or contains no library of the plan's backends.
Result<SideLibrary> find_side_library(
    const std::string& path, const Plan& plan,
    const std::function<std::optional<std::string>(const std::string&)>& variable);

// Checks that a side loaded its library from there. Skips libraries of a GPU that the side does not
// state, because the machine has no GPU. `side` must have been inspected.
Status check_side_library(const SideLibrary& library, const GateSide& side);

// Checks that the sides loaded different builds of at least one of the libraries. Both sides must
// have been inspected.
Status check_libraries_differ(const std::vector<std::string>& names, const GateSide& base,
                              const GateSide& candidate);

}  // namespace bench
