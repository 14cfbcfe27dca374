// SPDX-License-Identifier: Apache-2.0
// The table that defines the columns of activity tables, with one row for each column. The declared
// attributes are columns too. Options, help, headings, all formats and grouping use this table.
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

// Input for the columns of one activity's row.
struct RowContext {
  const Activity& activity;
  std::optional<Nanoseconds> self;
  const Peaks& peaks;
  // nullopt if unknown, or if no column shows it
  std::optional<ActivityIdeal> ideal = std::nullopt;
};

// How the values of several activities are merged into one.
enum class Merge {
  equal,      // the value if all agree, otherwise unknown
  aggregate,  // aggregated according to --aggregate
  statistic,  // computed from the group itself
  position,   // depends on the row's position in the table: share, cumulative, number
};

// What a value is computed from: only the file with the activities, or also the ceilings.
enum class Basis { file, ceilings };

// For Merge::position: what the column shows about the row's position.
enum class Position { none, number, share, cumulative, cumulative_share, bar };

struct Column {
  std::string_view name;  // used in options, CSV and JSON: "time_ns"
  std::string_view heading;
  Quantity quantity = Quantity::none;
  Merge merge = Merge::equal;
  std::string_view help;
  // Value for one activity; nullptr for Merge::position.
  Cell (*of_activity)(const RowContext& context, const Column& column) = nullptr;
  Cell (*of_group)(const GroupStatistics& group, Aggregate by) = nullptr;  // for Merge::statistic
  std::optional<Attribute> attribute;
  bool numeric = false;
  Position position = Position::none;
  Basis basis = Basis::file;
  std::string_view absent = "n/a";  // shown to humans if there is no value
};

// The column by which groups are ordered unless --order-by or --aggregate says otherwise.
inline constexpr std::string_view kTypicalColumn = "typical_ns";

std::span<const Column> columns();
// Finds a column by its name or by the names that PyProf and profile_analyze use. Returns an error
// with the nearest name, or with all names.
Result<const Column*> find_column(std::string_view name);

// Returns where an activity ran: "cuda:0", "cpu", or "gpu:0" for an engine of oneDNN.
std::string device_name(const Activity& activity);
// Returns the operator: attribute primitive, or else op, or else the name.
std::string_view operation_type(const Activity& activity);
bool has_flag(const RowContext& context, RowFlag flag);

}  // namespace bench::analysis
