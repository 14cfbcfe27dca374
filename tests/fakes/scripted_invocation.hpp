// SPDX-License-Identifier: Apache-2.0
// Invocations that take scripted time and record which one ran.
#pragma once

#include "harness/worker/rotation.hpp"
#include "tests/fakes/fake_clock.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::test {

// A rotation over `sets` invocations, which share one count of runs.
class ScriptedRuns {
 public:
  explicit ScriptedRuns(std::function<Nanoseconds(std::int64_t)> time, int sets = 1)
      : time_(std::move(time)) {
    std::vector<std::unique_ptr<ops::Invocation>> invocations;
    for (int i = 0; i < sets; ++i)
      invocations.push_back(std::make_unique<ScriptedInvocation>(*this, i));
    rotation_ = std::make_unique<Rotation>(std::move(invocations));
  }
  ScriptedRuns(const ScriptedRuns&) = delete;
  ScriptedRuns& operator=(const ScriptedRuns&) = delete;

  Rotation& rotation() { return *rotation_; }
  FakeClock& clock() { return clock_; }
  void fail_at(std::int64_t run) { fails_at_ = run; }
  const std::vector<int>& order() const { return order_; }  // which invocation ran

 private:
  class ScriptedInvocation final : public ops::Invocation {
   public:
    ScriptedInvocation(ScriptedRuns& runs, int index) : runs_(runs), index_(index) {}
    bool run() noexcept override {
      const auto number = static_cast<std::int64_t>(runs_.order_.size());
      runs_.order_.push_back(index_);
      runs_.clock_.advance(runs_.time_(number));
      return runs_.fails_at_ != number;
    }
    std::string error() const override { return "scripted failure"; }

   private:
    ScriptedRuns& runs_;
    int index_;
  };

  std::function<Nanoseconds(std::int64_t)> time_;
  std::optional<std::int64_t> fails_at_;
  FakeClock clock_;
  std::vector<int> order_;
  std::unique_ptr<Rotation> rotation_;
};

}  // namespace bench::test
