// SPDX-License-Identifier: Apache-2.0
// Summarises a profile: time by layer, by operator and by category (the aggregate tables of `bench
// run --profile`). It consumes activities one by one. Memory grows with the number of different
// names, not of activities, and is bounded: further names are one row (bounded_names.hpp).
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/sample_times.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct ProfileAudit;

// Times of all activities with one name. p50 and p95 are within 1 % (QuantileSketch).
struct TimeRow {
  std::string name;
  std::int64_t count = 0;
  std::int64_t unfinished = 0;  // activities without a duration; they only enter `count`
  Nanoseconds total{0};
  std::optional<Nanoseconds> self;  // without nested activities; nullopt if it does not nest
  std::optional<Nanoseconds> min, max, mean, p50, p95;
  // Does not count activities nested in another row of the same table. For layers and operators it
  // is a fraction of the wall time, so all rows add up to 1. In other tables it is a fraction of
  // the time of all rows.
  std::optional<double> share;
  std::optional<double> cumulative_share;  // of this row and the rows before it
};

// Values of one counter. The mean is weighted by how long each value was valid. Counters are never
// added to times.
struct CounterRow {
  std::string name;
  std::string unit;
  std::int64_t count = 0;
  std::optional<double> min, max, mean, last;
};

// Sizes of allocations by role or name, in bytes.
struct MemoryRow {
  std::string name;
  std::int64_t count = 0;
  std::int64_t total_bytes = 0;
  std::optional<std::int64_t> min_bytes, max_bytes;
  std::optional<double> mean_bytes;
};

// MXNet's five sort keys.
enum class SummarySort { total, mean, min, max, count };
enum class SortOrder { descending, ascending };
struct SummaryOptions {
  SummarySort sort = SummarySort::total;
  SortOrder order = SortOrder::descending;
  std::size_t top = 0;  // maximum rows per table; 0 for all
  // Width of the terminal in columns; nullopt for no limit.
  std::optional<std::size_t> width = {};
};

// attributed + unattributed = wall.
struct Attribution {
  // Time of the recorded iterations (ranges with the attribute `iteration`). Without them, the wall
  // time of the processes (analysis/coverage.hpp) or, if the start times are unknown, the time of
  // what was recorded.
  Nanoseconds wall{0};
  Nanoseconds attributed{0};             // in activities with a layer or an operator
  Nanoseconds unattributed{0};           // the rest: gaps, the tool's own work
  Nanoseconds outside{0};                // the part of `unattributed` in which nothing was recorded
  std::size_t cases = 0;                 // number of cases whose iterations `wall` adds
  std::optional<WallCoverage> coverage;  // nullopt if `wall` is that of iterations
  // at_once: activities of several threads overlap. Their rows then add the times of the threads
  // and share their common wall time in proportion.
  enum class Threads { one_at_a_time, at_once };
  Threads threads = Threads::one_at_a_time;
};

// Whether `wall` is a wall time, and not only the time of what was recorded.
bool is_wall_known(const Attribution& attribution);

class Summary final : public ActivitySink {
 public:
  Summary();
  ~Summary() override;
  Summary(Summary&&) noexcept;
  Summary& operator=(Summary&&) noexcept;

  // Activities of one track come in the order of their ends (as the recorder writes them) or of
  // their starts.
  Status consume(const Activity& activity) override;
  // How the source knows when activities began (ReadReport::starts).
  void set_start_times(StartTimes starts);
  // Clears everything (MXNet's dumps(reset)).
  void reset();

  bool empty() const;
  // Whether the profile has more names than the tables: the others are in the row of further names.
  bool has_joined_names() const;
  Attribution attribution() const;
  // Wall time by scope path, or by case outside any scope. A layer's time is that of its host
  // operators. If ranges define the layer, it is everything in the layer and below, and `self` is
  // the part outside primitives. Otherwise it is the time of the layer's primitives. Unattributed
  // time is a row, and so is the time in which nothing was recorded: "(outside)".
  std::vector<TimeRow> layers(const SummaryOptions& options) const;
  // Wall time by operator (attribute primitive, or else op, or else name) of what was executed on
  // the host. If nothing was, by host operators. Time outside operators is a row.
  std::vector<TimeRow> operators(const SummaryOptions& options) const;
  // The same for devices. The wall time does not include it.
  std::vector<TimeRow> device_layers(const SummaryOptions& options) const;
  std::vector<TimeRow> device_operators(const SummaryOptions& options) const;
  // MXNet's categories: operator, primitive, creation, device (only what devices execute), api,
  // synchronisation (waits of the host), overhead, range, marker, and each domain of a user.
  std::map<std::string, std::vector<TimeRow>> categories(const SummaryOptions& options) const;
  std::vector<MemoryRow> memory(const SummaryOptions& options) const;
  std::vector<CounterRow> counters(const SummaryOptions& options) const;
  const SampleTimes& samples() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Formats all tables, with units in every heading. Ends in a newline. Empty tables are omitted.
std::string format_summary(const Summary& summary, const SummaryOptions& options = {});
// One JSON object with nanoseconds and bytes: {"attribution": {...}, "layers": [...], "operators":
// [...], "device_layers": [...], "device_operators": [...], "categories": {...}, "samples": {...},
// "memory": [...], "counters": [...]}. The tables of devices and samples are present only if they
// have rows.
std::string summary_json(const Summary& summary, const SummaryOptions& options = {});
// The same with "audit" as the first member.
std::string summary_json(const Summary& summary, const ProfileAudit& audit,
                         const SummaryOptions& options);

}  // namespace bench
