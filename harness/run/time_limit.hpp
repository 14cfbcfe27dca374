// SPDX-License-Identifier: Apache-2.0
// What ends a measurement early: its budget or the user.
#pragma once

#include "base/env.hpp"
#include "harness/result/record.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace bench {

// Time from the end of the budget until a worker that is still busy is killed. Most steps end
// earlier.
inline constexpr Nanoseconds kBudgetGrace = std::chrono::seconds(2);

class TimeLimit {
 public:
  // `budget` counts from the construction on. `interrupted` returns whether the user has
  // interrupted the measurement; it may be empty. `clock` must outlive this object.
  TimeLimit(std::optional<Nanoseconds> budget, std::function<bool()> interrupted, Clock& clock)
      : budget_(budget),
        interrupted_(std::move(interrupted)),
        clock_(clock),
        started_(clock.now()) {}

  bool is_interrupted() const { return interrupted_ && interrupted_(); }
  // Returns the rest of the budget, which is negative after its end.
  std::optional<Nanoseconds> remaining() const {
    if (!budget_) return std::nullopt;
    return *budget_ - elapsed();
  }
  Nanoseconds elapsed() const { return clock_.now() - started_; }
  // Returns why no further step may begin; nullopt if one may.
  std::optional<StopCause> stop_cause() const {
    if (is_interrupted()) return StopCause::interruption;
    if (const auto rest = remaining(); rest && *rest <= Nanoseconds(0)) return StopCause::budget;
    return std::nullopt;
  }
  // Returns whether a wait for a worker must end: `grace` after the budget, or at once after an
  // interruption.
  bool must_abort(Nanoseconds grace = kBudgetGrace) const {
    if (is_interrupted()) return true;
    const auto rest = remaining();
    return rest && *rest < -grace;
  }

 private:
  std::optional<Nanoseconds> budget_;
  std::function<bool()> interrupted_;
  Clock& clock_;
  Nanoseconds started_;
};

}  // namespace bench
