// SPDX-License-Identifier: Apache-2.0
// Calls of a library's interface as activities of kind `api`, with two counters beside them:
// `calls` (so far) and `concurrency` (calls in flight; its maximum is the number of calling
// threads). Their time is part of the operators' time and never added to it.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace bench {

// Thread-safe. Outlives the calls; `recorder` outlives it.
class ApiCalls {
 public:
  explicit ApiCalls(Recorder& recorder) : recorder_(recorder) {}
  ApiCalls(const ApiCalls&) = delete;
  ApiCalls& operator=(const ApiCalls&) = delete;

  // A call that happens now; begin() gives its start.
  Nanoseconds begin();
  void end(std::string_view name, Nanoseconds start);
  // A call that is over: `call` has name, start and duration, and what the caller knows of its
  // scope. No call of the same thread may lie within it.
  void completed(Activity call);

  std::int64_t calls() const;  // so far

 private:
  void count_up(Nanoseconds at, const Activity& like);
  void count_down(Nanoseconds at, const Activity& like);
  void record_counter(std::string_view name, std::int64_t value, Nanoseconds at,
                      const Activity& like);

  Recorder& recorder_;
  mutable std::mutex mutex_;  // orders the counters in time
  std::int64_t calls_ = 0;
  std::int64_t in_flight_ = 0;
};

// One call, from construction to the end of the block. Costs a branch without `calls`.
class ApiCall {
 public:
  // `name` as the library's C interface has it; must outlive this.
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
