// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/profile_pass.hpp"

#include "harness/stats/summary.hpp"
#include "harness/worker/check.hpp"
#include "harness/worker/profile_pass_state.hpp"
#include "harness/worker/workload.hpp"
#include "profiler/scope_path.hpp"

#include <chrono>
#include <deque>
#include <dlfcn.h>
#include <new>
#include <string>
#include <utility>

namespace bench {

namespace {

ProfilerCalls load_calls(void* library) {
  using Call = int (*)();
  return {reinterpret_cast<Call>(::dlsym(library, "cuProfilerStart")),
          reinterpret_cast<Call>(::dlsym(library, "cuProfilerStop"))};
}

bool is_complete(const ProfilerCalls& calls) {
  return calls.start != nullptr && calls.stop != nullptr;
}

}  // namespace

std::optional<ProfilerCalls> find_profiler_calls() {
  if (const ProfilerCalls calls = load_calls(RTLD_DEFAULT); is_complete(calls)) return calls;
  // CUDA's runtime loads the driver privately, so its names are not in the global scope.
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return std::nullopt;
  const ProfilerCalls calls = load_calls(driver);
  ::dlclose(driver);  // the driver stays loaded, because CUDA's runtime holds another reference
  return is_complete(calls) ? std::optional(calls) : std::nullopt;
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

}  // namespace

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
    if (Status status = verbose_->collect(0, end, origin, phases); !status) {
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
    } catch (const std::bad_alloc&) {
      return ErrorReply{Outcome::skipped, "this machine does not have enough memory"};
    }
  }();
  const Status flushed = spool->flush();
  if (reply && !flushed) return failed_reply(flushed.error());
  return reply;
}

}  // namespace bench
