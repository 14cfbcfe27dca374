// SPDX-License-Identifier: Apache-2.0
// What tables of profiles know about each kind of activity, with one row for each kind.
#pragma once

#include "profiler/activity.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace bench::analysis {

// What counts as executed in a file. A query uses only the highest of these levels in the file.
// Higher levels are nested in lower ones, so adding levels would count time twice.
enum class Level { none, range, operation, work };

// Whether the time of an activity is part of that of the activity around it on its track.
enum class Nesting { apart, nested };

struct KindFacts {
  ActivityKind kind;
  Level level;
  Nesting nesting;
  std::string_view category;  // category in a summary; empty: in no table of times
};

inline constexpr std::array<KindFacts, enumerator_names<ActivityKind>().size()> kKindFacts = {{
    {ActivityKind::operation, Level::operation, Nesting::nested, "operator"},
    {ActivityKind::primitive, Level::work, Nesting::nested, "primitive"},
    {ActivityKind::kernel, Level::work, Nesting::nested, "device"},
    {ActivityKind::memcpy, Level::work, Nesting::nested, "device"},
    {ActivityKind::memset, Level::work, Nesting::nested, "device"},
    {ActivityKind::allocation, Level::none, Nesting::apart, ""},
    // The host waits, and the tracer works: a device executes neither this nor `overhead`.
    {ActivityKind::synchronisation, Level::none, Nesting::nested, "synchronisation"},
    {ActivityKind::api, Level::none, Nesting::nested, "api"},
    {ActivityKind::overhead, Level::none, Nesting::nested, "overhead"},
    {ActivityKind::range, Level::range, Nesting::nested, "range"},
    {ActivityKind::marker, Level::none, Nesting::apart, "marker"},
    {ActivityKind::counter, Level::none, Nesting::apart, ""},
    {ActivityKind::process, Level::none, Nesting::apart, ""},
    {ActivityKind::sample, Level::none, Nesting::apart, ""},
}};

constexpr const KindFacts& facts_of(ActivityKind kind) {
  return kKindFacts[static_cast<std::size_t>(kind)];
}
// Whether an activity of this kind is executed work: a primitive, a kernel, a copy or a memset.
// Surrounding calls and scopes only contain such work.
constexpr bool is_work(ActivityKind kind) { return facts_of(kind).level == Level::work; }

static_assert(
    [] {
      for (const KindFacts& row : kKindFacts) {
        if (&row != &facts_of(row.kind)) return false;
      }
      return true;
    }(),
    "the rows are in the order of the enumerators");

}  // namespace bench::analysis
