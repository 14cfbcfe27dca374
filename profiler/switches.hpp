// SPDX-License-Identifier: Apache-2.0
// The profiler's switches. One table gives each switch the same name in YAML (`profile:`), on the
// command line, in the environment (BENCH_PROFILE_*) and in the API.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// What is recorded. Each group has its own activities; switching it off removes exactly those.
BENCH_ENUM(RecordGroup, operators, api, memory, device, counters);
// operators: operator, primitive, range, marker and user counters. api: api and its counters.
// memory: allocation and its counters. device: kernel, memcpy, memset, synchronisation, overhead,
// and their counters. A counter activity belongs to the group of the component that records it.
// This component names the group itself (Recorder::record), because record_group() knows only the
// kind. The group `counters` has no activities. It requests a separate pass that reads a device's
// hardware counters, which runs only on request.
RecordGroup record_group(ActivityKind kind);

BENCH_ENUM(ProfileFormat, jsonl, trace, memory_flow);

enum class Autostart { no, yes };

// Both ends are included. Counting starts at 0.
struct IterationWindow {
  std::int64_t first = 5;
  std::int64_t last = 9;
  friend bool operator==(const IterationWindow&, const IterationWindow&) = default;
};

struct ProfileSwitches {
  std::set<RecordGroup> groups = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                  RecordGroup::device};  // the key `kinds`
  // For `bench run`, iterations without warm-up; for other programs, their outermost NVTX ranges.
  // If nullopt, `bench run` uses the default window and other programs are recorded completely.
  std::optional<IterationWindow> iterations;
  std::int64_t sample_rate = 0;  // record live bytes after every n-th operator; 0 for never
  std::set<ProfileFormat> formats = {ProfileFormat::jsonl};
  Nanoseconds dump_period = std::chrono::seconds(1);  // interval of the continuous dump
  Autostart autostart = Autostart::no;
  // for the API; default: profile-PID.jsonl in the current directory
  std::optional<std::string> file;

  IterationWindow iteration_window() const { return iterations.value_or(IterationWindow()); }
  bool records(RecordGroup group) const { return groups.contains(group); }
  friend bool operator==(const ProfileSwitches&, const ProfileSwitches&) = default;
};

struct SwitchRow {
  std::string_view name;      // YAML key, API key: "kinds"
  std::string_view option;    // "--profile", "--profile-iterations"; empty if there is none
  std::string_view variable;  // "BENCH_PROFILE_KINDS"
  std::string_view value;     // placeholder in help: "KINDS"
  std::string_view type;  // type in YAML: "list of `operators`, ..."; empty if it is not a YAML key
  std::string_view fallback;  // default value as written by users
  std::string_view help;
  // Parses `value` as written on a command line; lists are separated by commas. The message of an
  // error names both the value found and what was expected.
  Status (*apply)(ProfileSwitches& switches, std::string_view value);
  // Whether the API sets it: whether it has an effect outside `bench run`.
  enum class Api { refused, accepted } api = Api::refused;
  // Returns the value that a worker of `bench run` gets, which apply() reads. nullptr: no worker
  // needs it.
  std::string (*worker_value)(const ProfileSwitches& switches) = nullptr;
};
std::span<const SwitchRow> switch_rows();
const SwitchRow* find_switch(std::string_view name);  // by YAML key; nullptr if unknown

// Applies every BENCH_PROFILE_* variable that is set. An error names the variable.
using Variables = std::function<std::optional<std::string>(const std::string&)>;
Status apply_environment(const Variables& variable, ProfileSwitches& switches);

}  // namespace bench
