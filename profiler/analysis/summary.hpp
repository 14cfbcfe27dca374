// SPDX-License-Identifier: Apache-2.0
// What a profile amounts to: time by layer, by operator and by category (the aggregate tables of
// `bench run --profile`). Fed activity by activity; memory grows with the number of different
// names, not of activities.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Times of all activities of one name. p50 and p95 are within 1 % (analysis/quantile_sketch.hpp).
struct TimeRow {
  std::string name;
  std::int64_t count = 0;
  std::int64_t unfinished = 0;  // of them without a duration: in `count` alone
  Nanoseconds total{0};
  std::optional<Nanoseconds> self;  // without what is nested below; absent: does not nest
  std::optional<Nanoseconds> min, max, mean, p50, p95;
  // Without what nests in another row of the same table. Of layers and operators: of the wall time,
  // so that all rows have 1; of the other tables: of the time of all rows.
  std::optional<double> share;
  std::optional<double> cumulative_share;  // of this row and those before it
};

// Values of one counter; the mean is weighted by how long each value held. Never summed into time.
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
  std::size_t top = 0;  // rows of a table; 0: all
  // Of the terminal, in columns; nullopt: tables are as wide as they are.
  std::optional<std::size_t> width = {};
};

// attributed + unattributed = wall.
struct Attribution {
  // Of the recorded iterations (ranges with attribute `iteration`); without them, of all that was
  // recorded and nests in nothing.
  Nanoseconds wall{0};
  Nanoseconds attributed{0};    // in what has a layer or an operator
  Nanoseconds unattributed{0};  // the rest: gaps, the tool's own work
};

class Summary final : public ActivitySink {
 public:
  Summary();
  ~Summary() override;
  Summary(Summary&&) noexcept;
  Summary& operator=(Summary&&) noexcept;

  // Activities of one track in the order of their ends (as the recorder writes them) or of their
  // starts.
  Status take(const Activity& activity) override;
  // Clears all (MXNet's dumps(reset)).
  void reset();

  bool empty() const;
  Attribution attribution() const;
  // The wall time by scope path, outside of any by case. The time of a layer is that of its host
  // operators; where ranges make it, all that lies in the layer and below, and `self` what lies in
  // no primitive; else that of its primitives. What is not attributed is a row.
  std::vector<TimeRow> layers(const SummaryOptions& options) const;
  // The wall time by operator (attribute primitive, else op, else name) of what was executed on the
  // host; without any of it, by host operators. What lies in none of them is a row.
  std::vector<TimeRow> operators(const SummaryOptions& options) const;
  // The same of what was executed on devices, which the wall time does not hold.
  std::vector<TimeRow> device_layers(const SummaryOptions& options) const;
  std::vector<TimeRow> device_operators(const SummaryOptions& options) const;
  // MXNet's categories: operator, primitive, creation, device, api, range, marker, and each domain
  // of a user.
  std::map<std::string, std::vector<TimeRow>> categories(const SummaryOptions& options) const;
  std::vector<MemoryRow> memory(const SummaryOptions& options) const;
  std::vector<CounterRow> counters(const SummaryOptions& options) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All tables with units in every heading; ends in a newline. Empty tables are left out.
std::string summary_text(const Summary& summary, const SummaryOptions& options = {});
// One JSON object, raw nanoseconds and bytes: {"attribution": {...}, "layers": [...], "operators":
// [...], "device_layers": [...], "device_operators": [...], "categories": {...}, "memory": [...],
// "counters": [...]}; the tables of devices only where there are any.
std::string summary_json(const Summary& summary, const SummaryOptions& options = {});

}  // namespace bench
