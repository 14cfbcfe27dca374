// SPDX-License-Identifier: Apache-2.0
// There are two steps per track. The first holds a chain of activities, each enclosing the next. In
// order of starts, a parent waits there for its children. In order of ends, a child passes when an
// activity arrives that is not nested in it. In both cases the second step sees children before
// parents. It keeps those that no parent has claimed yet.
#include "profiler/analysis/self_time.hpp"

#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace bench {
namespace {

struct Interval {
  Nanoseconds start, end;
  bool encloses(const Interval& other) const { return start <= other.start && end >= other.end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

Interval to_interval(const Activity& activity) {
  return {activity.start, activity.start + *activity.duration};
}

bool nests(const Activity& activity) {
  return analysis::facts_of(activity.kind).nesting == analysis::Nesting::nested &&
         activity.duration.has_value();
}

// Decides which kind encloses which if both have the same time.
int nesting_rank(ActivityKind kind) {
  if (kind == ActivityKind::range) return 3;
  if (kind == ActivityKind::operation) return 2;
  return kind == ActivityKind::api ? 1 : 0;
}

bool encloses(const Activity& outer, const Activity& inner) {
  const Interval span = to_interval(outer);
  if (span == to_interval(inner)) return nesting_rank(outer.kind) >= nesting_rank(inner.kind);
  return span.encloses(to_interval(inner));
}

// The smallest error of a time that explains why two activities cross. Without it, the later one
// ends with the earlier one, begins with it, or begins after it.
Nanoseconds smallest_error(const Interval& a, const Interval& b) {
  const Nanoseconds common = std::min(a.end, b.end) - std::max(a.start, b.start);
  return std::min({common, saturating_difference(std::max(a.end, b.end), std::min(a.end, b.end)),
                   saturating_difference(std::max(a.start, b.start), std::min(a.start, b.start))});
}

// One or several adjacent siblings that no parent has claimed.
struct Unclaimed {
  Interval span;
  Nanoseconds total{0};
  bool several = false;
};

// The siblings of one track that a parent may still claim. If there are too many, old adjacent ones
// are joined. A parent that begins inside joined siblings has an unknown nested time.
class Siblings {
 public:
  // Returns the time of nested activities in `span` and removes them. Returns nullopt if unknown.
  std::optional<Nanoseconds> claim(const Interval& span) {
    Nanoseconds nested{0};
    bool known = true;
    while (!list_.empty() && list_.back().span.end > span.start) {
      const Unclaimed& last = list_.back();
      if (!span.encloses(last.span)) {
        known = known && !last.several;
        if (!last.several) note_crossing(last.span, span);
        break;
      }
      nested = saturating_sum(nested, last.total);
      list_.pop_back();
    }
    // An activity of zero length is on the border; nothing is subtracted.
    return known ? std::optional(nested) : std::nullopt;
  }

  const SelfTimes::Crossing& crossing() const { return crossing_; }

  void add(const Interval& span) {
    list_.push_back({span, span.end - span.start, false});
    if (list_.size() > kMost) join();
  }

 private:
  static constexpr std::size_t kMost = 16384;  // 0.6 MB per track; layers have fewer children

  // One of the two may enclose the other: then the order of records is wrong, not the times.
  void note_crossing(const Interval& earlier, const Interval& span) {
    if (earlier.encloses(span)) return;
    const Nanoseconds error = smallest_error(earlier, span);
    if (error <= SelfTimes::kMinCrossing) return;
    ++crossing_.count;
    crossing_.largest = std::max(crossing_.largest, error);
  }

  // Joins pairs in the older three quarters.
  void join() {
    std::vector<Unclaimed> joined;
    const std::size_t old = kMost / 4 * 3;
    joined.reserve(kMost);
    for (std::size_t i = 0; i + 1 < old; i += 2) {
      const Unclaimed &a = list_[i], &b = list_[i + 1];
      joined.push_back({{a.span.start, std::max(a.span.end, b.span.end)},
                        saturating_sum(a.total, b.total),
                        true});
    }
    joined.insert(joined.end(), list_.begin() + static_cast<std::ptrdiff_t>(old), list_.end());
    list_ = std::move(joined);
  }

  std::vector<Unclaimed> list_;
  SelfTimes::Crossing crossing_;
};

struct TrackState {
  std::deque<Activity> held;  // each encloses the next; entries beyond `depth` are memory for reuse
  std::size_t depth = 0;
  Siblings siblings;
  std::optional<Nanoseconds> last_end;  // end of the last forwarded activity
};

// Malformed or hostile files must not use up all memory. Real files stay far below both limits.
constexpr std::size_t kMaxTracks = 10'000;
constexpr std::size_t kDeepest = 4096;

struct TrackOrder {
  static auto key(const Track& t) { return std::tie(t.pid, t.tid, t.device, t.stream); }
  bool operator()(const Track& a, const Track& b) const { return key(a) < key(b); }
};

}  // namespace

struct SelfTimes::State {
  Next next;
  std::map<Track, TrackState, TrackOrder> tracks;
  Track last_track;
  // state of last_track, because most activities are on the same track as the previous one
  TrackState* last_state = nullptr;
  std::int64_t out_of_order = 0;

