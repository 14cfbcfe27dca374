// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/spool.hpp"

#include "profiler/activity_json.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace bench {

namespace {

// Large enough that the cost of system calls is negligible.
constexpr std::size_t kBufferSize = 256 * 1024;

}  // namespace

Result<ActivitySpool> ActivitySpool::open(const std::string& path, std::string run_id, Clock& clock,
                                          Nanoseconds period) {
  const bool exists = access(path.c_str(), F_OK) == 0;
  auto file = exists ? RecordFile::reopen(path) : RecordFile::create(path, Existing::refuse);
  if (!file) return std::move(file).error();
  return ActivitySpool(std::move(*file), std::move(run_id), clock, period);
}

ActivitySpool::ActivitySpool(RecordFile file, std::string run_id, Clock& clock, Nanoseconds period)
    : file_(std::move(file)),
      run_id_(std::move(run_id)),
      clock_(&clock),
      period_(period),
      last_write_(clock.now()) {}

Status ActivitySpool::consume(const Activity& activity) {
  append_json(activity, run_id_, buffer_);
  buffer_ += '\n';
  ++count_;
  const bool due = buffer_.size() >= kBufferSize || clock_->now() - last_write_ >= period_;
  return due ? flush() : Status(Done{});
}

Status ActivitySpool::flush() {
  if (buffer_.empty()) return Done{};
  Status status = file_.append_lines(buffer_);
  buffer_.clear();
  last_write_ = clock_->now();
  return status;
}

namespace {

Nanoseconds activity_end(const Activity& activity) {
  return activity.start + activity.duration.value_or(Nanoseconds(0));
}

}  // namespace

Status OrderedSink::consume(const Activity& activity) {
  if (order_ == Order::arrival) return next_.consume(activity);
  kept_.push_back(activity);
  return Done{};
}

Status OrderedSink::release() {
  std::ranges::stable_sort(kept_, [](const Activity& a, const Activity& b) {
    return activity_end(a) != activity_end(b) ? activity_end(a) < activity_end(b)
                                              : a.start > b.start;
  });
  for (const Activity& activity : kept_) BENCH_RETURN_IF_ERROR(next_.consume(activity));
  kept_.clear();
  return Done{};
}

}  // namespace bench
