// SPDX-License-Identifier: Apache-2.0
// The worker process. It reads JSON lines from descriptor `in` and writes them to `out`; standard
// output stays free for libraries that print. The protocol is in docs/worker_protocol.md; its
// version is kProtocolVersion.
#pragma once

#include "base/env.hpp"
#include "harness/worker/worker_context.hpp"
#include "ops/backend/kernel.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Serves commands until `quit`, end of input, or the death of the coordinator. Returns the
// process's exit status.
int serve(int in, int out, ops::Backend& backend, Clock& clock);
// The same, but creates the context only after protecting the standard streams from the libraries'
// output.
using WorkerContextFactory = std::function<std::shared_ptr<WorkerContext>()>;
int serve(int in, int out, const WorkerContextFactory& make_worker_context, Clock& clock);

// Returns the document of `bench worker --describe`: operators with parameters, directions, data
// types, backends, devices and libraries as JSON. `probed`: names of the backends whose devices and
// libraries it states, besides the first backend; nullopt for all. To state a library, the function
// loads it.
std::string describe(WorkerContext& context,
                     const std::optional<std::vector<std::string>>& probed = std::nullopt);
// Returns the document of `bench worker --probe onednn`: a document of --describe with only the
// device of oneDNN, whose library has version and path. It also works if the loaded library lacks
// functions that this program needs.
std::string identify_onednn();

}  // namespace bench
