// SPDX-License-Identifier: Apache-2.0
// Selects which part of a program is recorded (`bench profile --window`).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Range numbers, from 0, in the order in which the ranges begin. Both ends are included.
struct RangeNumbers {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const RangeNumbers&, const RangeNumbers&) = default;
};

struct CaptureWindow {
  enum class Kind { all, by_range, profiler_api };
  Kind kind = Kind::all;
  // For kind `by_range`: the ranges with this text. If nullopt, the outermost ranges of the thread
  // that pushes the process's first range.
  std::optional<std::string> name;
  std::optional<RangeNumbers> numbers;  // nullopt for all ranges
  friend bool operator==(const CaptureWindow&, const CaptureWindow&) = default;
};

// Accepts "cuda-profiler-api", "nvtx:NAME", "A-B" (or "A"). "nvtx:NAME" and "A-B" can be combined:
// the numbers then count only ranges of that name. An empty list selects everything. Anything else
// is an error whose `where` is "--window".
Result<CaptureWindow> parse_capture_window(std::span<const std::string> words);

// Formats the window for messages: "ranges 20 to 25 named `step`".
std::string describe(const CaptureWindow& window);

// Tracks when the window of one process is open. Times must be passed in the order of the spool.
class WindowState {
 public:
  explicit WindowState(const CaptureWindow& window) : window_(&window) {}

  // How a range takes part in the window. The caller passes it back when the range ends.
  enum class RangeRole { none, inside, opens, closes, opens_and_closes };
  // `name` is the text that the program gave to the range. `outermost`: the range is one of those
  // that CaptureWindow::name describes for nullopt.
  enum class Level { outermost, nested };
  RangeRole begin_range(std::string_view name, Level level, Nanoseconds at);
  void end_range(RangeRole role, Nanoseconds at);
  void start_profiler(Nanoseconds at);
  void stop_profiler(Nanoseconds at);

  // Returns the times between `begin` and `end` for which the window was open, ascending. A window
  // that is still open ends at `end`.
  std::vector<std::pair<Nanoseconds, Nanoseconds>> open_times(Nanoseconds begin,
                                                              Nanoseconds end) const;
  bool contains(Nanoseconds start) const;  // for an activity that began at `start`
  bool was_open() const { return window_->kind == CaptureWindow::Kind::all || !spans_.empty(); }
  // Returns the state for a child after fork, which continues in its parent's ranges.
  WindowState forked(Nanoseconds at) const;

 private:
  struct Span {
    Nanoseconds begin{0};
    std::optional<Nanoseconds> end;  // nullopt while open
  };
  void open(Nanoseconds at);
  void close(Nanoseconds at);

  const CaptureWindow* window_;
  std::vector<Span> spans_;          // disjoint, ascending
  std::int64_t counted_ranges_ = 0;  // number of ranges that the window has counted so far
  std::int64_t open_ranges_ = 0;     // number of these that are open; stays 0 for numbered ranges
};

}  // namespace bench
