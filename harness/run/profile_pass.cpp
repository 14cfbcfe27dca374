// SPDX-License-Identifier: Apache-2.0
#include "harness/run/profile_pass.hpp"

#include "harness/config/case_id.hpp"
#include "harness/run/activity_spool.hpp"
#include "harness/run/admission.hpp"
#include "harness/run/arena.hpp"
#include "harness/run/instance.hpp"
#include "harness/run/ordered_sink.hpp"
#include "harness/run/profile_cost.hpp"
#include "harness/run/rotation.hpp"
#include "harness/run/step_recorder.hpp"
#include "harness/run/verify.hpp"
#include "harness/run/warmup.hpp"
#include "profiler/scope_path.hpp"
#include "profiler/switches.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

using ops::LibraryOutput;
using Announce = ProfileRequest::Announce;
using Refused = Result<Done, RefusedReply>;

RefusedReply failed(const Error& error) { return {Outcome::failed, error.message()}; }

Result<ProfileSwitches> read_switches(const std::map<std::string, std::string>& given) {
  ProfileSwitches switches;
  for (const auto& [name, value] : given) {
    const SwitchRow* row = find_switch(name);
    if (row == nullptr) return Error{"unknown switch `" + name + "` of the profiler", "", ""};
    BENCH_RETURN_IF_ERROR(row->apply(switches, value));
  }
  return switches;
}

