// SPDX-License-Identifier: Apache-2.0
// The profiler's switches: one table names each of them alike in YAML (`profile:`), on the command
// line, in the environment (BENCH_PROFILE_*) and in the API.
#pragma once

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

// What is recorded. Each group has rows of its own and, switched off, removes exactly those.
enum class RecordGroup { operators, api, memory, device, counters };
std::span<const std::string_view> record_group_names();  // in the order of the enumerators
// operators: operator, primitive, range, marker, and counters of users; api: api and its counters;
// memory: allocation and its counters; device: kernel, memcpy, memset, synchronisation, overhead.
// Counters belong to the group of who writes them, so they are asked for by group. counters: no
// rows, but a pass of its own that reads a device's hardware counters; only where it is asked for.
RecordGroup group_of(ActivityKind kind);

enum class ProfileFormat { jsonl, trace, memory_flow };
std::span<const std::string_view> profile_format_names();

enum class Autostart { no, yes };

// Both ends are recorded; counted from 0.
struct IterationWindow {
  std::int64_t first = 5;
  std::int64_t last = 9;
  friend bool operator==(const IterationWindow&, const IterationWindow&) = default;
};

struct ProfileSwitches {
  std::set<RecordGroup> kinds = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                 RecordGroup::device};
  // Of `bench run`, warm-up excluded; of other programs their outermost NVTX ranges. Absent: the
  // usual window there, and everything here.
  std::optional<IterationWindow> iterations;
  std::int64_t sample_rate = 0;  // live bytes after every n-th operator; 0: none
  std::set<ProfileFormat> formats = {ProfileFormat::jsonl};
  Nanoseconds dump_period = std::chrono::seconds(1);  // of the continuous dump
  Autostart autostart = Autostart::no;
  std::optional<std::string> file;  // of the API; default profile-PID.jsonl in the current folder

  IterationWindow iteration_window() const { return iterations.value_or(IterationWindow()); }
  bool records(RecordGroup group) const { return kinds.contains(group); }
  friend bool operator==(const ProfileSwitches&, const ProfileSwitches&) = default;
};

struct SwitchRow {
  std::string_view name;      // YAML key, API key: "kinds"
  std::string_view option;    // "--profile", "--profile-iterations"; empty: none
  std::string_view variable;  // "BENCH_PROFILE_KINDS"
  std::string_view value;     // of help: "KINDS"
  std::string_view type;      // in YAML: "list of `operators`, ..."; empty: no key of YAML
  std::string_view fallback;  // as written
  std::string_view help;
  // `value` as written on a command line: lists separated by commas. Error: `what` says found and
  // expected.
  Status (*apply)(ProfileSwitches& switches, std::string_view value);
};
std::span<const SwitchRow> switch_rows();
const SwitchRow* find_switch(std::string_view name);  // by YAML key; nullptr when unknown

// Applies every BENCH_PROFILE_* that is set. Errors name the variable.
using Variables = std::function<std::optional<std::string>(const std::string&)>;
Status apply_environment(const Variables& variable, ProfileSwitches& switches);

}  // namespace bench
