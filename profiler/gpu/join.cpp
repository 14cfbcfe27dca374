// SPDX-License-Identifier: Apache-2.0
// Second pass over a recorded session. record_index.hpp does the first pass.
#include "profiler/gpu/join.hpp"

#include "base/text.hpp"
#include "profiler/gpu/allocations.hpp"
#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/gpu/measuring_kernels.hpp"
#include "profiler/gpu/occupancy.hpp"
#include "profiler/gpu/reading_counters.hpp"
#include "profiler/gpu/record_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// Usual error of device times. The tracer computes them from readings of both clocks.
constexpr Nanoseconds kClockError = std::chrono::microseconds(2);
// If the error is larger than this, the times are wrong and not just inexact.
constexpr Nanoseconds kMaxClockError = std::chrono::milliseconds(1);
// No work waits this long on a device. Clocks that count from 1970 and from boot are decades apart.
constexpr Nanoseconds kMinOtherClockDistance = std::chrono::hours(24);
// Names of synchronisations in tables and timelines.
constexpr std::array<std::string_view, 5> kWaitNames = {
    "wait", "wait for event", "stream waits for event", "wait for stream", "wait for device"};

constexpr std::array kLoadingOverheads = {GpuOverheadKind::driver_compiler,
                                          GpuOverheadKind::module_loading,
                                          GpuOverheadKind::lazy_function_loading};

