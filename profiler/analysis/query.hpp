// SPDX-License-Identifier: Apache-2.0
// Queries a profile and writes the result as a table: selects, groups, orders and cuts. Activities
// are read as a stream. Memory grows with the rows shown or the number of groups; larger sets are
// sorted on disk.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/analysis/audit.hpp"
#include "profiler/reader.hpp"
#include "profiler/work_sink.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

BENCH_ENUM(PhaseFilter, exec, create, all);
BENCH_ENUM(Aggregate, max, min, sum, mean);

// Options of the command line. Every filter that is set must match.
struct AnalysisOptions {
  // Rows shown; 0 for all. The default is kDefaultTop for human-readable tables and all for other
  // formats.
  std::optional<std::int64_t> top;
  // Any of these words must match. A word matches an activity's kind, its phase, its operator
  // (attributes primitive and op) or else its name.
  std::vector<std::string> types;
  std::vector<std::string> kinds;        // any of them must match; default: what was executed
  std::optional<std::string> name;       // regular expression that matches part of the name
  std::optional<std::string> layer;      // successive names in the scope path: "layer1:conv2"
  std::optional<std::string> direction;  // "backward" also matches backward_data
  std::vector<std::string> devices;      // "cpu", "cuda", "gpu", "cuda:0", "0"; any must match
  std::vector<std::string> dtypes;       // spellings of one data type; any of them must match
  std::optional<Nanoseconds> min_time, max_time;
  std::optional<PhaseFilter> phase;  // default: exec
  // Columns with text or with numbers without a unit: one row for each combination of their values.
  std::vector<std::string> aggregate_by;
  std::optional<Aggregate> aggregate;   // default: sum
  std::optional<std::string> order_by;  // "COL" descending, "+COL" ascending; default: plan_query()
  std::vector<std::string> columns;     // in this order; the default depends on the kind of table
  std::optional<std::int64_t> width;    // width of the table in characters
  std::optional<std::string> format;    // name of a row of table_formats(); default "table"
  std::optional<BytesPerSecond> peak_bandwidth;
  std::optional<FlopsPerSecond> peak_flops;
  friend bool operator==(const AnalysisOptions&, const AnalysisOptions&) = default;
};
inline constexpr std::int64_t kDefaultTop = 20;

// Where the result is written.
struct AnalysisTarget {
  std::ostream* out = nullptr;
  std::optional<std::int64_t> terminal_width;  // columns; nullopt if not a terminal
  std::string folder;                          // for temporary files
};

// The shortest time that a machine permits for an activity, and what limits it: "compute",
// "memory", "cache" or "launch".
struct ActivityIdeal {
  Nanoseconds time{0};
  std::string_view bound;
};
// Returns nullopt if the work is unknown or the machine was not measured on that device.
using IdealProvider = std::function<std::optional<ActivityIdeal>(const Activity&)>;

// What the caller knows about the machine's ceilings; the profiler only shows it.
struct CeilingKnowledge {
  IdealProvider compute_ideal;  // empty if no ceilings are known
  std::string note;  // where they come from, or how to measure them; shown below the table
};

struct AnalysisOutcome {
  ReadReport report;
  std::int64_t selected = 0;
  std::int64_t shown = 0;          // number of rows
  std::vector<std::string> notes;  // for the user, next to the table
  // Which part of the processes' wall time was recorded, if the format has no place for it; else
  // empty.
  std::string answer;
  ProfileAudit audit;  // the table begins with it, if the format is for people
};

// Returns an error in `options` only, such as an unknown column or a bad pattern, before anything
// is read.
Status check_options(const AnalysisOptions& options);

// Whether the table or its order depends on the machine's ceilings, so that the caller has to find
// them.
bool needs_ceilings(const AnalysisOptions& options);

// Reads `input` to its end and writes the table. `compute_work` may be empty. If `out` fails
// (closed pipe), writing stops; the state of `out` shows this.
Result<AnalysisOutcome> analyze(const ActivityInput& input, const WorkProvider& compute_work,
                                const CeilingKnowledge& ceilings, const AnalysisOptions& options,
                                const AnalysisTarget& target);
// The same for one file.
Result<AnalysisOutcome> analyze(TextSource& source, const WorkProvider& compute_work,
                                const CeilingKnowledge& ceilings, const AnalysisOptions& options,
                                const AnalysisTarget& target);

}  // namespace bench
