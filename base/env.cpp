// SPDX-License-Identifier: Apache-2.0
#include "base/env.hpp"

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bench {
namespace {

std::string format_utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-21T08:00:00Z  "];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, length};
}

// Returns the width of the terminal in columns; nullopt if the descriptor is not a terminal.
std::optional<int> read_width(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Nanoseconds MonotonicClock::now() { return read_clock(CLOCK_MONOTONIC); }

Nanoseconds RealtimeClock::now() { return read_clock(CLOCK_REALTIME); }

bool Env::use_colour() const {
  if (!out_is_terminal || variable("NO_COLOR")) return false;
  return variable("TERM").value_or("") != "dumb";
}

std::string scratch_folder(const Env& env) { return env.variable("TMPDIR").value_or("/var/tmp"); }

Env real_env(Clock& clock) {
  Env env;
  env.clock = &clock;
  env.out = &std::cout;
  env.err = &std::cerr;
  env.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  env.err_is_terminal = isatty(STDERR_FILENO) != 0;
  env.terminal_width = read_width(STDOUT_FILENO);
  if (!env.terminal_width) env.terminal_width = read_width(STDERR_FILENO);
  env.variable = environment_variable;
  env.utc_now = format_utc_now;
  return env;
}

}  // namespace bench
