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
#include "profiler/onednn/output_capture.hpp"
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

// What a profile states about a step of a kernel: its layer, and the operator, parameters, shapes
// and work from the operator's model. All of this is known before anything runs.
struct StepFacts {
  std::string name;       // name of the activity: the layer, else "reorder" or the operator
  std::string layer;      // layer of the network; empty for a problem
  std::string primitive;  // the library's name for the step: "convolution"
  std::string direction;
  Attributes
      attributes;  // op, parameters, dtype, implementation, layouts, shapes, macs, flops, bytes
};

// Returns one entry per step, or one for the whole problem or network if the kernel names no steps.
std::vector<StepFacts> step_facts(const Workload& workload, const ops::Kernel& kernel);

// What a step recorder reads from and writes to; not owned.
struct StepContext {
  Recorder* recorder;
  ApiCalls* api;  // null if another source reports the library's calls
  MemoryCollector* memory;
  OutputCapture* capture = nullptr;  // for verbose output, if the library prints
  VerboseCollector* verbose = nullptr;
  DeviceTrace* trace = nullptr;  // gets a region per step, attributed to the step of `case_id`
  std::string case_id = {};
  // If set, each step is announced before it runs: recorded as unfinished, followed by this call.
  std::function<void()> on_announced = {};
  // end: `trace` has the times of the device's work, so that no step must be awaited for them.
  ops::StepWait wait = ops::StepWait::each_step;
};

// Records the steps of one profiled iteration. It only notes their times while the iteration runs
// and turns them into activities afterwards. The iteration thus takes only a few clock reads
// longer.
class StepRecorder final : public ops::StepObserver {
 public:
  // Activities get the scope `path`, followed by their layer in a network. Their case is that of
  // the caller's scope.
  StepRecorder(std::vector<StepFacts> facts, std::string path, const StepContext& context,
               Clock& clock);

  ops::StepWait wait() const noexcept override { return context_.wait; }
  void begins(std::size_t step) noexcept override;
  void enqueued(std::size_t step) noexcept override;
  void done(std::size_t step) noexcept override;
  void part_begins(std::string_view name) noexcept override;
  void part_ends() noexcept override;

  // Call this after a successful execution. The steps that were not awaited end where they were
  // enqueued; what follows is the wait for all of them.
  void execution_ended() noexcept;
  // Whether the last execution ran steps without waiting for each.
  bool has_unawaited_steps() const { return waited_.has_value(); }
  // Discards the steps observed so far, and the library's output until now.
  void clear();
  // Records the observed steps, each with its calls and primitives, or with its named parts
  // "STEP::PART". Each moment belongs to the innermost part. If the library prints, a step during
  // which it printed no execution is one primitive: a kernel of another backend did the work.
  // `iteration`: nullopt if the steps belong to no iteration. Attributes the regions of the trace
  // to their steps. A step that did not end is `unfinished`. `printed`: bytes that the library
  // printed before the first step. Returns an error if the library's output cannot be read.
  Status write(std::optional<std::int64_t> iteration, std::int64_t printed = 0);
  // Sum of the durations of completed steps, and of the wait for those that were not awaited.
  Nanoseconds time_in_steps() const;

 private:
  struct ObservedStep {
    std::size_t step;  // index in facts_
    Nanoseconds begin{0};
    std::optional<Nanoseconds> enqueued, done;  // a step that is done was enqueued
    std::int64_t printed = 0;                   // bytes that the library had printed at its end
    std::size_t first_mark = 0;  // index in marks_; its marks end at those of the next step
    std::uint64_t region = 0;    // id of its region in the trace; 0 without a trace
    // The same for what follows until the next step begins, if the step is not awaited.
    std::uint64_t wait_region = 0;
  };
  // The begin of a part of a step, or its end if there is no name.
  struct Mark {
    Nanoseconds time{0};
    std::optional<std::size_t> name;  // index in part_names_
  };
  Activity make_operation(const ObservedStep& observed,
                          std::optional<std::int64_t> iteration) const;
  void end_step() noexcept;
  void announce(const ObservedStep& observed) const;
  void attribute_region(const ObservedStep& observed, const Activity& owner);
  void attribute_wait(const ObservedStep& observed, std::optional<std::int64_t> iteration);
  std::span<const Mark> find_marks(const ObservedStep& observed) const;
  void write_parts(const ObservedStep& observed, const Activity& owner);
  void write_calls(const ObservedStep& observed, const Activity& owner);
  Status write_primitives(const ObservedStep& observed, const Activity& owner, std::int64_t from);
  void write_step_as_primitive(const ObservedStep& observed, const Activity& owner);

  struct Wait {
    Nanoseconds begin{0}, end{0};
  };
  std::vector<StepFacts> facts_;
  std::string path_;
  std::vector<std::string> scopes_, ranges_;  // index: step
  StepContext context_;
  Clock& clock_;
  std::vector<ObservedStep> observed_;
  std::vector<Mark> marks_;
  std::optional<Wait> waited_;           // for the end of steps that were not awaited
  std::vector<std::string> part_names_;  // distinct
  std::optional<ScopeRange> range_;      // the range of the running step
  std::uint64_t executions_ = 0;         // last correlation id of an execution and its calls
};

}  // namespace bench
