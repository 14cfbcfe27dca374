// SPDX-License-Identifier: Apache-2.0
// Creating folders.
#pragma once

#include "base/result.hpp"

#include <string>

namespace bench {

// Creates the folder and its parents. Succeeds if it exists. The error gives the system's reason;
// the caller may add what to do next.
Status create_folder(const std::string& path);

}  // namespace bench
