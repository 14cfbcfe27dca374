// SPDX-License-Identifier: Apache-2.0
// Finds out which files a running process has loaded. They show whether the loader obeyed variables
// such as LD_LIBRARY_PATH and LD_PRELOAD.
#pragma once

#include "harness/host/environment.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bench {

// All paths are absolute and contain no symbolic links.
struct ProcessFiles {
  std::string program;
  std::vector<std::string> libraries;  // sorted, without the program
};

// Returns the files from which the process executes code. Returns nullopt if the system does not
// show them, for example because the process has ended.
std::optional<ProcessFiles> read_process_files(const SystemRoot& root, pid_t pid);

}  // namespace bench
