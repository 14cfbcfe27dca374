// SPDX-License-Identifier: Apache-2.0
// The state of a running profile pass (profile_pass.hpp). profile_pass.cpp creates and ends it,
// profile_iterations.cpp runs its iterations, profile_trace.cpp adds the device's part.
#pragma once

#include "harness/config/case_id.hpp"
#include "harness/worker/device_trace.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/profile_pass.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/spool.hpp"
#include "harness/worker/steps.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Keeps the activities that it receives.
class KeptActivities final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    kept_.push_back(activity);
    return Done{};
  }
  std::vector<Activity> take() { return std::exchange(kept_, {}); }

 private:
  std::vector<Activity> kept_;
};

class ProfilePass {
 public:
  ProfilePass(const ProfilePassContext& context, const ProfileRequest& request,
              ActivitySpool& spool, ProfileSwitches switches, CaseKey key)
      : context_(context),
        request_(request),
        spool_(spool),
        switches_(std::move(switches)),
        key_(std::move(key)),
        order_(spool,
               request.announce ? OrderedSink::Order::arrival : OrderedSink::Order::end_time),
        recorder_(context.clock, order_, switches_.groups),
        api_(recorder_),
        memory_(recorder_, switches_.sample_rate),
        device_recorder_(context.clock, device_memory_activities_, switches_.groups),
        device_memory_(device_recorder_, 0),
        overhead_(
            context.clock, [this] { return iteration_time(plain_iteration()); },
            [this] { return iteration_time(profiled_iteration()); }) {}
  ~ProfilePass() { set_collecting(Collecting::none); }
  ProfilePass(const ProfilePass&) = delete;
  ProfilePass& operator=(const ProfilePass&) = delete;

  Result<ProfiledReply, ErrorReply> run();

 private:
  enum class Collecting { none, all };  // none: as the timing pass runs
  void set_collecting(Collecting collecting);
  using ReplyStatus = Result<Done, ErrorReply>;
  static ErrorReply failed(const Error& error) { return {Outcome::failed, error.message()}; }
  bool is_announcing() const { return request_.announce; }
  bool observes_steps() const {
    return is_tracing() || switches_.records(RecordGroup::operators) ||
           switches_.records(RecordGroup::api) ||
           (switches_.records(RecordGroup::memory) && switches_.sample_rate > 0);
  }

  bool is_tracing() const { return trace_ && trace_->is_recording(); }
  // Returns the collector for the kernel's buffers, which are in host or device memory.
  MemoryCollector* buffer_memory() {
    return context_.backend.memory() != nullptr ? &device_memory_ : &memory_;
  }

  Status capture_output();
  ReplyStatus measure(const Workload& workload);
  ReplyStatus prepare(const Workload& workload, const InputValues& values);
  ReplyStatus prepare_and_check(const Workload& workload, const InputValues& values);
  ReplyStatus check(const Workload& workload, const InputValues& values);
  Status announce(const Activity& range);
  Status bind();
  Status run_iterations();
  Status record_iteration(std::int64_t number);
  struct Iteration {
    Nanoseconds start{0};
    Nanoseconds duration{0};
  };
  Result<Iteration> plain_iteration();
  Result<Iteration> profiled_iteration();
  static Result<Nanoseconds> iteration_time(const Result<Iteration>& iteration) {
    if (!iteration) return iteration.error();
    return iteration->duration;
  }
  Status measure_overhead_before();
  Status measure_overhead_after();
  // Records the device's activities and buffers.
  void finish_trace();
  void add_engine_verdict();
  void record_device_memory();
  Status forward();
  void make_steps(const Workload& workload, const ops::Kernel& kernel);
  void finish_reply();

  const ProfilePassContext& context_;
  const ProfileRequest& request_;
  ActivitySpool& spool_;
  const ProfileSwitches switches_;
  const CaseKey key_;
  OrderedSink order_;
  Recorder recorder_;
  ApiCalls api_;
  MemoryCollector memory_;
  // Collect the kernel's own buffers on a device. If a trace records memory, they are not used.
  KeptActivities device_memory_activities_;
  Recorder device_recorder_;
  MemoryCollector device_memory_;
  std::optional<DeviceTrace> trace_;
  bool has_traced_memory_ = false;  // the trace has reported the device's memory
  std::unique_ptr<OutputCapture> capture_;
  bool is_printing_ = false;  // whether the library prints now
  std::optional<VerboseCollector> verbose_;
  std::string path_;
  std::optional<StepRecorder> steps_;
  std::optional<PreparedKernel> prepared_;
  std::optional<Arena> arena_;
  std::unique_ptr<Rotation> rotation_;
  ProfilerOverhead overhead_;
  ProfiledReply reply_;
};

}  // namespace bench