Nanoseconds since_1970() {
  return std::chrono::duration_cast<Nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

class ProfilePass {
 public:
  ProfilePass(const ProfilePassWorld& world, const ProfileRequest& request, ActivitySpool& spool,
              ProfileSwitches switches, CaseKey key)
      : world_(world),
        request_(request),
        spool_(spool),
        switches_(std::move(switches)),
        key_(std::move(key)),
        order_(spool, request.announce == Announce::yes ? OrderedSink::Order::as_taken
                                                        : OrderedSink::Order::by_end),
        recorder_(world.clock, order_, switches_.kinds),
        api_(recorder_),
        memory_(recorder_, switches_.sample_rate),
        cost_(
            world.clock, [this] { return time_of(plain_iteration()); },
            [this] { return time_of(profiled_iteration()); }) {}
  ~ProfilePass() { set(Collecting::none); }
  ProfilePass(const ProfilePass&) = delete;
  ProfilePass& operator=(const ProfilePass&) = delete;

  Result<ProfiledReply, RefusedReply> run();

 private:
  enum class Collecting { none, all };  // none: as the timing pass runs
  void set(Collecting collecting);
  bool announces() const { return request_.announce == Announce::yes; }
  bool observes_steps() const {
    return switches_.records(RecordGroup::operators) || switches_.records(RecordGroup::api) ||
           (switches_.records(RecordGroup::memory) && switches_.sample_rate > 0);
  }

  Status capture_output();
  Refused measure(const Subject& subject);
  Refused prepare(const Subject& subject, const InputValues& values);
  Refused check(const Subject& subject, const InputValues& values);
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
  static Result<Nanoseconds> time_of(const Result<Iteration>& iteration) {
    if (!iteration) return iteration.error();
    return iteration->duration;
  }
  Status hand_on();
  void make_steps(const Subject& subject, const ops::Kernel& kernel);
  void finish_reply();

  const ProfilePassWorld& world_;
  const ProfileRequest& request_;
  ActivitySpool& spool_;
  const ProfileSwitches switches_;
  const CaseKey key_;
  OrderedSink order_;
  Recorder recorder_;
  ApiCalls api_;
  MemoryCollector memory_;
  std::unique_ptr<OutputCapture> capture_;
  bool prints_ = false;  // the library, now
  std::optional<VerboseCollector> verbose_;
  std::string path_;
  std::optional<StepRecorder> steps_;
  std::optional<Instance> instance_;
  std::optional<Arena> arena_;
  std::unique_ptr<Rotation> rotation_;
  ProfileCost cost_;
  ProfiledReply reply_;
};

void ProfilePass::set(Collecting collecting) {
  const bool none = collecting == Collecting::none;
  ops::Collectors collectors;
  if (!none && switches_.records(RecordGroup::api)) collectors.api = &api_;
  // Kernels keep it beyond this call: what they release is told as well.
  if (!none) collectors.memory = &memory_;
  world_.backend.observe(collectors);
  const bool prints = !none && capture_ != nullptr;
  if (prints == prints_) return;  // a change overrides what the environment asked for
  prints_ = prints;
  world_.backend.set_output(prints ? LibraryOutput::creations_and_executions : LibraryOutput::none);
}

Status ProfilePass::capture_output() {
  if (!switches_.records(RecordGroup::operators)) return Done{};
  BENCH_ASSIGN_OR_RETURN(auto capture, OutputCapture::start());
  if (!world_.backend.set_output(LibraryOutput::creations_and_executions)) return Done{};
  prints_ = true;
  capture_ = std::move(capture);
  verbose_.emplace(recorder_, *capture_, world_.decoder, since_1970() - world_.clock.now());
  return Done{};
}

Result<ProfiledReply, RefusedReply> ProfilePass::run() {
  auto subject = admit(key_, request_.prepare.network.get(), world_.backend, world_.available,
                       world_.catalogue);
  if (!subject) return std::move(subject).error();
  if (Status captured = capture_output(); !captured) return failed(captured.error());
  recorder_.start();
  Refused measured = Done{};
  {
    ScopeSpec outer;
    outer.case_id = request_.prepare.id;
    outer.direction = ops::direction_names()[static_cast<std::size_t>(key_.direction)];
    outer.kind = std::nullopt;
    std::deque<Scope> scopes;
    scopes.emplace_back(&recorder_, std::move(outer));
    for (const std::string& name : request_.scope) {
      ScopeSpec layer;
      layer.name = name;
      layer.kind = std::nullopt;
      scopes.emplace_back(&recorder_, std::move(layer));
      path_ = append_scope(path_, name);
    }
    measured = measure(*subject);
    // What is released below is told, and belongs to the case.
    rotation_.reset();
    instance_.reset();
    arena_.reset();
    memory_.finish();
    while (!scopes.empty()) scopes.pop_back();
  }
  set(Collecting::none);
  recorder_.stop();
  const Status handed_on = hand_on();
  if (!measured) return std::move(measured).error();
  if (!handed_on) return failed(handed_on.error());
  if (Status status = recorder_.status(); !status) return failed(status.error());
  finish_reply();
  return std::move(reply_);
}

Refused ProfilePass::measure(const Subject& subject) {
  const InputValues values = input_values(subject, request_.prepare.seed);
  BENCH_RETURN_IF_ERROR(prepare(subject, values));
  set(Collecting::none);
  if (request_.prepare.check != CheckKind::none) {
    BENCH_RETURN_IF_ERROR(check(subject, values));
  }
  if (Status status = bind(); !status) return failed(status.error());
  if (Status status = run_iterations(); !status) return failed(status.error());
  return Done{};
}

// From the library's first call to the first run, which is observed only where a failure is looked
// for: it is no iteration.
Refused ProfilePass::prepare(const Subject& subject, const InputValues& values) {
  set(Collecting::all);
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "preparation";
  range.start = recorder_.now();
  if (Status status = announce(range); !status) return failed(status.error());
  Watchers watchers{&memory_, {}};
  std::int64_t printed = 0;  // before the first run
  watchers.first_run = [&](ops::Kernel& kernel) -> ops::StepObserver* {
    make_steps(subject, kernel);
    if (capture_) printed = capture_->written();
    if (announces()) return &*steps_;
    set(Collecting::none);
    return nullptr;
  };
  auto instance = Instance::build(world_.backend, subject, values, world_.clock, world_.available,
                                  request_.prepare.met, watchers);
  if (verbose_) {
    VerbosePlace place;
    place.begin = range.start;
    place.end = recorder_.now();
    place.owner.scope = path_;
    if (printed == 0) printed = capture_->written();
    const auto phases = announces() ? VerbosePhases::all : VerbosePhases::creations;
    if (Status status = verbose_->collect(0, printed, place, phases); !status) {
      return failed(status.error());
    }
  }
  if (steps_ && announces()) {
    if (Status status = steps_->write(std::nullopt, printed); !status) {
      return failed(status.error());
    }
  }
  range.duration = recorder_.now() - range.start;
  recorder_.record(std::move(range));
  if (Status status = hand_on(); !status) return failed(status.error());
  if (!instance) return refused(instance.error());
  instance_.emplace(std::move(*instance));
  return Done{};
}

void ProfilePass::make_steps(const Subject& subject, const ops::Kernel& kernel) {
  StepSinks sinks{&recorder_, &api_, &memory_, capture_.get(), verbose_ ? &*verbose_ : nullptr, {}};
  if (announces()) {
    // What cannot be written now cannot be reported any better later.
    sinks.announced = [this] { static_cast<void>(spool_.flush()); };
  }
  steps_.emplace(step_facts(subject, kernel), path_, sinks, world_.clock);
}

// Before what may not return: where failures are looked for, it is on disk then.
Status ProfilePass::announce(const Activity& range) {
  if (!announces()) return Done{};
  recorder_.announce(range);
  return spool_.flush();
}

// Of a wrong result the check is what did not end.
Refused ProfilePass::check(const Subject& subject, const InputValues& values) {
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "check";
  range.start = recorder_.now();
  if (Status status = announce(range); !status) return failed(status.error());
  const CheckRequest check{request_.prepare.check, request_.prepare.expected, request_.prepare.seed,
                           world_.available};
  auto verified = verify(world_.backend, subject, *instance_, values, check, world_.clock);
  if (!verified) return std::move(verified).error();
  reply_.details["check"] = verified->text;
  range.duration = recorder_.now() - range.start;
  recorder_.record(std::move(range));
  return Done{};
}

// Without the backend's calls: up to thousands of equal ones for as many sets of buffers.
Status ProfilePass::bind() {
  if (key_.cache != CacheMode::hot) {
    BENCH_ASSIGN_OR_RETURN(Arena arena, Arena::create(world_.arena, kArenaSeed, &memory_));
    arena_.emplace(std::move(arena));
  }
  const std::vector<void*> own = instance_->addresses();
  BENCH_ASSIGN_OR_RETURN(rotation_, bind_rotation(instance_->kernel(), own, key_.cache,
                                                  request_.prepare.reuse_distance,
                                                  arena_ ? &*arena_ : nullptr, reply_.details));
  return Done{};
}

Status ProfilePass::run_iterations() {
  if (!announces()) {
    auto warm = warm_up(*rotation_, request_.warmup_iterations, request_.warmup_time, world_.clock);
    if (!warm) return std::move(warm).error();
    BENCH_RETURN_IF_ERROR(cost_.measure_half());
  }
  for (std::int64_t i = 0; i <= switches_.last_iteration; ++i) {
    if (announces() || i >= switches_.first_iteration) {
      BENCH_RETURN_IF_ERROR(record_iteration(i));
    } else if (auto time = plain_iteration(); !time) {
      return std::move(time).error();
    }
  }
  return announces() ? Status(Done{}) : cost_.measure_half();
}

Result<ProfilePass::Iteration> ProfilePass::plain_iteration() {
  set(Collecting::none);
  const Nanoseconds start = world_.clock.now();
  const auto sample = take_sample(*rotation_, 1, world_.clock);
  if (!sample) return Error{rotation_->failure(), "", ""};
  return Iteration{start, *sample};
}

// Leaves its steps in steps_; nothing is recorded yet.
Result<ProfilePass::Iteration> ProfilePass::profiled_iteration() {
  if (!observes_steps()) return plain_iteration();
  set(Collecting::all);
  steps_->start_over();
  ScopeSpec spec;
  spec.case_id = request_.prepare.id;
  const Scope range(nullptr, std::move(spec));
  const Nanoseconds start = world_.clock.now();
  const bool ok = rotation_->run_observed(*steps_);
  const Nanoseconds time = world_.clock.now() - start;
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
    BENCH_RETURN_IF_ERROR(steps_->write(number));  // also of one that failed
    reply_.attributed += steps_->in_steps();
  }
  if (!iteration) return iteration.error();
  range.start = iteration->start;
  range.duration = iteration->duration;
  recorder_.record(std::move(range));
  ++reply_.iterations;
  reply_.wall += iteration->duration;
  return hand_on();
}

