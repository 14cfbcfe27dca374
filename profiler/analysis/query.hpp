// SPDX-License-Identifier: Apache-2.0
// A question about a profile and its answer as a table: choose, group, order, cut, show. Activities
// are read as a stream; memory grows with the rows shown or the groups, and what is more than that
// is sorted on disk.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/reader.hpp"

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class PhaseFilter { exec, create, all };
inline constexpr std::array<std::string_view, 3> kPhaseFilterNames = {"exec", "create", "all"};
enum class Aggregate { max, min, sum, mean };
inline constexpr std::array<std::string_view, 4> kAggregateNames = {"max", "min", "sum", "mean"};

// As the command line gives it; every filter that is set must hold.
struct AnalysisOptions {
  // Rows shown, 0: all. Default: kDefaultTop in tables for people, all in the others.
  std::optional<std::int64_t> top;
  // A word matches the kind of an activity, its phase, its operator (attributes primitive and op),
  // else its name. Any of them.
  std::vector<std::string> types;
  std::vector<std::string> kinds;        // any of them; default: what was executed
  std::optional<std::string> name;       // regular expression, over a part of the name
  std::optional<std::string> layer;      // successive names of the scope path: "layer1:conv2"
  std::optional<std::string> direction;  // "backward" holds for backward_data too
  std::vector<std::string> devices;      // "cpu", "cuda", "cuda:0", "0"; any of them
  std::optional<std::string> dtype;
  std::optional<Nanoseconds> min_time, max_time;
  std::optional<PhaseFilter> phase;         // default exec
  std::optional<std::string> aggregate_by;  // a column of text or numbers without a unit
  std::optional<Aggregate> aggregate;       // default sum
  std::optional<std::string> order_by;      // "COL" descending (default time_ns), "+COL" ascending
  std::vector<std::string> columns;         // in this order; default: by kind of table
  std::optional<std::int64_t> width;        // of the table, in characters
  std::optional<std::string> format;        // name of a row of table_formats(); default "table"
  std::optional<BytesPerSecond> peak_bandwidth;
  std::optional<FlopsPerSecond> peak_flops;
  friend bool operator==(const AnalysisOptions&, const AnalysisOptions&) = default;
};
inline constexpr std::int64_t kDefaultTop = 20;

// What the answer is written with.
struct AnalysisTarget {
  std::ostream* out = nullptr;
  std::optional<std::int64_t> terminal_width;  // columns; absent: not a terminal
  std::string folder;                          // for temporary files
};

struct AnalysisOutcome {
  ReadReport report;
  std::int64_t selected = 0;
  std::int64_t shown = 0;            // rows
  std::vector<std::string> remarks;  // for the user, beside the table
};

// Error in `options` alone: unknown column, bad pattern, ...; before anything is read.
Status check_options(const AnalysisOptions& options);

// Reads `source` to its end and writes the table. `work_of` may be empty. An `out` that fails
// (closed pipe) ends the writing; its state says so.
Result<AnalysisOutcome> analyze(TextSource& source, const WorkOf& work_of,
                                const AnalysisOptions& options, const AnalysisTarget& target);

}  // namespace bench
