// SPDX-License-Identifier: Apache-2.0
// Computes self time: time spent in an activity without the activities nested in it on its track.
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
// them) or of their starts. Each is forwarded once, after all activities nested in it. Memory grows
// with the number of tracks, the nesting depth and the number of siblings, each up to a bound.
class SelfTimes {
 public:
  // `self` is nullopt for activities that do not nest: instants, counters, allocations and
  // unfinished ones. It is also nullopt beyond the bounds: for an activity with too many siblings
  // to determine what is nested, below 4,096 levels, and on further tracks after 10,000.
  using Next = std::function<Status(const Activity& activity, std::optional<Nanoseconds> self)>;
  explicit SelfTimes(Next next);
  ~SelfTimes();

  Status consume(const Activity& activity);
  // Forwards activities that still wait for an end. Call this once, after the last activity.
  Status finish();
  // Returns the number of activities that arrived after their enclosing activity had been
  // forwarded. The self time of the enclosing activity then includes theirs.
  std::int64_t out_of_order() const;
  // Activities that begin within another one of their track and end after it, if a time must be
  // wrong by more than `kMinCrossing`; `largest`: by how much at least.
  struct Crossing {
    std::int64_t count = 0;
    Nanoseconds largest{0};
  };
  // Times are stated in microseconds or better.
  static constexpr Nanoseconds kMinCrossing{2'000};
  Crossing crossing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
