// SPDX-License-Identifier: Apache-2.0
// The steps of one profiled iteration: their times are only noted while it runs, and become
// activities afterwards, so that recording costs the iteration a few clock reads.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/worker/device_trace.hpp"
#include "harness/worker/step_facts.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/api_calls/api_calls.hpp"
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

// Who gets what; none is owned.
struct StepSinks {
  Recorder* recorder;
  ApiCalls* api;  // null: calls of the library are told by others
  MemoryCollector* memory;
  OutputCapture* capture = nullptr;  // with verbose: of a library that prints
  VerboseCollector* verbose = nullptr;
  DeviceTrace* trace = nullptr;  // each step is a region, owned by what it is of `case_id`
  std::string case_id = {};
  std::function<void()> announced = {};  // set: each step is announced before it begins
};

class StepRecorder final : public ops::StepObserver {
 public:
  // Activities get the scope `path`, in a network followed by their layer. Case: that of the
  // caller's scope.
  StepRecorder(std::vector<StepFacts> facts, std::string path, const StepSinks& sinks,
               Clock& clock);

  void begins(std::size_t step) noexcept override;
  void enqueued(std::size_t step) noexcept override;
  void done(std::size_t step) noexcept override;
  void part_begins(std::string_view name) noexcept override;
  void part_ends() noexcept override;

  // Forgets the steps since the last time; what the library has printed until now is nobody's.
  void start_over();
  // Records them, each with its calls and primitives, or the parts that were named: "STEP::PART",
  // each moment in the innermost one; `iteration` where they belong to one. Their regions of the
  // trace are theirs from then on. A step
  // that did not end is `unfinished`. `printed`: by the library before the first step, in bytes.
  // Error: its output cannot be read.
  Status write(std::optional<std::int64_t> iteration, std::int64_t printed = 0);
  Nanoseconds in_steps() const;  // sum of the durations of those that ended

 private:
  struct Taken {
    std::size_t step;
    Nanoseconds begin{0};
    std::optional<Nanoseconds> enqueued, done;
    std::int64_t printed = 0;    // bytes until its end
    std::size_t first_mark = 0;  // in marks_, up to the next one's
    std::uint64_t region = 0;    // of the trace
  };
  // Where a part of a step begins or, without a name, ends.
  struct Mark {
    Nanoseconds time{0};
    std::optional<std::size_t> name;  // in part_names_
  };
  Activity operation(const Taken& taken, std::optional<std::int64_t> iteration) const;
  void announce(const Taken& taken) const;
  void own_region(const Taken& taken, const Activity& owner);
  std::span<const Mark> marks_of(const Taken& taken) const;
  void write_parts(const Taken& taken, const Activity& owner);
  void write_calls(const Taken& taken, const Activity& like);
  Status write_primitives(const Taken& taken, const Activity& owner, std::int64_t from);

  std::vector<StepFacts> facts_;
  std::vector<std::string> scopes_, ranges_;  // by step
  StepSinks sinks_;
  Clock& clock_;
  std::vector<Taken> taken_;
  std::vector<Mark> marks_;
  std::vector<std::string> part_names_;  // distinct
  std::optional<ScopeRange> range_;      // of the step that runs
  std::uint64_t executions_ = 0;         // correlates calls with what they execute
};

}  // namespace bench
