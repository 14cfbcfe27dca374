// SPDX-License-Identifier: Apache-2.0
// The columns of tables over activities: one row each, declared attributes among them. Options,
// help, headings, all formats and grouping follow from it.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/cell.hpp"
#include "profiler/analysis/group.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::analysis {

struct Peaks {
  std::optional<BytesPerSecond> bandwidth;
  std::optional<FlopsPerSecond> flops;
};

// What the columns of one activity's row are made of.
struct Subject {
  const Activity& activity;
  std::optional<Nanoseconds> self;
  const Peaks& peaks;
};

// How a column's values of several activities become one.
enum class Merge {
  equal,      // the value that all have, else unknown
  aggregate,  // by --aggregate
  statistic,  // of the group itself
  position,   // of the row in the table: share, cumulative, number
};

// What a row's place in the table says, with Merge::position.
enum class Position { none, number, share, cumulative, cumulative_share, bar };

struct Column {
  std::string_view name;  // in options, CSV and JSON: "time_ns"
  std::string_view heading;
  Quantity quantity = Quantity::none;
  Merge merge = Merge::equal;
  std::string_view help;
  // Of one activity; nullptr with Merge::position.
  Cell (*of_activity)(const Subject& subject, const Column& column) = nullptr;
  Cell (*of_group)(const GroupStatistics& group, Aggregate by) = nullptr;  // Merge::statistic
  std::optional<Attribute> attribute;
  bool numeric = false;
  Position position = Position::none;
  std::string_view absent = "n/a";  // what people read where there is no value
};

std::span<const Column> columns();
// By name or by the names that PyProf and profile_analyze have for it. Error: the nearest name, or
// all of them.
Result<const Column*> find_column(std::string_view name);

// "cuda:0", "cpu": where an activity ran.
std::string device_of(const Activity& activity);
// The operator: attribute primitive, else op, else the name.
std::string_view type_of(const Activity& activity);
bool has_flag(const Subject& subject, RowFlag flag);

}  // namespace bench::analysis
