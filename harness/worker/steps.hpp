// SPDX-License-Identifier: Apache-2.0
// What a profile pass records of each step of a kernel.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/worker/device_trace.hpp"
#include "harness/worker/workload.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/api_calls/api_calls.hpp"
#include "profiler/attribute.hpp"
#include "profiler/memory/memory_collector.hpp"
#include "profiler/onednn/capture.hpp"
#include "profiler/onednn/verbose_collector.hpp"
#include "profiler/recorder.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What a profile states about each step of a kernel: its layer and, from the one work model,
// operator, parameters, shapes and work. All of this is known before anything runs.

struct StepFacts {
  std::string name;   // name of the operator's activity: its layer, else "reorder" or the operator
  std::string layer;  // in a network; empty for a problem
  std::string primitive;  // the library's name for it: "convolution"
  std::string direction;
  Attributes
      attributes;  // op, parameters, dtype, implementation, layouts, shapes, macs, flops, bytes
};

// Returns one entry per step, or one for the whole problem if the kernel names no steps.
std::vector<StepFacts> step_facts(const Workload& workload, const ops::Kernel& kernel);

// The steps of one profiled iteration. Their times are only noted while it runs and become
// activities afterwards, so that recording costs the iteration only a few clock reads.

// Receivers of the data; not owned.
struct StepSinks {
  Recorder* recorder;
  ApiCalls* api;  // null: others report the library's calls
  MemoryCollector* memory;
  OutputCapture* capture = nullptr;  // for verbose output, if the library prints
  VerboseCollector* verbose = nullptr;
  DeviceTrace* trace = nullptr;  // each step is a region, attributed to its part of `case_id`
  std::string case_id = {};
  std::function<void()> announced = {};  // if set, each step is announced before it begins
};

class StepRecorder final : public ops::StepObserver {
 public:
  // Activities get the scope `path`, followed by their layer in a network. Their case is that of
  // the caller's scope.
  StepRecorder(std::vector<StepFacts> facts, std::string path, const StepSinks& sinks,
               Clock& clock);

  void begins(std::size_t step) noexcept override;
  void enqueued(std::size_t step) noexcept override;
  void done(std::size_t step) noexcept override;
  void part_begins(std::string_view name) noexcept override;
  void part_ends() noexcept override;

  // Discards the steps since the last call; the library's output until now is not attributed.
  void start_over();
  // Records the steps, each with its calls and primitives, or its named parts "STEP::PART". Each
  // moment belongs to the innermost part. `iteration` is set if the steps belong to one. Their
  // regions of the trace then belong to them. A step that did not end is `unfinished`. `printed`:
  // bytes that the library printed before the first step. Returns an error if the library's output
  // cannot be read.
  Status write(std::optional<std::int64_t> iteration, std::int64_t printed = 0);
  Nanoseconds in_steps() const;  // sum of the durations of completed steps

 private:
  struct Taken {
    std::size_t step;
    Nanoseconds begin{0};
    std::optional<Nanoseconds> enqueued, done;
    std::int64_t printed = 0;    // bytes printed until its end
    std::size_t first_mark = 0;  // index in marks_; its marks end at those of the next step
    std::uint64_t region = 0;    // region in the trace
  };
  // Where a part of a step begins; without a name, where it ends.
  struct Mark {
    Nanoseconds time{0};
    std::optional<std::size_t> name;  // index in part_names_
  };
  Activity operation(const Taken& taken, std::optional<std::int64_t> iteration) const;
  void announce(const Taken& taken) const;
  void own_region(const Taken& taken, const Activity& owner);
  std::span<const Mark> find_marks(const Taken& taken) const;
  void write_parts(const Taken& taken, const Activity& owner);
  void write_calls(const Taken& taken, const Activity& like);
  Status write_primitives(const Taken& taken, const Activity& owner, std::int64_t from);

  std::vector<StepFacts> facts_;
  std::vector<std::string> scopes_, ranges_;  // index: step
  StepSinks sinks_;
  Clock& clock_;
  std::vector<Taken> taken_;
  std::vector<Mark> marks_;
  std::vector<std::string> part_names_;  // distinct
  std::optional<ScopeRange> range_;      // the range of the running step
  std::uint64_t executions_ = 0;         // correlates calls with their executions
};

}  // namespace bench
