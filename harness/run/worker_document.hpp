// SPDX-License-Identifier: Apache-2.0
// Starts a worker program for a single line of output.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace bench {

struct DocumentRequest {
  std::string worker_program;                             // run as `PROGRAM worker ARGUMENT...`
  std::vector<std::string> arguments;                     // {"--describe"}
  std::map<std::string, std::string> worker_environment;  // overrides
  Nanoseconds limit{0};
};

// Returns the first line that it writes to standard output. Returns an error if it does not start,
// writes nothing within the limit, or ends with a status other than 0. The reason includes its
// standard error.
Result<std::string> worker_document(const DocumentRequest& request, Env& env);

}  // namespace bench
