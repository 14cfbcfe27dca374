// SPDX-License-Identifier: Apache-2.0
// Makes the measurements of `bench` on one machine wait for each other, since two at once disturb
// each other (docs/decisions/0040). A measurement takes a turn: it locks a file that all users of
// the machine share, and writes a line about itself into it. The lock is advisory and ends with its
// process, however that ends.
#pragma once

#include "base/enumerators.hpp"
#include "base/env.hpp"
#include "base/file.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// What a measurement does while another one runs: it waits, it runs beside it, or it refuses to
// start.
BENCH_ENUM(Beside, wait, run, refuse);

// Names another file to lock; empty: none is locked. For containers that share a machine but not
// its folders, and for tests.
inline constexpr const char* kTurnFileVariable = "BENCH_LOCK";
// The process whose turn includes this one, because it started this one: its number.
inline constexpr const char* kTurnHolderVariable = "BENCH_LOCK_HOLDER";

// Longest wait for other measurements, after which a measurement runs beside them.
inline constexpr Nanoseconds kTurnLimit = std::chrono::minutes(10);

// Returns the file to lock. Without the variable, it is in the first of `folders` in which every
// user can create files; nullopt if there is none.
std::optional<std::string> find_turn_file(const Env& env, std::span<const std::string> folders);
// The folders in which the lock of a machine may be.
std::span<const std::string> turn_folders();

// What a measurement writes into the file about itself.
struct TurnEntry {
  std::int64_t process = 0;
  // When the process started, in ticks since the boot, and the namespace of process numbers. Both
  // together with the number identify a process.
  std::int64_t started_ticks = 0;
  std::string name_space;
  std::string since;    // UTC
  std::string command;  // "bench run quick.yaml"
  // A profile does not wait for other profiles: the processes of one job are profiled together.
  bool is_profile = false;
  friend bool operator==(const TurnEntry&, const TurnEntry&) = default;

  // Returns "process 1234, `bench run quick.yaml`, since 2026-11-21T08:00:00Z".
  std::string text() const;
};

// Returns the entry of this process.
TurnEntry make_turn_entry(std::string command, std::string since);

struct TurnRequest {
  std::optional<std::string> file;  // nullopt: no file can be locked, so nothing is waited for
  Beside beside = Beside::wait;
  TurnEntry own;
  std::optional<std::int64_t> holder;               // of kTurnHolderVariable
  Nanoseconds limit = kTurnLimit;                   // longest wait
  std::function<bool()> interrupted;                // polled while it waits; may be empty
  std::function<void(const std::string&)> message;  // says that it waits, and that it goes on
  std::function<void(Nanoseconds)> pause;           // lets time pass
  // Whether the process of an entry still runs.
  std::function<bool(const TurnEntry&)> is_alive;
};

// Whether the process of an entry runs, by /proc. False for a process of another namespace, which
// cannot be seen.
bool is_running(const TurnEntry& entry);

class MachineTurn {
 public:
  // Waits for other measurements as the request says. Returns an error if it is interrupted, or if
  // another one runs and `beside` is `refuse`.
  static Result<MachineTurn> take(const TurnRequest& request, Clock& clock);

  // Measurements that ran when this one began, because it did not wait for them, or not for so
  // long.
  const std::vector<std::string>& beside() const { return beside_; }
  // Measurements that began since.
  std::vector<std::string> joined() const;
  // Both of them.
  std::vector<std::string> all() const;

 private:
  MachineTurn(Descriptor file, const TurnEntry& own) : file_(std::move(file)), own_(own) {}

  Descriptor file_;
  TurnEntry own_;
  std::vector<TurnEntry> before_;  // entries of the file when this one began
  std::vector<std::string> beside_;
};

}  // namespace bench
