// SPDX-License-Identifier: Apache-2.0
// The program's environment: clock, streams, environment variables. Passed as a parameter, never
// global.
#pragma once

#include "base/units.hpp"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace bench {

// CLOCK_MONOTONIC, or a scripted clock in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() = 0;
};

class MonotonicClock final : public Clock {
 public:
  Nanoseconds now() override;
};

struct Env {
  Clock* clock;       // not owned, never null
  std::ostream* out;  // results
  std::ostream* err;  // progress and messages
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::optional<int> terminal_width;  // columns of the terminal of `out` or `err`
  std::function<std::optional<std::string>(const std::string&)> variable;  // getenv
  std::function<std::string()> utc_now;                                    // "2026-11-21T08:00:00Z"

  // Returns true only on a terminal, and never with NO_COLOR set or TERM=dumb.
  bool use_colour() const;
};

// Folder for large files that live as long as a command: TMPDIR, or /var/tmp, because /tmp may be
// in memory.
std::string scratch_folder(const Env& env);

// The real environment; `clock` must outlive it.
Env real_env(Clock& clock);

}  // namespace bench
