// SPDX-License-Identifier: Apache-2.0
// The texts of `bench history`: all cases in a table, one case in detail, and both as JSON. Pure
// functions.
#pragma once

#include "harness/judge/trend.hpp"
#include "harness/report/console.hpp"
#include "harness/report/sparkline.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What a user asked for.
struct TrendView {
  // Shows only runs and changes from this UTC time on. The time may be shortened: "2026-11-01". If
  // nullopt, shows all.
  std::optional<std::string> since;
  std::string program = "bench";  // first word of the command lines that are printed for copying
  std::string store_option;       // ends these lines: " --baseline DIR", if the user gave it
  Glyphs glyphs = Glyphs::ascii;
};

// What a user should know about a case, the most important first.
enum class TrendState {
  slower,     // the last shown change is a detected one and made the case slower
  creeping,   // small changes added up
  faster,     // the last shown change is a detected one and made the case faster
  pending,    // its last runs differ, but are too few
  accepted,   // the last shown change is a new epoch
  unchanged,  // enough runs, no change
  too_few,    // not enough runs in any epoch
};
std::string_view to_string(TrendState state);

// A case as the view shows it.
class ShownTrend {
 public:
  // Returns nullopt if the view shows none of its runs. The trend must outlive the result.
  static std::optional<ShownTrend> from(const CaseTrend& trend, const TrendView& view);

  const CaseTrend& trend() const { return *trend_; }
  TrendState state() const { return state_; }
  std::size_t first_point() const { return first_; }  // the first point that is shown
  std::span<const TrendChange> changes() const;       // those that are shown
  const TrendChange* last_change() const;             // of these; nullptr if there is none
  // The level just before the first shown point. If no run precedes it, the level at this point.
  double reference_level() const;
  double total_effect() const { return trend_->present_level() - reference_level(); }
  // Whether the present level begins with a shown, detected change that made the case slower.
  bool is_slower_now() const;

 private:
  ShownTrend(const CaseTrend& trend, std::size_t first);
  const CaseTrend* trend_;
  std::size_t first_;
  TrendState state_ = TrendState::unchanged;
};
// The cases that the view shows, ordered by state, then by the size of their effect.
std::vector<ShownTrend> shown_trends(std::span<const CaseTrend> trends, const TrendView& view);

// A sentence with the answer, a table of all cases for each machine class, and the next command.
std::string format_trends(std::span<const ShownTrend> shown, const TrendView& view,
                          const ConsoleOptions& console);
// The answer for one case, all of its runs with the change points, and the next command.
std::string format_trend_detail(const ShownTrend& shown, const TrendView& view,
                                const ConsoleOptions& console);
// One object with the array `cases`; docs/history.md describes its fields.
std::string trends_json(std::span<const ShownTrend> shown);

}  // namespace bench
