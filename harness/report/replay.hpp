// SPDX-License-Identifier: Apache-2.0
// What a suite that was imported from a program stands for: the time of the program's executions
// beside that of the cases that repeat them. Pure functions.
#pragma once

#include "base/terminal_text.hpp"
#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// A case, and the executions of a program that it repeats.
struct ReplayedCase {
  std::string id;
  std::int64_t executions = 0;
  Nanoseconds original{0};         // sum over the executions
  Nanoseconds original_median{0};  // one execution
  // The median of the case; nullopt if the result has no time of it, and then the reason.
  std::optional<Nanoseconds> replayed;
  std::string reason;
  // What computed both; several implementations of the program are separated by blanks.
  std::string original_implementation, implementation;
};

struct Replay {
  std::vector<ReplayedCase> cases;  // those that take the most time in the program first
  Nanoseconds primitives{0};        // the time of all executions in the program
  std::size_t refused = 0;          // distinct primitives that no case repeats
};

// The sums over the cases with a time.
struct ReplaySums {
  std::int64_t executions = 0;
  Nanoseconds original{0};
  Nanoseconds original_medians{0};  // if each execution took the median of its case's executions
  Nanoseconds replayed{0};
};
ReplaySums sum_replay(const Replay& replay);

// Returns the answer: how long the replayed executions take compared to the program, and which
// share of its time they are. Then the table, and what is not replayed.
std::string format_replay(const Replay& replay, std::size_t width, Colour colour);

// Returns the same as one JSON object, with a newline.
std::string replay_json(const Replay& replay);

}  // namespace bench
