// SPDX-License-Identifier: Apache-2.0
// A worker program started for one line of output and nothing else.
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

// The first line that it writes to standard output. Error: it does not start, writes nothing within
// the limit, or ends otherwise than with status 0; the reason has what it wrote to standard error.
Result<std::string> worker_document(const DocumentRequest& request, Env& env);

}  // namespace bench
