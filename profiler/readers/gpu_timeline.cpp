// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/gpu_timeline.hpp"

#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/reading_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <set>
#include <tuple>

namespace bench {
namespace {

// Open ranges of the process, and open ranges of one thread; programs stay far below.
constexpr std::size_t kMaxOpenStarts = 1 << 20;
constexpr std::size_t kMaxOpenRanges = 4096;
// A part may be longer than requested while an operator is open, but not by more than this factor.
constexpr std::size_t kMaxPartFactor = 512;

// Order of what happens at the same time. A range begins before the call in it, and work follows
// its call.
constexpr std::int64_t kCallRank = 1;
constexpr std::int64_t kWorkRank = 2;

}  // namespace

// Walks along ranges, calls and works. Forwards the activities of a thread at once: calls in the
// order of their starts, and each range after what is in it. Device work waits until its part of
// the timeline is complete.
class GpuTimeline::Walk final : public ActivitySink {
 public:
  enum class Pass { facts, activities };
  Walk(GpuTimeline& timeline, const FrameworkWorkProvider& compute_work, Pass pass)
      : timeline_(timeline),
        pass_(pass),
        tracker_(window_, compute_work, timeline.facts_, nullptr, *this) {}

  // From the tracker.
  Status consume(const Activity& activity) override {
    if (pass_ == Pass::facts) return Done{};
    ++timeline_.activities_;
    return timeline_.sink_.consume(activity);
  }

  Status begin(const RangeEvent& event);
  Status call(const TimelineCall& call);
  Status work(const TimelineWork& work);
  Status finish();
  const NvtxFacts& facts() const { return tracker_.facts(); }

 private:
  struct OpenRange {
    Nanoseconds end{0};
    std::uint64_t domain = 0;
  };
  struct Start {
    Nanoseconds end{0};
    std::uint64_t id = 0;
    std::int64_t pid = 0, tid = 0;
    friend bool operator>(const Start& a, const Start& b) {
      return std::tie(a.end, a.id) > std::tie(b.end, b.id);
    }
  };
  using HolderPointer = std::shared_ptr<const GpuHolder>;
  // A call whose work may follow.
  struct RecentCall {
    std::uint64_t correlation = 0;
    std::int64_t thread = 0;
    GpuInterval time;
    HolderPointer holder;
    bool is_recorded = false;  // the session of the part has it
  };
  // The part of a process's session that is being collected.
  struct Part {
    GpuSession session;
    std::vector<HolderPointer> holders;
    std::unordered_map<const GpuHolder*, std::uint64_t> ids;
    std::vector<std::pair<TimelineWork, HolderPointer>> graphs;
    // Work follows its call at once; a few calls may begin at the same time.
    std::array<RecentCall, 16> recent;
    std::size_t next_recent = 0;
  };
  struct Spans {
    std::vector<GpuInterval> running;
  };

  const NvtxCall& make_call(const RangeEvent& event);
  RecentCall* find_recent(Part& part, std::uint64_t correlation) const;
  RecentCall* record_call(const TimelineWork& work, Part& part);
  Status forward_call(const TimelineCall& call, std::int64_t pid, const GpuHolder* holder);
  Status forward_wait(const TimelineWork& work, Part& part);
  Status close_until(std::int64_t pid, std::int64_t tid, Nanoseconds at);
  Status close_starts(Nanoseconds at);
  Status push(const RangeEvent& event);
  Part& part(TimelineProcess process);
  std::uint64_t hold(Part& part, const HolderPointer& holder);
  void add_kernel(const TimelineWork& work, Part& part) const;
  void add_copy(const TimelineWork& work, Part& part) const;
  void add_memset(const TimelineWork& work, Part& part) const;
  void add_change(const TimelineWork& work, Part& part);
  Status flush_if_long(Nanoseconds at);
  Status flush();
  void add_graphs(TimelineProcess process, Part& part, std::vector<Activity>& activities) const;
  Status forward(Activity& activity);
  void note_span(const Activity& activity);
  Status finish_changes();
  Status finish_counters();
  void finish_notes();
  GpuJoinOptions options() const;

