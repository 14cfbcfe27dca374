// SPDX-License-Identifier: Apache-2.0
// The program's environment: clock, streams, environment variables. Functions get it as a
// parameter; there is no global instance.
#pragma once

#include "base/units.hpp"

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace bench {

class InheritedSignals;  // base/inherited_signals.hpp

// Source of the current time: CLOCK_MONOTONIC, CLOCK_REALTIME, or a scripted clock in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() = 0;
};

class MonotonicClock final : public Clock {
 public:
  Nanoseconds now() override;
};

// The time since 1970, which is set by hand or by NTP. Only for moments that other machines know.
class RealtimeClock final : public Clock {
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
  // Returns the value of an environment variable; nullopt if it is not set.
  std::function<std::optional<std::string>(const std::string&)> variable;
  std::function<std::string()> utc_now;  // returns for example "2026-11-21T08:00:00Z"
  // What main() replaced, for programs that run on behalf of the user. nullptr: it replaced
  // nothing.
  const InheritedSignals* inherited_signals = nullptr;

  // Returns whether to use colours: `out` is a terminal, NO_COLOR is not set, and TERM is not dumb.
  bool use_colour() const;
};

// Returns the folder for large files that a command needs only while it runs: TMPDIR, or else
// /var/tmp, because /tmp may be in memory.
std::string scratch_folder(const Env& env);

// Returns the value of a variable of this process; nullopt if it is not set. For code that gets no
// Env.
std::optional<std::string> environment_variable(const std::string& name);

// Returns the environment of this process; `clock` must outlive it.
Env real_env(Clock& clock);

}  // namespace bench
