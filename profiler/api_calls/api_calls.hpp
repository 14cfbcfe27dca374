// SPDX-License-Identifier: Apache-2.0
// Records calls of a library's interface as activities of kind `api`, with two counters: `calls`
// (so far) and `concurrency` (calls in flight). The maximum of `concurrency` is the number of
// calling threads. The calls' time is part of the operators' time and is never added to it.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace bench {

// Thread-safe. Must outlive the calls; `recorder` must outlive it.
class ApiCalls {
 public:
  explicit ApiCalls(Recorder& recorder) : recorder_(recorder) {}
  ApiCalls(const ApiCalls&) = delete;
  ApiCalls& operator=(const ApiCalls&) = delete;

  // For a call that happens now. begin() returns its start.
  Nanoseconds begin();
  void end(std::string_view name, Nanoseconds start);
  // Records a finished call: `call` has name, start and duration, and what the caller knows of its
  // scope. No other call of the same thread may be nested in it.
  void completed(Activity call);

  std::int64_t calls() const;  // so far

 private:
  void count_up(Nanoseconds at, const Activity& context);
  void count_down(Nanoseconds at, const Activity& context);
  void record_counter(std::string_view name, std::int64_t value, Nanoseconds at,
                      const Activity& context);

  Recorder& recorder_;
  mutable std::mutex mutex_;  // orders the counters in time
  std::int64_t calls_ = 0;
  std::int64_t in_flight_ = 0;
};

// One call, from construction to the end of the block. Costs one branch if `calls` is nullptr.
class ApiCall {
 public:
  // `name` is the function's name in the library's C interface; it must outlive this object.
  ApiCall(ApiCalls* calls, std::string_view name) : calls_(calls), name_(name) {
    if (calls_ != nullptr) start_ = calls_->begin();
  }
  ~ApiCall() {
    if (calls_ != nullptr) calls_->end(name_, start_);
  }
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

 private:
  ApiCalls* calls_;
  std::string_view name_;
  Nanoseconds start_{0};
};

}  // namespace bench
