// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_pass.hpp"

#include "harness/config/case_id.hpp"
#include "harness/result/typed_details.hpp"
#include "harness/stats/summary.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/device_trace.hpp"
#include "harness/worker/memory.hpp"
#include "harness/worker/prepared_kernel.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/spool.hpp"
#include "harness/worker/steps.hpp"
#include "harness/worker/thrown_reply.hpp"
#include "harness/worker/warmup.hpp"
#include "harness/worker/workload.hpp"
#include "ops/operator.hpp"
#include "profiler/kernel_names/kernel_names.hpp"
#include "profiler/scope_path.hpp"
#include "profiler/switches.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

std::optional<ProfilerCalls> find_profiler_calls() {
  ProfilerCalls calls;
  if (fill_functions(DynamicLibrary::whole_process(), calls)) return calls;
  // CUDA's runtime loads the driver privately, so its names are not in the global scope.
  const auto driver = DynamicLibrary::find_loaded("libcuda.so.1");
  if (!driver || !fill_functions(*driver, calls)) return std::nullopt;
  return calls;
}

ProfilerWindow::ProfilerWindow(const std::optional<ProfilerCalls>& calls) : calls_(calls) {
  if (calls_) calls_->start();
}

ProfilerWindow::~ProfilerWindow() {
  if (calls_) calls_->stop();
}

ProfilerOverhead::ProfilerOverhead(Clock& clock, Iteration plain, Iteration profiled)
    : clock_(clock), plain_{std::move(plain), {}}, profiled_{std::move(profiled), {}} {}

Status ProfilerOverhead::Side::measure_once() {
  BENCH_ASSIGN_OR_RETURN(const Nanoseconds time, run());
  times.push_back(time);
  return Done{};
}

// Alternates the order within pairs. Machine drift then affects both kinds equally. Each kind also
// follows its own kind as often as the other, which matters because an iteration inherits the cache
// contents of the previous one.
Status ProfilerOverhead::measure_half() {
  const Nanoseconds start = clock_.now();
  for (std::int64_t i = 0; i < kMaxOverheadPairs / 2; ++i) {
    const bool plain_first = i % 2 == 0;
    BENCH_RETURN_IF_ERROR((plain_first ? plain_ : profiled_).measure_once());
    BENCH_RETURN_IF_ERROR((plain_first ? profiled_ : plain_).measure_once());
    if (clock_.now() - start >= kMaxOverheadTime) break;
  }
  return Done{};
}

Status ProfilerOverhead::measure(Side& side) {
  const Nanoseconds start = clock_.now();
  for (std::int64_t i = 0; i < kMaxOverheadPairs; ++i) {
    BENCH_RETURN_IF_ERROR(side.measure_once());
    if (clock_.now() - start >= kMaxOverheadTime) break;
  }
  return Done{};
}

Nanoseconds ProfilerOverhead::plain() const {
  return median(plain_.times).value_or(Nanoseconds(0));
}
Nanoseconds ProfilerOverhead::profiled() const {
  return median(profiled_.times).value_or(Nanoseconds(0));
}

