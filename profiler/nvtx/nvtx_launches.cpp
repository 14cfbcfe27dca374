// SPDX-License-Identifier: Apache-2.0
// The part of NvtxTracker that attributes CUDA calls to ranges. While it reads the spool, it knows
// which ranges are open at the time of a call.
#include "profiler/nvtx/nvtx_tracker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

constexpr Nanoseconds kEndOfTime = Nanoseconds::max();

// Attributes that a kernel copies from the range of its operator.
constexpr std::array kCopiedAttributes = {Attribute::module,     Attribute::sequence,
                                          Attribute::in_shapes,  Attribute::out_shapes,
                                          Attribute::parameters, Attribute::dtype};

Attributes select_facts(const Attributes& attributes) {
  Attributes facts;
  for (const Attribute attribute : kCopiedAttributes) {
    const AttributeValue* const value = attributes.find(attribute);
    if (value == nullptr) continue;
    std::visit([&](const auto& known) { facts.set(attribute, known); }, *value);
  }
  return facts;
}

}  // namespace

void NvtxTracker::advance(std::int64_t pid, std::int64_t tid, Nanoseconds at) {
  if (launches_ == nullptr) return;
  switch_window(pid, at);
  if (!launches_->needs_holder(pid, tid, at)) return;
  give_launches(process(pid), pid, tid, at);
}

void NvtxTracker::switch_window(std::int64_t pid, Nanoseconds until) {
  while (const auto call = launches_->next_profiler_call(pid, until)) {
    WindowState& window = process(pid).window;
    if (call->what == ProfilerSwitch::start) {
      window.start_profiler(call->at);
    } else {
      window.stop_profiler(call->at);
    }
    window_was_open_ = window_was_open_ || window.was_open();
  }
}

void NvtxTracker::give_launches(Process& process, std::int64_t pid, std::int64_t tid,
                                Nanoseconds until) {
  const auto thread = process.threads.find(tid);
  const auto holder =
      thread == process.threads.end() ? GpuLaunches::kUnattributed : find_holder(thread->second);
  launches_->assign_holder(pid, tid, until, holder, process.window);
}

// A program has ended: its ranges contain no further work.
void NvtxTracker::attribute_remaining_launches(std::int64_t pid, Nanoseconds until) {
  if (launches_ == nullptr) return;
  switch_window(pid, until);
  Process& process = this->process(pid);
  for (const std::int64_t tid : launches_->awaiting_threads(pid, until)) {
    give_launches(process, pid, tid, until);
  }
  launches_->end_process(pid, process.window);
}

void NvtxTracker::attribute_all_launches() {
  if (launches_ == nullptr) return;
  for (const std::int64_t pid : launches_->processes())
    attribute_remaining_launches(pid, kEndOfTime);
}

// Returns the end of the frames that hold a call made inside `frames`, which must not be empty. The
// outermost operator with work owns all calls inside it, so that its work counts once. Other calls
// belong to the innermost range's layer and the innermost operator.
NvtxTracker::FrameEnd NvtxTracker::find_holder_end(std::vector<Frame>& frames) {
  const auto with_work = std::ranges::find_if(frames, [](const Frame& frame) {
    return frame.gradient || frame.activity.attributes.find(Attribute::flops) != nullptr;
  });
  return with_work == frames.end() ? frames.end() : std::next(with_work);
}

// Returns nullopt if the frames contain neither a layer nor an operator.
std::optional<GpuHolder> NvtxTracker::make_holder(std::vector<Frame>& frames, FrameEnd end) {
  const Frame& innermost = *std::prev(end);
  const auto begin = std::make_reverse_iterator(end);
  const auto found =
      std::find_if(begin, frames.rend(), [](const Frame& frame) { return frame.is_operator; });
  const bool is_known =
      found != frames.rend() || !innermost.path.empty() || !innermost.trace.empty();
  if (!is_known) return std::nullopt;
  GpuHolder holder;
  if (!innermost.trace.empty()) holder.facts.set(Attribute::source_location, innermost.trace);
  holder.owner.scope = innermost.path;
  if (found != frames.rend()) describe_operator(found->activity, holder);
  const auto marked = std::find_if(begin, frames.rend(), [](const Frame& frame) {
    return frame.call != nullptr && frame.activity.direction == "backward";
  });
  if (marked != frames.rend()) describe_call(*marked->call, holder);
  if (found != frames.rend() && !holder.owner.work) holder.owner.work = found->gradient;
  return holder;
}

GpuLaunches::HolderId NvtxTracker::find_holder(std::vector<Frame>& frames) {
  if (frames.empty()) return GpuLaunches::kUnattributed;
  const auto end = find_holder_end(frames);
  Frame& innermost = *std::prev(end);
  if (innermost.holder != GpuLaunches::kUnattributed) return innermost.holder;
  auto holder = make_holder(frames, end);
  if (!holder) return GpuLaunches::kUnattributed;
  return innermost.holder = launches_->add(*std::move(holder));
}

std::shared_ptr<const GpuHolder> NvtxTracker::find_holder(std::int64_t pid, std::int64_t tid) {
  Process& process = this->process(pid);
  const auto thread = process.threads.find(tid);
  if (thread == process.threads.end() || thread->second.empty()) return nullptr;
  const auto end = find_holder_end(thread->second);
  Frame& innermost = *std::prev(end);
  if (innermost.held == nullptr) {
    if (auto holder = make_holder(thread->second, end))
      innermost.held = std::make_shared<const GpuHolder>(*std::move(holder));
  }
  return innermost.held;
}

bool NvtxTracker::has_open_holder() const {
  const auto holds = [](const Frame& frame) { return frame.is_operator && frame.held != nullptr; };
  return std::ranges::any_of(processes_, [&](const auto& process) {
    return std::ranges::any_of(process.second.threads, [&](const auto& thread) {
      return std::ranges::any_of(thread.second, holds);
    });
  });
}

// Adds what the forward call states about a backward operator but the operator's own range does
// not.
void NvtxTracker::describe_call(const MarkedCall& call, GpuHolder& holder) {
  if (!call.op.empty()) holder.owner.op = call.op;
  add_missing(call.facts, holder.facts);
  if (!holder.owner.work) holder.owner.work = call.gradient;
}

void NvtxTracker::describe_operator(const Activity& range, GpuHolder& holder) {
  const Attributes& attributes = range.attributes;
  holder.owner.direction = range.direction;
  const std::string_view known = attributes.text(Attribute::op);
  holder.owner.op = known.empty() ? range.name : std::string(known);
  holder.facts.merge(select_facts(attributes));
  if (const auto flops = attributes.integer(Attribute::flops)) {
    holder.owner.work = GpuOperatorWork{*flops, attributes.integer(Attribute::bytes)};
  }
}

}  // namespace bench