  GpuTimeline& timeline_;
  const Pass pass_;
  const CaptureWindow window_{};
  NvtxTracker tracker_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<OpenRange>> open_;
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
  std::uint64_t next_start_ = std::uint64_t{1} << 63;
  NvtxCall call_;      // reused, with its memory
  Activity activity_;  // call or wait; reused
  std::map<TimelineProcess, Part> parts_;
  std::map<TimelineProcess, Part> changes_;  // of memory; they are paired at the end
  std::size_t size_ = 0;                     // works of the part
  std::map<std::pair<std::int64_t, std::int64_t>, Spans> spans_;  // key: pid, device
  GpuJoinTally tally_;
  std::set<std::string> notes_;
  bool has_holders_ = false;
};

const NvtxCall& GpuTimeline::Walk::make_call(const RangeEvent& event) {
  call_.pid = event.pid;
  call_.tid = event.tid;
  call_.at = event.at;
  call_.domain = event.domain;
  call_.category = event.category;
  call_.id = event.id;
  call_.text = event.text;
  return call_;
}

// Ends the ranges of the thread that ended before `at`. Those of different domains may overlap, so
// the order is that of the ends.
Status GpuTimeline::Walk::close_until(std::int64_t pid, std::int64_t tid, Nanoseconds at) {
  const auto found = open_.find({pid, tid});
  if (found == open_.end()) return Done{};
  std::vector<OpenRange>& open = found->second;
  while (!open.empty()) {
    // Nearly always the last one. An equal end is that of the inner range.
    auto first = std::prev(open.end());
    for (auto range = open.begin(); range != open.end(); ++range) {
      if (range->end < first->end) first = range;
    }
    if (first->end > at) break;
    const NvtxCall call{
        .pid = pid, .tid = tid, .at = first->end, .domain = first->domain, .text = {}};
    open.erase(first);
    BENCH_RETURN_IF_ERROR(tracker_.pop(call));
  }
  return Done{};
}

Status GpuTimeline::Walk::close_starts(Nanoseconds at) {
  while (!starts_.empty() && starts_.top().end <= at) {
    const Start start = starts_.top();
    starts_.pop();
    BENCH_RETURN_IF_ERROR(tracker_.end(
        {.pid = start.pid, .tid = start.tid, .at = start.end, .id = start.id, .text = {}}));
  }
  return Done{};
}

Status GpuTimeline::Walk::push(const RangeEvent& event) {
  std::vector<OpenRange>& open = open_[{event.pid, event.tid}];
  if (open.size() >= kMaxOpenRanges) {
    notes_.insert(fmt::format("ranges below {} levels are left out", kMaxOpenRanges));
    return Done{};
  }
  open.push_back({event.end.value_or(Nanoseconds::max()), event.domain});
  return tracker_.push(make_call(event));
}

Status GpuTimeline::Walk::begin(const RangeEvent& event) {
  using Kind = RangeEvent::Kind;
  BENCH_RETURN_IF_ERROR(close_starts(event.at));
  BENCH_RETURN_IF_ERROR(close_until(event.pid, event.tid, event.at));
  BENCH_RETURN_IF_ERROR(flush_if_long(event.at));
  switch (event.kind) {
    case Kind::range:
      return push(event);
    case Kind::push:
      return tracker_.push(make_call(event));
    case Kind::pop:
      return tracker_.pop(make_call(event));
    case Kind::start:
      make_call(event);
      if (event.end && starts_.size() < kMaxOpenStarts) {
        call_.id = next_start_++;
        starts_.push({*event.end, call_.id, event.pid, event.tid});
      }
      return tracker_.start(call_);
    case Kind::stop:
      return tracker_.end(make_call(event));
    case Kind::mark:
      return tracker_.mark(make_call(event));
    case Kind::domain:
      return tracker_.name_domain(make_call(event));
    case Kind::category:
      return tracker_.name_category(make_call(event));
  }
  return Done{};
}

GpuTimeline::Walk::Part& GpuTimeline::Walk::part(TimelineProcess process) {
  const auto [found, is_new] = parts_.try_emplace(process);
  if (is_new) {
    GpuSession& session = found->second.session;
    session.pid = timeline_.processes_[process].pid;
    for (const GpuDevice& device : timeline_.devices_) session.records.emplace_back(device);
  }
  return found->second;
}

// Returns the number of the holder in the session of the part.
std::uint64_t GpuTimeline::Walk::hold(Part& part, const HolderPointer& holder) {
  const auto [found, is_new] = part.ids.try_emplace(holder.get(), part.holders.size() + 1);
  if (is_new) {
    part.holders.push_back(holder);
    OperatorExecution owner = holder->owner;
    owner.inherited_attributes.merge(holder->facts);
    part.session.executions.emplace(found->second, std::move(owner));
    has_holders_ = true;
  }
  return found->second;
}

Status GpuTimeline::Walk::call(const TimelineCall& call) {
  const std::int64_t pid = timeline_.processes_[call.process].pid;
  BENCH_RETURN_IF_ERROR(close_starts(call.time.start));
  BENCH_RETURN_IF_ERROR(close_until(pid, call.thread, call.time.start));
  BENCH_RETURN_IF_ERROR(flush_if_long(call.time.start));
  if (call.kind == TimelineCall::Kind::system) return forward_call(call, pid, nullptr);
  HolderPointer holder = tracker_.find_holder(pid, call.thread);
  BENCH_RETURN_IF_ERROR(forward_call(call, pid, holder.get()));
  if (call.correlation == 0) return Done{};
  Part& part = this->part(call.process);
  // A call of the runtime that made one of the driver is the one that counts.
  if (find_recent(part, call.correlation) != nullptr) return Done{};
  RecentCall& recent = part.recent[part.next_recent++ % part.recent.size()];
  recent = {call.correlation, call.thread, call.time, std::move(holder), false};
  return Done{};
}

// Makes the activity that join_gpu_session() makes of a call. It comes at once, before the end of
// the range around it.
Status GpuTimeline::Walk::forward_call(const TimelineCall& call, std::int64_t pid,
                                       const GpuHolder* holder) {
  Activity& activity = activity_;
  activity.kind = ActivityKind::api;
  activity.name = timeline_.strings_.find(call.name);
  if (activity.name.empty()) activity.name = "(no name)";
  activity.start = call.time.start;
  activity.duration = call.time.length();
  activity.track = {pid, call.thread, {}, {}};
  activity.correlation.reset();
  if (call.correlation != 0 && call.kind != TimelineCall::Kind::system)
    activity.correlation = call.correlation;
  activity.scope.clear();
  activity.direction.clear();
  activity.attributes.clear();
  if (holder != nullptr) {
    activity.scope = holder->owner.scope;
    activity.direction = holder->owner.direction;
    if (!holder->owner.op.empty()) activity.attributes.set(Attribute::op, holder->owner.op);
  }
  if (call.kind == TimelineCall::Kind::system) {
    activity.attributes.set(Attribute::domain, "operating system");
  } else if (call.status != 0) {
    activity.attributes.set(Attribute::reason, fmt::format("returned {}", call.status));
  }
  return forward(activity);
}

Status GpuTimeline::Walk::forward_wait(const TimelineWork& work, Part& part) {
  const RecentCall* const call = find_recent(part, work.correlation);
  const std::int64_t pid = part.session.pid;
  Activity& activity = activity_;
  activity.kind = ActivityKind::synchronisation;
  activity.name =
      gpu_wait_name(work.wait, work.has_stream ? std::optional(work.place.stream) : std::nullopt,
                    work.has_device ? std::optional(work.place.device) : std::nullopt);
  activity.start = work.time.start;
  activity.duration = work.time.length();
  activity.track = {pid, call == nullptr ? pid : call->thread, {}, {}};
  activity.correlation.reset();
  activity.scope.clear();
  activity.direction.clear();
  activity.attributes.clear();
  if (call != nullptr && call->holder != nullptr) {
    activity.scope = call->holder->owner.scope;
    activity.direction = call->holder->owner.direction;
    if (!call->holder->owner.op.empty())
      activity.attributes.set(Attribute::op, call->holder->owner.op);
  }
  if (work.wait != GpuWaitKind::stream_wait_event)
    activity.attributes.set(Attribute::wait_ns, activity.duration->count());
  return forward(activity);
}

GpuTimeline::Walk::RecentCall* GpuTimeline::Walk::find_recent(Part& part,
                                                              std::uint64_t correlation) const {
  if (correlation == 0) return nullptr;
  const auto found = std::ranges::find(part.recent, correlation, &RecentCall::correlation);
  return found == part.recent.end() ? nullptr : &*found;
}

// Adds the call of the work to the session, once.
GpuTimeline::Walk::RecentCall* GpuTimeline::Walk::record_call(const TimelineWork& work,
                                                              Part& part) {
  RecentCall* const call = find_recent(part, work.correlation);
  if (call == nullptr || call->is_recorded) return call;
  call->is_recorded = true;
  GpuApiCall record;  // its activity is already made
  record.time = call->time;
  record.thread = call->thread;
  record.correlation = call->correlation;
  part.session.records.emplace_back(std::move(record));
  if (call->holder != nullptr) {
    part.session.records.emplace_back(
        GpuExternalId{GpuExternalKind::operation, hold(part, call->holder), call->correlation});
  }
  return call;
}

namespace {

template <class Record>
void fill_common(const TimelineWork& work, Record& record) {
  record.time = work.time;
  record.place = work.place;
  if (work.correlation != 0) record.correlation = work.correlation;
  if (work.graph_node != 0) record.graph_node = work.graph_node;
}

}  // namespace

void GpuTimeline::Walk::add_kernel(const TimelineWork& work, Part& part) const {
  GpuKernel kernel;
  kernel.name = timeline_.strings_.find(work.name);
  if (kernel.name.empty()) kernel.name = "(no name)";
  fill_common(work, kernel);
  kernel.grid = work.grid;
  kernel.block = work.block;
  kernel.registers = work.registers;
  kernel.static_shared_bytes = work.static_shared_bytes;
  kernel.dynamic_shared_bytes = work.dynamic_shared_bytes;
  part.session.records.emplace_back(std::move(kernel));
}

void GpuTimeline::Walk::add_copy(const TimelineWork& work, Part& part) const {
  GpuMemcpy copy;
  fill_common(work, copy);
  copy.kind = work.copy;
  copy.source = work.memory;
  copy.destination = work.destination;
  copy.bytes = work.bytes;
  part.session.records.emplace_back(copy);
}

void GpuTimeline::Walk::add_memset(const TimelineWork& work, Part& part) const {
  GpuMemset fill;
  fill_common(work, fill);
  fill.memory = work.memory;
  fill.bytes = work.bytes;
  part.session.records.emplace_back(fill);
}

// An allocation may be released much later, so all of them are paired at the end.
void GpuTimeline::Walk::add_change(const TimelineWork& work, Part& part) {
  Part& changes = changes_[work.process];
  changes.session.pid = part.session.pid;
  GpuAllocation change;
  change.change = work.kind == TimelineWork::Kind::release ? GpuAllocationChange::release
                                                           : GpuAllocationChange::allocation;
  change.memory = work.memory;
  change.address = work.address;
  change.bytes = work.bytes;
  change.at = work.time.start;
  change.place = work.place;
  if (work.correlation != 0) {
    change.correlation = work.correlation;
    const RecentCall* const call = find_recent(part, work.correlation);
    if (call != nullptr && call->holder != nullptr) {
      changes.session.records.emplace_back(
          GpuExternalId{GpuExternalKind::operation, hold(changes, call->holder), work.correlation});
    }
  }
  changes.session.records.emplace_back(std::move(change));
}

Status GpuTimeline::Walk::work(const TimelineWork& work) {
  using Kind = TimelineWork::Kind;
  Part& part = this->part(work.process);
  if (work.kind == Kind::wait) return forward_wait(work, part);
  ++size_;
  const RecentCall* const call = record_call(work, part);
  switch (work.kind) {
    case Kind::kernel:
      add_kernel(work, part);
      break;
    case Kind::memcpy:
      add_copy(work, part);
      break;
    case Kind::memset:
      add_memset(work, part);
      break;
    case Kind::graph:
      part.graphs.emplace_back(work, call == nullptr ? nullptr : call->holder);
      break;
    default:
      add_change(work, part);
      break;
  }
  return Done{};
}

// Ends a part where no operator is open, so that the kernels of an execution stay together.
Status GpuTimeline::Walk::flush_if_long(Nanoseconds at) {
  const std::size_t limit = timeline_.options_.part;
  if (size_ < limit) return Done{};
  for (const auto& [thread, open] : open_)
    BENCH_RETURN_IF_ERROR(close_until(thread.first, thread.second, at));
  const bool must_end = size_ >= kMaxPartFactor * limit;
  return must_end || !tracker_.has_open_holder() ? flush() : Status(Done{});
}

GpuJoinOptions GpuTimeline::Walk::options() const {
  GpuJoinOptions options;
  options.groups.erase(RecordGroup::api);
  options.counters = GpuCounters::skip;
  options.ownership = GpuOwnership::unknown;  // the sum of the parts decides
  return options;
}

// Joins the part and begins the next one.
Status GpuTimeline::Walk::flush() {
  for (auto& [process, part] : parts_) {
    GpuJoin join = join_gpu_session(part.session, options());
    tally_.add(join.tally);
    add_graphs(process, part, join.activities);
    for (Activity& activity : join.activities) {
      note_span(activity);
      BENCH_RETURN_IF_ERROR(forward(activity));
    }
    part.session.records.resize(timeline_.devices_.size());  // which are its first records
    part.session.executions.clear();
    part.holders.clear();
    part.ids.clear();
    part.graphs.clear();
    for (RecentCall& call : part.recent) call.is_recorded = false;
  }
  size_ = 0;
  return Done{};
}

// The nodes of a graph that was traced as a whole are unknown, so it counts as one kernel.
void GpuTimeline::Walk::add_graphs(TimelineProcess process, Part& part,
                                   std::vector<Activity>& activities) const {
  for (const auto& [graph, holder] : part.graphs) {
    Activity activity;
    activity.kind = ActivityKind::kernel;
    activity.name = fmt::format("graph {}", graph.graph_node);
    activity.start = graph.time.start;
    activity.duration = graph.time.length();
    activity.track = {timeline_.processes_[process].pid, 0, graph.place.device, graph.place.stream};
    if (graph.correlation != 0) activity.correlation = graph.correlation;
    activity.attributes.set(Attribute::auxiliary, "all nodes of a launch");
    if (holder != nullptr) {
      activity.scope = holder->owner.scope;
      activity.direction = holder->owner.direction;
      if (!holder->owner.op.empty()) activity.attributes.set(Attribute::op, holder->owner.op);
    }
    activities.push_back(std::move(activity));
  }
}

void GpuTimeline::Walk::note_span(const Activity& activity) {
  if (activity.kind != ActivityKind::kernel || !activity.duration) return;
  spans_[{activity.track.pid, *activity.track.device}].running.push_back(
      {activity.start, activity.start + *activity.duration});
}

Status GpuTimeline::Walk::forward(Activity& activity) {
  const Track& track = activity.track;
  const auto process = timeline_.process_names_.find(track.pid);
  if (process != timeline_.process_names_.end())
    activity.attributes.set(Attribute::process_name, process->second);
  if (!track.device) {
    const auto thread = timeline_.facts_.thread_names.find({track.pid, track.tid});
    if (thread != timeline_.facts_.thread_names.end())
      activity.attributes.set(Attribute::thread_name, thread->second);
  }
  ++timeline_.activities_;
  return timeline_.sink_.consume(activity);
}

Status GpuTimeline::Walk::finish_changes() {
  for (auto& [process, part] : changes_) {
    GpuJoin join = join_gpu_session(part.session, options());
    tally_.add(join.tally);
    for (Activity& activity : join.activities) BENCH_RETURN_IF_ERROR(forward(activity));
  }
  changes_.clear();
  return Done{};
}

Status GpuTimeline::Walk::finish_counters() {
  for (auto& [key, spans] : spans_) {
    const std::vector<GpuInterval> apart = merge_intervals(std::move(spans.running));
    if (apart.empty()) continue;
    std::vector<Activity> counters;
    append_counter({"gpu_busy", "%", key.first, key.second}, busy_percent(apart), counters);
    for (Activity& counter : counters) BENCH_RETURN_IF_ERROR(forward(counter));
  }
  spans_.clear();
  return Done{};
}

void GpuTimeline::Walk::finish_notes() {
  GpuJoin join;
  judge_gpu_tally(tally_, {}, has_holders_ ? GpuOwnership::expected : GpuOwnership::unknown, join);
  for (std::string& reason : join.void_reasons) timeline_.notes_.push_back(std::move(reason));
  for (std::string& note : join.notes) timeline_.notes_.push_back(std::move(note));
  if (tracker_.unbalanced() > 0) {
    timeline_.notes_.push_back(
        fmt::format("{} NVTX ranges ended that had not begun", tracker_.unbalanced()));
  }
  timeline_.notes_.insert(timeline_.notes_.end(), notes_.begin(), notes_.end());
}

Status GpuTimeline::Walk::finish() {
  constexpr Nanoseconds kLast = Nanoseconds::max() - Nanoseconds(1);
  BENCH_RETURN_IF_ERROR(close_starts(kLast));
  for (const auto& [thread, open] : open_)
    BENCH_RETURN_IF_ERROR(close_until(thread.first, thread.second, kLast));
  BENCH_RETURN_IF_ERROR(tracker_.finish());
  if (pass_ == Pass::facts) return Done{};
  BENCH_RETURN_IF_ERROR(flush());
  BENCH_RETURN_IF_ERROR(finish_changes());
  BENCH_RETURN_IF_ERROR(finish_counters());
  finish_notes();
  return Done{};
}

GpuTimeline::GpuTimeline(Options options, const ProfileStrings& strings, ActivitySink& sink)
    : options_(std::move(options)),
      strings_(strings),
      sink_(sink),
      sort_(options_.folder, kProfileSortMemory) {}
GpuTimeline::~GpuTimeline() = default;

TimelineProcess GpuTimeline::process(std::int64_t key, std::int64_t pid) {
  const auto next = static_cast<TimelineProcess>(processes_.size());
  const auto [found, is_new] = process_by_key_.try_emplace(key, next);
  if (is_new) processes_.push_back({pid});
  return found->second;
}

void GpuTimeline::name_thread(std::int64_t pid, std::int64_t tid, std::string_view name) {
  if (!name.empty()) facts_.thread_names.insert_or_assign({pid, tid}, std::string(name));
}

void GpuTimeline::expect(TimelineProcess process, std::uint64_t correlation, Nanoseconds start) {
  if (correlation != 0) expected_.push_back({correlation, start, process});
}

void GpuTimeline::finish_expecting() {
  std::sort(expected_.begin(), expected_.end(), [](const Expected& a, const Expected& b) {
    return std::tie(a.process, a.correlation, a.start) <
           std::tie(b.process, b.correlation, b.start);
  });
}

// Returns when the call began; if a call of the runtime made one of the driver, when the first did.
std::optional<Nanoseconds> GpuTimeline::find_call(TimelineProcess process,
                                                  std::uint64_t correlation) const {
  const auto found = std::lower_bound(
      expected_.begin(), expected_.end(), std::pair(process, correlation),
      [](const Expected& call, const std::pair<TimelineProcess, std::uint64_t>& key) {
        return std::tie(call.process, call.correlation) < std::tie(key.first, key.second);
      });
  const bool is_found = correlation != 0 && found != expected_.end() && found->process == process &&
                        found->correlation == correlation;
  return is_found ? std::optional(found->start) : std::nullopt;
}

Status GpuTimeline::add(const TimelineCall& call) {
  pack_record(call, packed_);
  return sort_.add({call.time.start.count(), kCallRank}, packed_);
}

Status GpuTimeline::add(const TimelineWork& work) {
  const auto requested = find_call(work.process, work.correlation);
  pack_record(work, packed_);
  return sort_.add({requested.value_or(work.time.start).count(), kWorkRank}, packed_);
}

Status GpuTimeline::read_facts(RangeStream& ranges) {
  const FrameworkWorkProvider none;
  Walk walk(*this, none, Walk::Pass::facts);
  RangeEvent event;
  while (true) {
    BENCH_ASSIGN_OR_RETURN(const bool more, ranges.next(event));
    if (!more) break;
    BENCH_RETURN_IF_ERROR(walk.begin(event));
  }
  BENCH_RETURN_IF_ERROR(walk.finish());
  facts_.outputs = walk.facts().outputs;
  return Done{};
}

Status GpuTimeline::join(RangeStream& ranges) {
  BENCH_RETURN_IF_ERROR(sort_.finish());
  Walk walk(*this, options_.compute_work, Walk::Pass::activities);
  RangeEvent event;
  SpillSort::Record record;
  BENCH_ASSIGN_OR_RETURN(bool has_range, ranges.next(event));
  BENCH_ASSIGN_OR_RETURN(bool has_record, sort_.next(record));
  while (has_range || has_record) {
    const bool range_first = has_range && (!has_record || event.at.count() <= record.key.first);
    if (range_first) {
      BENCH_RETURN_IF_ERROR(walk.begin(event));
      BENCH_ASSIGN_OR_RETURN(has_range, ranges.next(event));
      continue;
    }
    const bool is_call = record.key.second == kCallRank;
    BENCH_RETURN_IF_ERROR(is_call ? walk.call(unpack_record<TimelineCall>(record.payload))
                                  : walk.work(unpack_record<TimelineWork>(record.payload)));
    BENCH_ASSIGN_OR_RETURN(has_record, sort_.next(record));
  }
  return walk.finish();
}

std::int64_t GpuTimeline::activities() const { return activities_; }

}  // namespace bench