namespace {

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

Result<ProfileSwitches> parse_switches(const std::map<std::string, std::string>& settings) {
  ProfileSwitches switches;
  for (const auto& [name, value] : settings) {
    const SwitchRow* row = find_switch(name);
    if (row == nullptr) return Error{"unknown switch `" + name + "` of the profiler", "", ""};
    BENCH_RETURN_IF_ERROR(row->apply(switches, value));
  }
  return switches;
}

Nanoseconds wall_clock_now() {
  return std::chrono::duration_cast<Nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

Status ProfilePass::capture_output() {
  if (!switches_.records(RecordGroup::operators)) return Done{};
  BENCH_ASSIGN_OR_RETURN(auto capture, OutputCapture::start());
  if (!context_.backend.set_output(ops::LibraryOutput::creations_and_executions)) return Done{};
  is_printing_ = true;
  capture_ = std::move(capture);
  verbose_.emplace(recorder_, *capture_, context_.decoder, wall_clock_now() - context_.clock.now());
  return Done{};
}

Result<ProfiledReply, ErrorReply> ProfilePass::run() {
  // This must come first: admit() asks the device for its free memory, which creates its context.
  // If a context is older than the tracer, CUPTI before 13.3.3 may report times on CLOCK_REALTIME.
  trace_.emplace(context_.backend, switches_);
  auto workload = admit(key_, request_.prepare.network.get(), context_.backend, context_.available,
                        context_.registry);
  if (!workload) return std::move(workload).error();
  if (Status captured = capture_output(); !captured) return failed_reply(captured.error());
  set_candidates(context_.backend, request_.prepare, key_.cache, context_.arena);
  recorder_.start();
  device_recorder_.start();
  ReplyStatus measured = Done{};
  {
    ScopeSpec whole_case;
    whole_case.case_id = request_.prepare.id;
    whole_case.direction = to_string(key_.direction);
    whole_case.kind = std::nullopt;
    std::deque<Scope> scopes;
    scopes.emplace_back(&recorder_, std::move(whole_case));
    for (const std::string& name : request_.scope) {
      ScopeSpec layer;
      layer.name = name;
      layer.kind = std::nullopt;
      scopes.emplace_back(&recorder_, std::move(layer));
      path_ = append_scope(path_, name);
    }
    measured = measure(*workload);
    finish_trace();  // also if measure() failed
    // Released here, inside the case's scope, so that the releases are recorded for the case.
    rotation_.reset();
    prepared_.reset();
    arena_.reset();
    memory_.finish();
    record_device_memory();
    while (!scopes.empty()) scopes.pop_back();
  }
  set_collecting(Collecting::none);
  recorder_.stop();
  const Status forwarded = forward();
  if (!measured) return std::move(measured).error();
  if (!forwarded) return failed_reply(forwarded.error());
  if (Status status = recorder_.status(); !status) return failed_reply(status.error());
  finish_reply();
  return std::move(reply_);
}

Result<Done, ErrorReply> ProfilePass::measure(const Workload& workload) {
  const InputValues values = input_values(workload, request_.prepare.seed);
  for (;;) {
    auto checked = prepare_and_check(workload, values);
    if (checked) break;
    if (!takes_next_engine(context_.backend, workload, checked.error())) return checked;
    prepared_.reset();
  }
  if (Status status = bind(); !status) return failed_reply(status.error());
  if (Status status = run_iterations(); !status) return failed_reply(status.error());
  return Done{};
}

Result<Done, ErrorReply> ProfilePass::prepare_and_check(const Workload& workload,
                                                        const InputValues& values) {
  BENCH_RETURN_IF_ERROR(prepare(workload, values));
  set_collecting(Collecting::none);
  if (request_.prepare.check == CheckKind::none) return Done{};
  return check(workload, values);
}

// Records everything from the library's first call to the first run. The first run is not an
// iteration. Its steps are recorded only if the pass announces them, to locate a failure.
Result<Done, ErrorReply> ProfilePass::prepare(const Workload& workload, const InputValues& values) {
  set_collecting(Collecting::all);
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "preparation";
  range.start = recorder_.now();
  if (Status status = announce(range); !status) return failed_reply(status.error());
  // An earlier engine may have been rejected: what it printed and ran is recorded already.
  const std::int64_t first = capture_ ? capture_->written() : 0;
  steps_.reset();
  SetupObservers observers{&memory_, buffer_memory(), {}};
  std::optional<std::int64_t> printed;  // bytes before the first run, once that is reached
  observers.first_run = [&](ops::Kernel& kernel) -> ops::StepObserver* {
    make_steps(workload, kernel);
    if (capture_) printed = capture_->written();
    if (is_announcing()) return &*steps_;
    set_collecting(Collecting::none);
    return nullptr;
  };
  auto prepared =
      PreparedKernel::build(context_.backend, workload, values, context_.clock, context_.available,
                            request_.prepare.input_layouts, observers);
  if (verbose_) {
    VerboseOrigin origin;
    origin.begin = range.start;
    origin.end = recorder_.now();
    origin.owner.scope = path_;
    const std::int64_t end = printed ? *printed : capture_->written();
    const auto phases = is_announcing() ? VerbosePhases::all : VerbosePhases::creations;
    if (Status status = verbose_->collect(first, end, origin, phases); !status) {
      return failed_reply(status.error());
    }
  }
  if (steps_ && is_announcing()) {
    if (Status status = steps_->write(std::nullopt, printed.value_or(0)); !status) {
      return failed_reply(status.error());
    }
  }
  range.duration = recorder_.now() - range.start;
  recorder_.record(std::move(range));
  if (Status status = forward(); !status) return failed_reply(status.error());
  if (!prepared) return to_error_reply(prepared.error());
  prepared_.emplace(std::move(*prepared));
  return Done{};
}

void ProfilePass::make_steps(const Workload& workload, const ops::Kernel& kernel) {
  StepContext step_context{&recorder_, &api_, &memory_};
  step_context.capture = capture_.get();
  if (verbose_) step_context.verbose = &*verbose_;
  step_context.trace = &*trace_;
  step_context.case_id = request_.prepare.id;
  // On a device, the trace records the library's calls under their own names.
  if (context_.backend.memory() != nullptr) step_context.api = nullptr;
  // A pass that locates a failure waits for each step, so that the failure appears in its step.
  if (is_tracing() && switches_.records(RecordGroup::device) && !is_announcing())
    step_context.wait = ops::StepWait::end;
  if (is_announcing()) {
    // Ignores an error: if writing fails here, later writes also fail and report it.
    step_context.on_announced = [this] { static_cast<void>(spool_.flush()); };
  }
  steps_.emplace(step_facts(workload, kernel), path_, step_context, context_.clock);
}

// Call this before work that may not return. If the pass announces its work, this writes the record
// of the range to disk before the work begins.
Status ProfilePass::announce(const Activity& range) {
  if (!is_announcing()) return Done{};
  recorder_.record_unfinished(range);
  return spool_.flush();
}

// Checks the result of the first run. If the result is wrong and the pass announces its work, the
// record shows an unfinished range "check".
Result<Done, ErrorReply> ProfilePass::check(const Workload& workload, const InputValues& values) {
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "check";
  range.start = recorder_.now();
  if (Status status = announce(range); !status) return failed_reply(status.error());
  const CheckRequest check{request_.prepare.check, request_.prepare.expected, request_.prepare.seed,
                           context_.available};
  auto verified = verify(context_.backend, workload, *prepared_, values, check, context_.clock);
  if (!verified) return std::move(verified).error();
  reply_.details["check"] = verified->text;
  range.duration = recorder_.now() - range.start;
  recorder_.record(std::move(range));
  return Done{};
}

// Binds the kernel to the buffers of the cache mode. Does not record the backend's calls: there may
// be thousands of equal ones, one per set of buffers.
Status ProfilePass::bind() {
  if (key_.cache != CacheMode::hot) {
    ops::DeviceMemory* device = context_.backend.memory();
    const Bytes requested = request_.prepare.reuse_distance.value_or(Bytes{0});
    const Bytes size = device != nullptr ? device_arena_size(*device, requested) : context_.arena;
    BENCH_ASSIGN_OR_RETURN(Arena arena, Arena::create(size, kArenaSeed, buffer_memory(), device));
    arena_.emplace(std::move(arena));
  }
  const std::vector<void*> own = prepared_->addresses();
  BENCH_ASSIGN_OR_RETURN(rotation_, bind_rotation(prepared_->kernel(), own, key_.cache,
                                                  request_.prepare.reuse_distance,
                                                  arena_ ? &*arena_ : nullptr, reply_.details));
  return Done{};
}

// Iterations: plain ones, as the timing pass runs them, and recorded ones.

void ProfilePass::set_collecting(Collecting collecting) {
  const bool none = collecting == Collecting::none;
  ops::Collectors collectors;
  if (!none && switches_.records(RecordGroup::api)) collectors.api = &api_;
  // Kernels keep the collector beyond this call, so that it also receives what they release.
  if (!none) collectors.memory = &memory_;
  context_.backend.observe(collectors);
  const bool prints = !none && capture_ != nullptr;
  if (prints == is_printing_) return;  // setting it again would override the environment's setting
  is_printing_ = prints;
  context_.backend.set_output(prints ? ops::LibraryOutput::creations_and_executions
                                     : ops::LibraryOutput::none);
}

Status ProfilePass::run_iterations() {
  if (!is_announcing()) {
    auto warm =
        warm_up(*rotation_, request_.warmup_iterations, request_.warmup_time, context_.clock);
    if (!warm) return std::move(warm).error();
    BENCH_RETURN_IF_ERROR(measure_overhead_before());
  }
  // The window opens before the first recorded iteration. For a failing case it is not opened,
  // because opening discards the activities of the first run.
  bool is_window_open = is_announcing();
  const auto [first, last] = switches_.iteration_window();
  for (std::int64_t i = 0; i <= last; ++i) {
    if (is_announcing() || i >= first) {
      if (!std::exchange(is_window_open, true)) BENCH_RETURN_IF_ERROR(trace_->open_window());
      BENCH_RETURN_IF_ERROR(record_iteration(i));
    } else if (auto time = plain_iteration(); !time) {
      return std::move(time).error();
    }
  }
  return is_announcing() ? Status(Done{}) : measure_overhead_after();
}

// A trace cannot be switched off between iterations and also slows plain iterations. With a trace,
// profiled iterations are therefore measured before its end and plain ones after it.
Status ProfilePass::measure_overhead_before() {
  return is_tracing() ? overhead_.measure_profiled() : overhead_.measure_half();
}

Status ProfilePass::measure_overhead_after() {
  if (!is_tracing()) return overhead_.measure_half();
  finish_trace();
  return overhead_.measure_plain();
}

Result<ProfilePass::Iteration> ProfilePass::plain_iteration() {
  set_collecting(Collecting::none);
  const Nanoseconds start = context_.clock.now();
  const auto sample = take_sample(*rotation_, 1, context_.clock);
  if (!sample) return Error{rotation_->failure(), "", ""};
  return Iteration{start, *sample};
}

// Leaves its steps in steps_; nothing is recorded yet.
Result<ProfilePass::Iteration> ProfilePass::profiled_iteration() {
  if (!observes_steps()) return plain_iteration();
  set_collecting(Collecting::all);
  steps_->clear();
  ScopeSpec spec;
  spec.case_id = request_.prepare.id;
  const Scope range(nullptr, std::move(spec));
  const Nanoseconds start = context_.clock.now();
  const bool ok = rotation_->run_observed(*steps_);
  if (ok) steps_->execution_ended();
  const Nanoseconds time = context_.clock.now() - start;
  if (!ok) return Error{rotation_->failure(), "", ""};
  return Iteration{start, time};
}

Status ProfilePass::record_iteration(std::int64_t number) {
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "iteration";
  range.attributes.set(Attribute::iteration, number);
  const auto iteration = profiled_iteration();
  if (observes_steps()) {
    BENCH_RETURN_IF_ERROR(steps_->write(number));  // also for a failed iteration
    reply_.attributed += steps_->time_in_steps();
  }
  if (!iteration) return iteration.error();
  if (observes_steps() && steps_->has_unawaited_steps())
    reply_.details[kUnawaitedStepsDetail] = "the host waited only for the end of each iteration";
  range.start = iteration->start;
  range.duration = iteration->duration;
  recorder_.record(std::move(range));
  ++reply_.iterations;
  reply_.wall += iteration->duration;
  return forward();
}

// The device: the activities in its trace, and its memory.

void ProfilePass::finish_trace() {
  if (!is_tracing()) return;
  const bool traces_memory = trace_->is_recording_memory();  // false after finish()
  const auto find_tag = [this](const GpuAllocation& allocation) -> std::optional<GpuAllocationTag> {
    const auto* address = reinterpret_cast<const void*>(allocation.address);
    const auto block = device_memory_.find(address);
    if (!block || block->size.count != allocation.bytes) return std::nullopt;
    return GpuAllocationTag{block->name, block->role};
  };
  const auto join = trace_->finish(find_tag);
  if (!join) {
    reply_.details[kTraceVoidDetail] = join.error().message();
    return;
  }
  // The join contains only requested activities. A counter does not state its group.
  const RecordGroup counters =
      switches_.records(RecordGroup::device) ? RecordGroup::device : RecordGroup::memory;
  for (const Activity& activity : join->activities) {
    if (activity.kind == ActivityKind::counter) {
      recorder_.record(activity, counters);
    } else {
      recorder_.record(activity);
    }
  }
  has_traced_memory_ = traces_memory;
  for (auto& [name, value] : trace_details(*join, *trace_)) reply_.details[name] = value;
  add_engine_verdict();
  reply_.notes.insert(reply_.notes.end(), join->notes.begin(), join->notes.end());
}

// The note of a library's engine is stronger evidence than the names of its kernels. Networks have
// several engines, and operators without a product have notes that mean nothing.
void ProfilePass::add_engine_verdict() {
  const ops::Operator* op = ops::find_operator(key_.op);
  if (op == nullptr || op->product.facts == nullptr) return;
  const auto details = prepared_->kernel().details();
  const auto engine = details.find("engine");
  if (engine == details.end()) return;
  const TensorCoreVerdict verdict = engine_verdict(engine->second, key_.dtype);
  if (verdict.use == TensorCoreUse::unknown) return;
  reply_.details["tensor_cores"] = format_verdict(verdict);
}

// Records the buffers on a device, unless the trace has reported them. Omits the address of a
// workspace, which only a trace knows.
void ProfilePass::record_device_memory() {
  device_memory_.finish();
  for (Activity& activity : device_memory_activities_.take()) {
    if (has_traced_memory_) continue;
    if (activity.attributes.text(Attribute::role) == kWorkspaceRole) {
      activity.attributes.erase(Attribute::address);
    }
    if (activity.kind == ActivityKind::counter) {
      recorder_.record(activity, RecordGroup::memory);
    } else {
      recorder_.record(activity);
    }
  }
}

// The end of the pass.

// Forwards the recorded activities to the spool. During a trace it forwards nothing, unless the
// pass announces its work: the device's activities become known only at the end of the trace, and
// their times are between the host's.
Status ProfilePass::forward() {
  if (is_tracing() && !is_announcing()) return Done{};
  BENCH_RETURN_IF_ERROR(order_.release());
  return spool_.flush();
}

void ProfilePass::finish_reply() {
  reply_.profiled = overhead_.profiled();
  reply_.unprofiled = overhead_.plain();
  reply_.unattributed = reply_.wall - reply_.attributed;
  reply_.activities = spool_.count();
  reply_.peak = memory_.peak() + device_memory_.peak();
  if (!trace_->obstacle().empty()) {
    reply_.details[kTraceNoteDetail] = trace_->obstacle();
    reply_.notes.push_back(trace_->obstacle());
  }
  if (!verbose_) return;
  reply_.malformed = verbose_->malformed();
  reply_.unknown = verbose_->unknown();
  const std::vector<std::string> notes = verbose_->notes();
  reply_.notes.insert(reply_.notes.end(), notes.begin(), notes.end());
  reply_.details.insert(context_.decoder.facts().begin(), context_.decoder.facts().end());
}

}  // namespace

Result<ProfiledReply, ErrorReply> run_profile_pass(const ProfilePassContext& context,
                                                   const ProfileRequest& request) {
  const auto switches = parse_switches(request.switches);
  if (!switches) return failed_reply(switches.error());
  const auto key = parse_id(request.prepare.id, context.registry);
  if (!key) return failed_reply(key.error());
  // If the pass locates a failure, each activity is written at once, since the process may end at
  // any time.
  const bool is_buffered = !request.announce;
  auto spool = ActivitySpool::open(request.spool, request.run_id, context.clock,
                                   is_buffered ? switches->dump_period : Nanoseconds(0));
  if (!spool) return failed_reply(spool.error());
  Result<ProfiledReply, ErrorReply> reply = [&]() -> Result<ProfiledReply, ErrorReply> {
    try {
      return ProfilePass(context, request, *spool, *switches, *key).run();
    } catch (const std::exception& exception) {
      return thrown_reply(ProfileRequest::kName, exception);
    }
  }();
  const Status flushed = spool->flush();
  if (reply && !flushed) return failed_reply(flushed.error());
  return reply;
}

}  // namespace bench