Status ProfilePass::hand_on() {
  BENCH_RETURN_IF_ERROR(order_.release());
  return spool_.flush();
}

void ProfilePass::finish_reply() {
  reply_.profiled = cost_.profiled();
  reply_.unprofiled = cost_.plain();
  reply_.unattributed = reply_.wall - reply_.attributed;
  reply_.activities = spool_.taken();
  reply_.peak = memory_.peak();
  if (!verbose_) return;
  reply_.damaged = verbose_->damaged();
  reply_.unknown = verbose_->unknown();
  reply_.notes = verbose_->notes();
  reply_.details.insert(world_.decoder.facts().begin(), world_.decoder.facts().end());
}

}  // namespace

Result<ProfiledReply, RefusedReply> run_profile_pass(const ProfilePassWorld& world,
                                                     const ProfileRequest& request) {
  const auto switches = read_switches(request.switches);
  if (!switches) return failed(switches.error());
  const auto key = parse_id(request.prepare.id, world.catalogue);
  if (!key) return failed(key.error());
  // A failure may come at any time: nothing waits.
  const bool waits = request.announce == Announce::no;
  auto spool = ActivitySpool::open(request.spool, request.run_id, world.clock,
                                   waits ? switches->dump_period : Nanoseconds(0));
  if (!spool) return failed(spool.error());
  Result<ProfiledReply, RefusedReply> reply = [&]() -> Result<ProfiledReply, RefusedReply> {
    try {
      return ProfilePass(world, request, *spool, *switches, *key).run();
    } catch (const std::bad_alloc&) {
      return RefusedReply{Outcome::skipped, "the memory of this machine does not suffice"};
    }
  }();
  const Status flushed = spool->flush();
  if (reply && !flushed) return failed(flushed.error());
  return reply;
}

}  // namespace bench
