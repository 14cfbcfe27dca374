// SPDX-License-Identifier: Apache-2.0
// One step of a run: one case in one worker process, from preparation to its process record.
#pragma once

#include "base/env.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/quiet.hpp"
#include "harness/result/record.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

// The first request to a worker for every way of measuring a case.

// Requests a check against the reference. `input_layouts`: for a layer, else empty.
PrepareRequest prepare_request(const Case& spec, std::uint64_t seed,
                               ops::InputLayouts input_layouts);

struct StepRequest {
  enum class Extent { prepare_only, measure };
  const Case* spec;
  int process = 0;
  std::uint64_t seed = 1;
  CheckKind check = CheckKind::reference;
  const OutputSample* expected = nullptr;  // from the first process, with CheckKind::expected
  Extent extent = Extent::measure;
  ops::InputLayouts input_layouts{};  // for a layer
  // If not empty, the worker runs one round of min_iterations inside a range of this name, for a
  // vendor's tool.
  std::string range{};
  // Learns from the canaries of the samples; null: every sample counts.
  QuietLevels* levels = nullptr;
  // Measuring ends at this time with StopReason::budget, but after at least one round.
  Nanoseconds deadline = Nanoseconds::max();
};

struct StepResult {
  std::optional<PreparedReply> prepared;
  // Why the case ended: the worker refused it, or the worker failed.
  std::optional<ErrorReply> ended;
  // Has at least one sample, or only discarded ones. Also set if the step was abandoned after a
  // round.
  std::optional<ProcessRecord> record;
  enum class Course { whole, abandoned };
  Course course = Course::whole;  // abandoned: interrupted while the worker was busy
};

StepResult run_step(WorkerSession& session, const StepRequest& request, Clock& clock);

}  // namespace bench
