// SPDX-License-Identifier: Apache-2.0
// Which part of a program is recorded (`bench profile --window`).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Ranges by their number from 0, in the order in which they begin; both ends belong to it.
struct RangeNumbers {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const RangeNumbers&, const RangeNumbers&) = default;
};

struct CaptureWindow {
  enum class Kind { everything, ranges, profiler_api };
  Kind kind = Kind::everything;
  // Of kind `ranges`: those of this text; absent: the outermost ranges of the thread of the process
  // that pushes the first one.
  std::optional<std::string> name;
  std::optional<RangeNumbers> numbers;  // absent: all of them
  friend bool operator==(const CaptureWindow&, const CaptureWindow&) = default;
};

// "cuda-profiler-api"; "nvtx:NAME", "A-B" (or "A"), or both of them: the A-th to B-th of that name.
// None: everything. Error: anything else, with `where` the option.
Result<CaptureWindow> parse_capture_window(std::span<const std::string> words);

// The window as text for messages: "ranges 20 to 25 named `step`".
std::string describe(const CaptureWindow& window);

// When the window of one process is open. Times are given in the order of the spool.
class WindowState {
 public:
  explicit WindowState(const CaptureWindow& window) : window_(&window) {}

  // How a range that begins takes part; handed back when it ends.
  enum class Part { none, inside, first, last, only };
  // `name` is as the program gave it; `outermost`: see CaptureWindow::name.
  enum class Level { outermost, nested };
  Part begin_range(std::string_view name, Level level, Nanoseconds at);
  void end_range(Part part, Nanoseconds at);
  void start_profiler(Nanoseconds at);
  void stop_profiler(Nanoseconds at);

  bool contains(Nanoseconds start) const;  // of what began at `start`
  bool was_open() const {
    return window_->kind == CaptureWindow::Kind::everything || !spans_.empty();
  }
  // For a child after fork, which lives on in its parent's ranges.
  WindowState forked(Nanoseconds at) const;

 private:
  struct Span {
    Nanoseconds begin{0};
    std::optional<Nanoseconds> end;  // absent: still open
  };
  void open(Nanoseconds at);
  void close(Nanoseconds at);

  const CaptureWindow* window_;
  std::vector<Span> spans_;  // apart from one another, ascending
  std::int64_t ranges_ = 0;  // that the window counts, so far
  std::int64_t depth_ = 0;   // of them that are open
};

}  // namespace bench
