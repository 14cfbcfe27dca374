// SPDX-License-Identifier: Apache-2.0
// The texts of `bench history`: a table of all cases, one case in detail, and JSON. Pure functions.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/trend.hpp"
#include "harness/report/console.hpp"
#include "harness/report/sparkline.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The user's options.
struct TrendView {
  // If set, only runs and changes from this UTC time on are shown. The time may be a prefix:
  // "2026-11-01".
  std::optional<std::string> since;
  std::string program = "bench";  // first word of the printed commands
  // The commands that list all series and show more of a case
  std::string list_command = "baseline list";
  std::string show_command = "baseline show";
  std::string store_option;  // end of these commands: " --baseline DIR", " --db URL", or empty
  Glyphs glyphs = Glyphs::ascii;
  // Returns whether the program of a run still exists, unchanged. May be empty.
  std::function<bool(const TrendRun& run)> has_program = {};
};

// What a user should know about a case, the most important first.
BENCH_ENUM(TrendState, slower,  // the last shown change is a detected one and made the case slower
           evident,    // the last runs differ by many times the variation, but are too few for a
                       // change point
           creeping,   // small changes added up without a step
           faster,     // the last shown change is a detected one and made the case faster
           pending,    // the last runs differ, but are too few to be certain
           accepted,   // the last shown change is a new epoch, which accepts the times
           unchanged,  // enough runs, no change
           too_few     // not enough runs in any epoch
);

// A case as the view shows it.
class ShownTrend {
 public:
  // Returns nullopt if the view shows none of its runs. The trend must outlive the result.
  static std::optional<ShownTrend> from(const CaseTrend& trend, const TrendView& view);

  const CaseTrend& trend() const { return *trend_; }
  TrendState state() const { return state_; }
  std::size_t first_point() const { return first_; }  // index of the first shown point
  std::span<const TrendChange> changes() const;       // the shown changes
  const TrendChange* last_change() const;             // the last shown change, or nullptr
  // Returns the level just before the first shown point, or at this point if it is the first of
  // all. If there are too few runs for two levels, returns the time of that run alone: a median of
  // runs would be the same at both ends.
  double reference_level() const;
  // The level of the last runs, or the time of the last run if there are too few runs.
  double present_level() const;
  // The difference from the reference level to the present level.
  double total_effect() const { return present_level() - reference_level(); }
  // Whether the present level begins with a shown, detected change that made the case slower, or
  // the last runs are evidently slower.
  bool is_slower_now() const;
  // Whether the last runs may have become slower, but this is neither evident nor certain.
  bool may_be_slower() const;

 private:
  ShownTrend(const CaseTrend& trend, std::size_t first);
  const CaseTrend* trend_;
  std::size_t first_;
  TrendState state_ = TrendState::unchanged;
};
// Returns the cases that the view shows, ordered by state, then by the size of their effect,
// largest first.
std::vector<ShownTrend> shown_trends(std::span<const CaseTrend> trends, const TrendView& view);

// Returns a command on its own line, which is never wrapped since users copy the command.
std::string format_next_command(std::string_view announcement, const std::string& command);

// Returns what happened to the case, without its name: "became 4.1 % slower on 2026-11-12".
std::string describe_event(const ShownTrend& shown);

// Returns sentences with the answer, a table of the cases per machine class, and the next command.
std::string format_trends(std::span<const ShownTrend> shown, const TrendView& view,
                          const ConsoleOptions& console);
// Returns the answer for one case, a table of the shown runs with the change points, and the next
// command.
std::string format_trend_detail(const ShownTrend& shown, const TrendView& view,
                                const ConsoleOptions& console);
// Returns one object with the array `cases`; docs/history.md describes its fields.
std::string trends_json(std::span<const ShownTrend> shown);

}  // namespace bench
