// SPDX-License-Identifier: Apache-2.0
#include "profiler/switches.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace bench {
namespace {

// Maximum of any count that a user sets: far above any real run, and far from overflow.
constexpr std::int64_t kMaxIterations = 1'000'000'000;

// Words of MegEngine's profiler, and the words for the same here.
struct SynonymRow {
  std::string_view written;
  std::string_view name;
};
constexpr std::array<SynonymRow, 2> kSynonyms = {
    {{"chrome_timeline.json", "trace"}, {"memory_flow.svg", "memory_flow"}}};

std::string expected_name(std::string_view written, std::span<const std::string_view> names) {
  const auto* known = std::ranges::find(kSynonyms, written, &SynonymRow::written);
  const bool is_known =
      known != kSynonyms.end() && std::ranges::find(names, known->name) != names.end();
  return is_known ? fmt::format("use `{}`", known->name) : expectation(written, names);
}

// Parses names separated by commas; "all" selects every one.
template <class Enum>
Status read_set(std::string_view value, std::set<Enum>& result) {
  constexpr std::span<const std::string_view> kNames = enumerator_names<Enum>();
  std::set<Enum> read;
  while (true) {
    const std::size_t comma = value.find(',');
    const std::string_view word = value.substr(0, comma);
    if (const auto found = enumerator_from_name<Enum>(word)) {
      read.insert(*found);
    } else if (word == "all") {
      for (std::size_t i = 0; i < kNames.size(); ++i) read.insert(static_cast<Enum>(i));
    } else {
      return Error{fmt::format("unknown word {}", quote(word)), "", expected_name(word, kNames)};
    }
    if (comma == std::string_view::npos) break;
    value.remove_prefix(comma + 1);
  }
  result = std::move(read);
  return Done{};
}

std::optional<std::int64_t> read_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < 0 ||
      number > kMaxIterations) {
    return std::nullopt;
  }
  return number;
}

Status read_iterations(ProfileSwitches& switches, std::string_view value) {
  const std::size_t dash = value.find('-');
  const auto first = read_count(value.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : read_count(value.substr(dash + 1));
  if (!first || !last || *last < *first) {
    return Error{
        fmt::format("{} is not a valid range of iterations, expected N or A-B", quote(value)), "",
        "for example 5-9"};
  }
  switches.iterations = IterationWindow{*first, *last};
  return Done{};
}

Status read_sample_rate(ProfileSwitches& switches, std::string_view value) {
  const auto rate = read_count(value);
  if (!rate)
    return Error{
        fmt::format("{} is not a valid sample rate, expected an integer >= 0", quote(value)), "",
        ""};
  switches.sample_rate = *rate;
  return Done{};
}

Status read_period(ProfileSwitches& switches, std::string_view value) {
  BENCH_ASSIGN_OR_RETURN(const Nanoseconds period, parse_duration(value));
  if (period <= Nanoseconds(0))
    return Error{"a period must be longer than 0", "", "for example 1s"};
  switches.dump_period = period;
  return Done{};
}

Status read_autostart(ProfileSwitches& switches, std::string_view value) {
  if (value != "0" && value != "1")
    return Error{fmt::format("{}, expected 0 or 1", quote(value)), "", ""};
  switches.autostart = value == "1" ? Autostart::yes : Autostart::no;
  return Done{};
}

std::string format_kinds(const ProfileSwitches& switches) {
  std::string kinds;
  for (const RecordGroup group : switches.groups) {
    if (group == RecordGroup::counters) continue;  // a separate pass
    kinds += kinds.empty() ? "" : ",";
    kinds += to_string(group);
  }
  return kinds;
}

std::string format_iterations(const ProfileSwitches& switches) {
  const auto [first, last] = switches.iteration_window();
  return fmt::format("{}-{}", first, last);
}

using Api = SwitchRow::Api;

constexpr std::array<SwitchRow, 7> kSwitches = {{
    {"kinds", "profile", "BENCH_PROFILE_KINDS", "KINDS",
     "list of `operators`, `api`, `memory`, `device`, `counters`", "operators,api,memory,device",
     "what is recorded",
     [](ProfileSwitches& switches, std::string_view value) {
       return read_set(value, switches.groups);
     },
     Api::accepted, format_kinds},
    {"iterations", "profile-iterations", "BENCH_PROFILE_ITERATIONS", "RANGE",
     "number, or range `5-9`", "5-9", "which iterations are recorded, from 0", read_iterations,
     Api::refused, format_iterations},
    {"sample_rate", "sample-rate", "BENCH_PROFILE_SAMPLE_RATE", "N", "integer >= 0", "0",
     "live memory after every N-th operator; 0: never", read_sample_rate, Api::refused,
     [](const ProfileSwitches& switches) { return std::to_string(switches.sample_rate); }},
    {"formats", "profile-format", "BENCH_PROFILE_FORMATS", "FORMATS",
     "list of `jsonl`, `trace`, `memory_flow`", "jsonl",
     "what is written: jsonl, trace, memory_flow",
     [](ProfileSwitches& switches, std::string_view value) {
       return read_set(value, switches.formats);
     }},
    {"dump_period", "", "BENCH_PROFILE_DUMP_PERIOD", "TIME", "duration", "1s",
     "how often the records are written to the file", read_period, Api::accepted,
     [](const ProfileSwitches& switches) {
       return fmt::format("{}ns", switches.dump_period.count());
     }},
    {"autostart", "", "BENCH_PROFILE_AUTOSTART", "0|1", "", "0",
     "record from the start of the program, without changing its code", read_autostart},
    {"file", "", "BENCH_PROFILE_FILE", "FILE", "", "profile-PID.jsonl", "where the profile goes",
     [](ProfileSwitches& switches, std::string_view value) -> Status {
       if (value.empty()) return Error{"the file name is empty", "", ""};
       switches.file = std::string(value);
       return Done{};
     },
     Api::accepted},
}};

}  // namespace

std::span<const SwitchRow> switch_rows() { return kSwitches; }

RecordGroup record_group(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::operation:
    case ActivityKind::primitive:
    case ActivityKind::range:
    case ActivityKind::marker:
    case ActivityKind::counter:
    case ActivityKind::process:
    case ActivityKind::sample:
      return RecordGroup::operators;
    case ActivityKind::api:
      return RecordGroup::api;
    case ActivityKind::allocation:
      return RecordGroup::memory;
    case ActivityKind::kernel:
    case ActivityKind::memcpy:
    case ActivityKind::memset:
    case ActivityKind::synchronisation:
    case ActivityKind::overhead:
      break;
  }
  return RecordGroup::device;
}

const SwitchRow* find_switch(std::string_view name) {
  for (const SwitchRow& row : kSwitches) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status apply_environment(const Variables& variable, ProfileSwitches& switches) {
  for (const SwitchRow& row : kSwitches) {
    const std::optional<std::string> value = variable(std::string(row.variable));
    if (!value) continue;
    if (Status status = row.apply(switches, *value); !status) {
      Error error = std::move(status).error();
      error.where = std::string(row.variable);
      return error;
    }
  }
  return Done{};
}

}  // namespace bench
