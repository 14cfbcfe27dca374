// SPDX-License-Identifier: Apache-2.0
// Time spent in an activity itself, without what nests in it on its track.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace bench {

// A stream stage. Activities of one track come in the order of their ends (as the recorder writes
// them) or of their starts; each is handed on once, after all that nest in it. Memory grows with
// the depth of nesting and, up to a bound, with the number of siblings.
class SelfTimes {
 public:
  // `self` is absent for what neither nests nor is nested in: instants, counters, allocations,
  // what never ended; and where siblings were too many to tell what nests.
  using Next = std::function<Status(const Activity& activity, std::optional<Nanoseconds> self)>;
  explicit SelfTimes(Next next);
  ~SelfTimes();

  Status take(const Activity& activity);
  // Hands on what waits for an end. Call once, after the last activity.
  Status finish();
  // Activities that came after the one in which they nest had been handed on: its self time holds
  // theirs.
  std::int64_t out_of_order() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