// For each kernel, so without fmt: it takes a tenth of the time.
std::string format_size(const GpuSize& size) {
  constexpr std::size_t kMaxDigits = 20;
  std::array<char, 3 * (kMaxDigits + 1)> text{};
  char* end = text.data();
  for (const std::int64_t length : {size.x, size.y, size.z}) {
    if (end != text.data()) *end++ = ',';
    end = std::to_chars(end, text.data() + text.size(), length).ptr;
  }
  return {text.data(), end};
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_blocking(GpuWaitKind kind) { return kind != GpuWaitKind::stream_wait_event; }

class Joiner {
 public:
  Joiner(const GpuSession& session, const GpuJoinOptions& options)
      : session_(session), options_(options), index_(session) {}

  GpuJoin run() {
    join_.activities.reserve(session_.records.size());
    for (const GpuRecord& record : session_.records) {
      std::visit([this](const auto& element) { join(element); }, record);
    }
    share_work();
    const GpuBlocks blocks = pair_allocations(allocations_);
    add_allocations(blocks);
    if (options_.counters == GpuCounters::derive) {
      add_counters();
      add_calls_in_flight();
    }
    join_readings(session_, blocks.live, options_.groups, join_);
    judge();
    for (Activity& activity : join_.activities) activity.start += options_.shift;
    sort_activities();
    return std::move(join_);
  }

 private:
  // Moves each activity once, because they are large.
  void sort_activities() {
    std::vector<Activity*> order;
    order.reserve(join_.activities.size());
    for (Activity& activity : join_.activities) order.push_back(&activity);
    std::stable_sort(order.begin(), order.end(),
                     [](const Activity* a, const Activity* b) { return precedes(*a, *b); });
    std::vector<Activity> sorted;
    sorted.reserve(order.size());
    for (Activity* const activity : order) sorted.push_back(std::move(*activity));
    join_.activities = std::move(sorted);
  }

  static bool precedes(const Activity& a, const Activity& b) {
    return a.start != b.start
               ? a.start < b.start
               : a.duration.value_or(Nanoseconds(0)) > b.duration.value_or(Nanoseconds(0));
  }

  bool records(ActivityKind kind) const { return options_.groups.contains(record_group(kind)); }

  void set_owner(Activity& activity, const std::optional<GpuRecordIndex::Ownership>& owner) const {
    if (!owner) return;
    activity.case_id = owner->owner->case_id;
    activity.scope = owner->owner->scope;
    activity.direction = owner->owner->direction;
    if (!owner->owner->op.empty()) activity.attributes.set(Attribute::op, owner->owner->op);
    if (owner->iteration) activity.attributes.set(Attribute::iteration, *owner->iteration);
  }

  Activity host_activity(ActivityKind kind, std::string_view name, const GpuInterval& time,
                         std::int64_t thread) const {
    Activity activity;
    activity.kind = kind;
    activity.name = name;
    activity.start = time.start;
    activity.duration = std::max(time.length(), Nanoseconds(0));
    activity.track = {session_.pid, thread, {}, {}};
    return activity;
  }

  // Creates the activity of a kernel, a copy or a memset.
  template <class Record>
  Activity device_activity(ActivityKind kind, const Record& record) {
    const GpuApiCall* const call = index_.find_call(record.correlation);
    Activity activity;
    activity.kind = kind;
    activity.track = {session_.pid, call ? call->thread : 0, record.place.device,
                      record.place.stream};
    activity.correlation = record.correlation;
    const std::optional<Nanoseconds> requested =
        call ? std::optional(call->time.start) : options_.now;
    if (!record.time || record.time->end < record.time->start) {
      ++tally_.untimed;
      activity.start = call ? call->time.start : Nanoseconds(0);
    } else if (requested && on_other_clock(*record.time, *requested)) {
      activity.start = *requested;
    } else {
      activity.start = record.time->start;
      activity.duration = record.time->length();
      if (call) compare(call->time.start, activity.start, tally_.early);
      if (options_.now) compare(record.time->end, *options_.now, tally_.late);
    }
    return activity;
  }

  // Returns whether `time` is unrelated to the host's clock, and counts such records.
  bool on_other_clock(const GpuInterval& time, Nanoseconds requested) {
    const Nanoseconds apart = std::chrono::abs(time.start - requested);
    if (apart <= kMinOtherClockDistance) return false;
    ++tally_.foreign;
    tally_.farthest = std::max(tally_.farthest, apart);
    return true;
  }

  using Disorder = GpuJoinTally::Disorder;
  static void compare(Nanoseconds first, Nanoseconds second, Disorder& disorder) {
    if (second >= first - kClockError) return;
    ++disorder.count;
    disorder.max_difference = std::max(disorder.max_difference, first - second);
  }

  void set_wait(Activity& activity, const std::optional<Nanoseconds>& queued) const {
    const GpuApiCall* const call = index_.find_call(activity.correlation);
    if (!activity.duration || (!queued && !call)) return;
    const Nanoseconds since = queued ? *queued : call->time.start;
    const Nanoseconds wait = std::max(activity.start - since, Nanoseconds(0));
    activity.attributes.set(Attribute::wait_ns, wait.count());
  }

  void join(const GpuKernel& kernel) {
    ++join_.kernels;
    const auto owner = index_.find_owner(kernel.correlation, kernel.graph_node);
    if (!owner) ++tally_.unattributed_kernels;
    if (!records(ActivityKind::kernel)) return;
    Activity activity = device_activity(ActivityKind::kernel, kernel);
    const KernelName& name = name_of_kernel(kernel.name);
    activity.name = name.short_name;
    set_owner(activity, owner);
    if (owner) activity.attributes.merge(owner->owner->inherited_attributes);
    set_launch(activity, kernel);
    activity.attributes.set(Attribute::long_name, name.long_name);
    set_wait(activity, kernel.queued);
    note_span(kernel, activity);
    if (owner && owner->owner->work) {
      const bool replayed = kernel.graph_node.has_value();
      executions_[{owner->id, replayed ? kernel.correlation.value_or(0) : 0}].push_back(
          join_.activities.size());
    }
    join_.activities.push_back(std::move(activity));
  }

  void set_launch(Activity& activity, const GpuKernel& kernel) {
    Attributes& attributes = activity.attributes;
    attributes.set(Attribute::grid, format_size(kernel.grid));
    attributes.set(Attribute::block, format_size(kernel.block));
    attributes.set(Attribute::registers, kernel.registers);
    attributes.set(Attribute::shared_bytes,
                   kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
    const GpuDevice* const device = index_.device(kernel.place.device);
    if (device == nullptr) {
      tally_.unknown_devices.insert(kernel.place.device);
    } else if (const auto occupancy = theoretical_occupancy(device->limits, kernel)) {
      attributes.set(Attribute::occupancy, occupancy->share);
    }
  }

  // Collects the kernel's interval for the device counters.
  void note_span(const GpuKernel& kernel, const Activity& activity) {
    if (!activity.duration) return;
    const Nanoseconds end = activity.start + *activity.duration;
    const GpuApiCall* const call = index_.find_call(kernel.correlation);
    Spans& spans = spans_[kernel.place.device];
    if (!is_measuring_kernel(activity.name)) spans.running.push_back({activity.start, end});
    const Nanoseconds requested = call ? call->time.start : activity.start;
    spans.unfinished.push_back({std::min(requested, activity.start), end});
  }

  void join(const GpuMemcpy& copy) {
    if (!records(ActivityKind::memcpy)) return;
    Activity activity = device_activity(ActivityKind::memcpy, copy);
    activity.name = fmt::format("memcpy {} ({} -> {})", to_string(copy.kind),
                                to_string(copy.source), to_string(copy.destination));
    const std::int64_t sides = copy.kind == GpuCopyKind::device_to_device ? 2 : 1;
    finish_transfer(std::move(activity), copy.bytes, sides, copy.graph_node);
  }

  void join(const GpuMemset& fill) {
    if (!records(ActivityKind::memset)) return;
    Activity activity = device_activity(ActivityKind::memset, fill);
    activity.name = fmt::format("memset ({})", to_string(fill.memory));
    finish_transfer(std::move(activity), fill.bytes, 1, fill.graph_node);
  }

  // `sides`: how many times the bytes touch the device's memory (read, write or both).
  void finish_transfer(Activity activity, std::int64_t bytes, std::int64_t sides,
                       const std::optional<std::uint64_t>& graph_node) {
    set_owner(activity, index_.find_owner(activity.correlation, graph_node));
    activity.attributes.set(Attribute::size_bytes, bytes);
    // The bytes that the device reads and writes; divided by the duration they give the bandwidth.
    activity.attributes.set(Attribute::bytes, bytes * sides);
    set_wait(activity, std::nullopt);
    join_.activities.push_back(std::move(activity));
  }

  void join(const GpuApiCall& call) {
    if (!records(ActivityKind::api)) return;
    Activity activity = host_activity(ActivityKind::api, call.name, call.time, call.thread);
    activity.correlation = call.correlation;
    set_owner(activity, index_.find_owner(call.correlation));
    if (call.status != 0) {
      activity.attributes.set(Attribute::reason, fmt::format("returned {}", call.status));
    }
    join_.activities.push_back(std::move(activity));
  }

  void join(const GpuSynchronisation& wait) {
    if (!records(ActivityKind::synchronisation)) return;
    const GpuApiCall* const call = index_.find_call(wait.correlation);
    const std::string name =
        gpu_wait_name(wait.kind, wait.stream, index_.find_device(wait.context));
    // No correlation: an arrow from a call to a wait inside it would be useless.
    Activity activity = host_activity(ActivityKind::synchronisation, name, wait.time,
                                      call ? call->thread : session_.pid);
    set_owner(activity, index_.find_owner(wait.correlation));
    if (is_blocking(wait.kind)) {
      activity.attributes.set(Attribute::wait_ns, activity.duration->count());
    }
    join_.activities.push_back(std::move(activity));
  }

  void join(const GpuOverhead& overhead) {
    auto owner = index_.find_owner(overhead.correlation);
    if (!owner && overhead.thread) owner = index_.owner_at(*overhead.thread, overhead.time.start);
    const bool loads = std::find(kLoadingOverheads.begin(), kLoadingOverheads.end(),
                                 overhead.kind) != kLoadingOverheads.end();
    if (owner && loads) join_.cold.insert(owner->id);
    if (!records(ActivityKind::overhead)) return;
    Activity activity = host_activity(ActivityKind::overhead, to_string(overhead.kind),
                                      overhead.time, overhead.thread.value_or(session_.pid));
    set_owner(activity, owner);
    join_.activities.push_back(std::move(activity));
  }

  void join(const GpuAllocation& allocation) { allocations_.push_back(&allocation); }
  // The index and join_readings handle these records.
  void join(const GpuExternalId&) {}
  void join(const GpuGraphNode&) {}
  void join(const GpuDevice&) {}
  void join(const GpuContext&) {}
  void join(const GpuReading&) {}
  void join(const GpuNote&) {}

  const KernelName& name_of_kernel(const std::string& symbol) {
    const auto known = names_.find(symbol);
    return known != names_.end() ? known->second
                                 : names_.emplace(symbol, kernel_name(symbol)).first->second;
  }
  std::optional<GpuAllocationTag> find_tag(const GpuAllocation& allocation) const;
  void share_work();
  void add_allocations(const GpuBlocks& blocks);
  void add_counters();
  void add_calls_in_flight();
  void add_counter(std::string_view name, std::string_view unit, std::optional<std::int64_t> device,
                   std::span<const CounterPoint> points) {
    append_counter({name, unit, session_.pid, device}, points, join_.activities);
  }
  void judge();

  struct Spans {
    std::vector<GpuInterval> running;
    std::vector<GpuInterval> unfinished;  // from the launch of a kernel to its end
  };
  const GpuSession& session_;
  const GpuJoinOptions& options_;
  const GpuRecordIndex index_;
  GpuJoin join_;
  std::unordered_map<std::string, KernelName> names_;
  // Kernels of one execution of an operator, as indices into join_.activities.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::size_t>> executions_;
  std::map<std::int64_t, Spans> spans_;  // key: device
  std::vector<const GpuAllocation*> allocations_;
  GpuJoinTally tally_;
};

void Joiner::share_work() {
  for (const auto& [key, indices] : executions_) {
    std::vector<KernelCandidate> kernels;
    for (const std::size_t index : indices) {
      kernels.push_back({join_.activities[index].name, std::nullopt});
    }
    const auto work = work_of_kernels(*session_.executions.at(key.first).work, kernels);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      Attributes& attributes = join_.activities[indices[i]].attributes;
      if (work[i].flops) attributes.set(Attribute::flops, *work[i].flops);
      if (work[i].bytes) attributes.set(Attribute::bytes, *work[i].bytes);
      if (indices.size() == 1) continue;
      const AuxiliaryKernel* const auxiliary = find_auxiliary(kernels[i].short_name);
      if (auxiliary != nullptr) attributes.set(Attribute::auxiliary, auxiliary->purpose);
    }
  }
}

// The caller knows the tool's own buffers by name. An allocation made for a kernel states its role.
std::optional<GpuAllocationTag> Joiner::find_tag(const GpuAllocation& allocation) const {
  auto tag = options_.find_tag ? options_.find_tag(allocation) : std::nullopt;
  if (!tag && allocation.role) return GpuAllocationTag{*allocation.role, *allocation.role};
  return tag;
}

void Joiner::add_allocations(const GpuBlocks& blocks) {
  if (!records(ActivityKind::allocation)) return;
  tally_.unknown_releases = blocks.unknown_releases;
  for (const GpuBlock& block : blocks.blocks) {
    const GpuAllocation& allocation = *block.allocation;
    const auto tag = find_tag(allocation);
    const std::string library =
        allocation.library.empty() ? "library" : file_name(allocation.library);
    Activity activity;
    activity.kind = ActivityKind::allocation;
    activity.name = tag ? tag->name : library;
    activity.start = allocation.at;
    if (block.released) activity.duration = *block.released - allocation.at;
    const GpuApiCall* const call = index_.find_call(allocation.correlation);
    activity.track = {session_.pid, call ? call->thread : 0, {}, {}};
    set_owner(activity, index_.find_owner(allocation.correlation));
    activity.attributes.set(Attribute::size_bytes, allocation.bytes);
    activity.attributes.set(Attribute::address, static_cast<std::int64_t>(allocation.address));
    activity.attributes.set(Attribute::role, tag ? tag->role : to_string(allocation.memory));
    if (is_device_memory(allocation.memory)) {
      activity.track.device = allocation.place.device;
      activity.attributes.set(Attribute::live_bytes, block.live_bytes);
    }
    join_.activities.push_back(std::move(activity));
  }
  for (const auto& [device, points] : blocks.live) {
    add_counter("device_live_bytes", "bytes", device, points);
  }
}

void Joiner::add_counters() {
  if (!records(ActivityKind::kernel)) return;
  for (const auto& [device, spans] : spans_) {
    const std::vector<GpuInterval> apart = merge_intervals(spans.running);
    if (apart.empty()) continue;
    add_counter("gpu_busy", "%", device, busy_percent(apart));
    add_counter("unfinished_kernels", "1", device, open_count(spans.unfinished));
  }
}

// A runtime call makes driver calls on the same thread; together they count as one call.
void Joiner::add_calls_in_flight() {
  if (!records(ActivityKind::api)) return;
  std::map<std::int64_t, std::vector<GpuInterval>> by_thread;
  for (const GpuRecord& record : session_.records) {
    if (const auto* call = std::get_if<GpuApiCall>(&record)) {
      by_thread[call->thread].push_back(call->time);
    }
  }
  std::vector<GpuInterval> outermost;
  for (auto& [thread, calls] : by_thread) {
    const auto apart = merge_intervals(std::move(calls));
    outermost.insert(outermost.end(), apart.begin(), apart.end());
  }
  add_counter("concurrency", "1", std::nullopt, open_count(outermost));
}

void Joiner::judge() {
  if (session_.dropped > 0) {
    join_.void_reasons.push_back(
        fmt::format("{} dropped: the tracer had no room for them",
                    pluralise(session_.dropped, "record was", "records were")));
  }
  for (const std::string& fault : session_.faults) join_.void_reasons.push_back(fault);
  tally_.unknown_ids = index_.unknown_ids();
  join_.unattributed_kernels = tally_.unattributed_kernels;
  judge_gpu_tally(tally_, session_.clock, options_.ownership, join_);
  join_.tally = std::move(tally_);
}

// Checks that each kernel, copy or memset lies between its call and the session's end.
void judge_clocks(const GpuJoinTally& tally, const GpuClockPair& clock, GpuJoin& join) {
  if (tally.foreign > 0) {
    const Nanoseconds between = clock.realtime - clock.monotonic;
    const bool realtime = std::chrono::abs(tally.farthest - between) < kMinOtherClockDistance;
    join.void_reasons.push_back(fmt::format(
        "{} {} away from the call that requested {}: the times of the device are {}; a CUPTI of "
        "13.3.3 or newer keeps them on one clock",
        pluralise(tally.foreign, "kernel, copy or memset is", "kernels, copies or memsets are"),
        pluralise(std::chrono::duration_cast<std::chrono::hours>(tally.farthest).count() / 24,
                  "day"),
        tally.foreign == 1 ? "it" : "each",
        realtime ? "on CLOCK_REALTIME, those of calls on CLOCK_MONOTONIC" : "on another clock"));
  }
  struct Row {
    const GpuJoinTally::Disorder& disorder;
    std::string_view one, several;
  };
  for (const Row& row :
       {Row{tally.early, "kernel, copy or memset begins before the call that requested it",
            "kernels, copies or memsets begin before the call that requested them"},
        Row{tally.late, "kernel, copy or memset ends after the recording ended",
            "kernels, copies or memsets end after the recording ended"}}) {
    if (row.disorder.count == 0) continue;
    std::string text = fmt::format("{}, by up to {}: the clocks of host and device disagree",
                                   pluralise(row.disorder.count, row.one, row.several),
                                   format_time(row.disorder.max_difference));
    (row.disorder.max_difference > kMaxClockError ? join.void_reasons : join.notes)
        .push_back(std::move(text));
  }
}

}  // namespace

