// SPDX-License-Identifier: Apache-2.0
// The worker process: JSON lines in on descriptor `in`, out on `out` (standard output stays free
// for libraries that print). Protocol in docs/worker_protocol.md; its version is kProtocolVersion.
#pragma once

#include "base/env.hpp"
#include "ops/kernel.hpp"

#include <memory>
#include <string>

namespace bench {

inline constexpr int kProtocolVersion = 1;

// Serves commands until `quit`, end of input, or the death of the coordinator. Returns the
// process's exit status.
int serve(int in, int out, ops::Backend& backend, Clock& clock);

// `bench worker --describe`: operators with parameters, directions, data types, devices and
// libraries as one JSON document.
std::string describe(ops::Backend& backend);

}  // namespace bench
