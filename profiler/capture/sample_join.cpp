// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/sample_join.hpp"

#include "profiler/capture/code_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace bench {
namespace {

constexpr Nanoseconds kHeld = std::chrono::seconds(10);
// Bounds the memory for programs with very short primitives.
constexpr std::size_t kMaxEnded = 65536;
// Threads write slightly out of order, so the ends of what they write are not quite ascending.
constexpr Nanoseconds kDisorder = std::chrono::milliseconds(100);

Nanoseconds end_of(const Activity& activity) { return activity.start + *activity.duration; }

bool is_owner(const Activity& activity) {
  if (!activity.duration || activity.track.device) return false;
  return activity.kind == ActivityKind::primitive || activity.kind == ActivityKind::range;
}

bool contains(const Activity& owner, const Activity& sample) {
  return owner.start <= sample.start && sample.start <= end_of(owner);
}

bool is_inside_primitive(const Activity& sample) {
  return sample.attributes.find(Attribute::primitive) != nullptr;
}

void take_primitive(const Activity& owner, Activity& sample) {
  sample.attributes.set(Attribute::primitive, owner.name);
  sample.direction = owner.direction;
  sample.scope = owner.scope;
  // The code that oneDNN generated for the primitive, unless its generator has named it.
  if (sample.name == kGeneratedObject) {
    sample.name = fmt::format("{} of {}", kGeneratedObject, owner.name);
  }
}

void take_range(const Activity& owner, Activity& sample) {
  if (sample.attributes.find(Attribute::range) == nullptr) {
    sample.attributes.set(Attribute::range, owner.name);
  }
  if (sample.scope.empty()) sample.scope = owner.scope;
}

}  // namespace

Status SampleJoin::consume(const Activity& activity) {
  if (activity.kind == ActivityKind::sample) {
    Process& process = processes_[activity.track.pid];
    const auto added = process.samples.emplace(activity.start, activity);
    if (is_worker(activity)) find_owner(process, added->second);
    return release(process, activity.start - kHeld);
  }
  if (is_owner(activity)) {
    Process& process = processes_[activity.track.pid];
    give(process, activity);
    remember(process, activity);
  }
  return next_.consume(activity);
}

bool SampleJoin::is_worker(const Activity& sample) const {
  return !own_threads_.contains({sample.track.pid, sample.track.tid});
}

void SampleJoin::remember(Process& process, const Activity& owner) const {
  process.ended.push_back(owner);
  const Nanoseconds oldest = end_of(owner) - kHeld;
  while (process.ended.size() > kMaxEnded || end_of(process.ended.front()) < oldest) {
    process.ended.pop_front();
  }
}

// Finds the owners among what ended before the sample arrived: a primitive, and the ranges from the
// innermost to the outermost.
void SampleJoin::find_owner(const Process& process, Activity& sample) {
  std::vector<const Activity*> ranges;
  for (auto owner = process.ended.rbegin(); owner != process.ended.rend(); ++owner) {
    if (end_of(*owner) + kDisorder < sample.start) break;
    if (!contains(*owner, sample)) continue;
    if (owner->kind == ActivityKind::range) ranges.push_back(&*owner);
    if (owner->kind == ActivityKind::primitive && !is_inside_primitive(sample)) {
      take_primitive(*owner, sample);
    }
  }
  std::ranges::stable_sort(ranges, std::ranges::greater(), &Activity::start);
  for (const Activity* range : ranges) take_range(*range, sample);
}

// Gives the samples that came before the owner had ended. Inner ranges end first, so the first
// range that a sample receives is the innermost.
void SampleJoin::give(Process& process, const Activity& owner) const {
  const auto end = process.samples.upper_bound(end_of(owner));
  for (auto entry = process.samples.lower_bound(owner.start); entry != end; ++entry) {
    Activity& sample = entry->second;
    const bool is_of_thread = sample.track.tid == owner.track.tid;
    if (owner.kind == ActivityKind::range) {
      if (is_worker(sample)) take_range(owner, sample);
    } else if (!is_inside_primitive(sample) && (is_of_thread || is_worker(sample))) {
      take_primitive(owner, sample);
    }
  }
}

Status SampleJoin::release(Process& process, Nanoseconds until) {
  auto& samples = process.samples;
  while (!samples.empty() && samples.begin()->first < until) {
    BENCH_RETURN_IF_ERROR(next_.consume(samples.begin()->second));
    samples.erase(samples.begin());
  }
  return Done{};
}

Status SampleJoin::finish() {
  for (auto& [pid, process] : processes_) {
    for (const auto& [start, sample] : process.samples) {
      BENCH_RETURN_IF_ERROR(next_.consume(sample));
    }
  }
  processes_.clear();
  return Done{};
}

}  // namespace bench