GpuJoin join_gpu_session(const GpuSession& session, const GpuJoinOptions& options) {
  return Joiner(session, options).run();
}

std::string gpu_wait_name(GpuWaitKind kind, std::optional<std::int64_t> stream,
                          std::optional<std::int64_t> device) {
  std::string name(kWaitNames[static_cast<std::size_t>(kind)]);
  if (kind == GpuWaitKind::stream && stream) name += fmt::format(" {}", *stream);
  if (kind == GpuWaitKind::context && device) name += fmt::format(" {}", *device);
  return name;
}

void GpuJoinTally::add(const GpuJoinTally& part) {
  const auto merge = [](Disorder& disorder, const Disorder& other) {
    disorder.count += other.count;
    disorder.max_difference = std::max(disorder.max_difference, other.max_difference);
  };
  unattributed_kernels += part.unattributed_kernels;
  untimed += part.untimed;
  foreign += part.foreign;
  farthest = std::max(farthest, part.farthest);
  merge(early, part.early);
  merge(late, part.late);
  unknown_ids += part.unknown_ids;
  unknown_releases += part.unknown_releases;
  unknown_devices.insert(part.unknown_devices.begin(), part.unknown_devices.end());
}

void judge_gpu_tally(const GpuJoinTally& tally, const GpuClockPair& clock, GpuOwnership ownership,
                     GpuJoin& join) {
  if (tally.untimed > 0) {
    join.void_reasons.push_back(fmt::format(
        "{} no time: the work did not finish, or the device had no memory left to measure it",
        pluralise(tally.untimed, "kernel, copy or memset has", "kernels, copies or memsets have")));
  }
  judge_clocks(tally, clock, join);
  const auto note = [&](std::int64_t count, std::string_view one, std::string_view several) {
    if (count > 0) join.notes.push_back(pluralise(count, one, several));
  };
  if (ownership == GpuOwnership::expected) {
    note(tally.unattributed_kernels, "kernel belongs to no known operator",
         "kernels belong to no known operator");
  }
  note(tally.unknown_ids, "external id has no known operator",
       "external ids have no known operator");
  note(tally.unknown_releases, "release of memory that was allocated before the recording",
       "releases of memory that was allocated before the recording");
  note(static_cast<std::int64_t>(tally.unknown_devices.size()),
       "device without known limits: the occupancy of its kernels is unknown",
       "devices without known limits: the occupancy of their kernels is unknown");
}

Nanoseconds clock_shift(const GpuClockPair& from, const GpuClockPair& to) {
  return (from.realtime - from.monotonic) - (to.realtime - to.monotonic);
}

}  // namespace bench