  // Returns nullptr if there are too many tracks.
  TrackState* find_track_state(const Track& track) {
    if (last_state != nullptr && track == last_track) return last_state;
    const auto found = tracks.find(track);
    if (found == tracks.end() && tracks.size() >= kMaxTracks) return nullptr;
    last_track = track;
    last_state = found != tracks.end() ? &found->second : &tracks[track];
    return last_state;
  }

  Status hand_on(TrackState& track, const Activity& activity) {
    const Interval span = to_interval(activity);
    if (track.last_end && span.end < *track.last_end) ++out_of_order;
    track.last_end = std::max(track.last_end.value_or(span.end), span.end);
    const auto nested = track.siblings.claim(span);
    track.siblings.add(span);
    // Nested activities may overlap if records contradict each other. A time is never negative.
    const auto self = [&] { return std::max(Nanoseconds(0), *activity.duration - *nested); };
    return next(activity, nested ? std::optional(self()) : std::nullopt);
  }

  Status hand_on_last(TrackState& track) {
    --track.depth;
    return hand_on(track, track.held[track.depth]);
  }
};

SelfTimes::SelfTimes(Next next) : state_(std::make_unique<State>()) {
  state_->next = std::move(next);
}
SelfTimes::~SelfTimes() = default;

Status SelfTimes::consume(const Activity& activity) {
  TrackState* state = nests(activity) ? state_->find_track_state(activity.track) : nullptr;
  if (state == nullptr) return state_->next(activity, std::nullopt);
  TrackState& track = *state;
  while (track.depth > 0 && !encloses(track.held[track.depth - 1], activity)) {
    BENCH_RETURN_IF_ERROR(state_->hand_on_last(track));
  }
  if (track.depth == kDeepest) return state_->next(activity, std::nullopt);
  if (track.depth == track.held.size()) track.held.emplace_back();
  track.held[track.depth++] = activity;
  return Done{};
}

Status SelfTimes::finish() {
  for (auto& [key, track] : state_->tracks) {
    while (track.depth > 0) BENCH_RETURN_IF_ERROR(state_->hand_on_last(track));
  }
  return Done{};
}

std::int64_t SelfTimes::out_of_order() const { return state_->out_of_order; }

SelfTimes::Crossing SelfTimes::crossing() const {
  Crossing sum;
  for (const auto& [key, track] : state_->tracks) {
    sum.count += track.siblings.crossing().count;
    sum.largest = std::max(sum.largest, track.siblings.crossing().largest);
  }
  return sum;
}

}  // namespace bench
