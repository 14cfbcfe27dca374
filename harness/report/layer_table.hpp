// SPDX-License-Identifier: Apache-2.0
// Where the time of an iteration of a profiled case goes, by layer and by operator: the table of a
// profiled run, and the rows of the plots of its page.
#pragma once

#include "harness/report/console.hpp"
#include "harness/result/activity_roofline.hpp"
#include "harness/result/report.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// The executed work of one name in one case.
class IterationWork {
 public:
  void add(const Activity& activity, std::int64_t iteration, ActivityWorkModel& works);
  // Adds an operator that launched work on a device. Kernels do not carry the name of the
  // implementation, so it is taken from here; the time of the launch is not the work's. Ignores
  // copies and reorders beside the operator.
  void add_launch(const Activity& activity);
  bool was_executed() const { return !iterations_.empty(); }

  // Returns the time of one iteration: the median over the iterations that executed the work, so
  // that one disturbed iteration does not count. The time is the device's if the device did any
  // work, since the host then only launched it.
  Nanoseconds time() const;
  // Work of one iteration, the mean over these iterations. FLOPs without padding and bytes
  // (`necessary`) are what a ceiling limits.
  bool has_work() const { return has_work_; }
  double flops() const;
  ops::Work necessary() const;
  // Returns the name of the implementation that took the most time, then the number of others:
  // "brgconv:avx2 +1". Empty if it is unknown.
  std::string implementation() const;

 private:
  struct Times {
    Nanoseconds host{0}, device{0};  // time of primitives; time of kernels, copies and memsets
  };
  using TimesByName = std::map<std::string, Nanoseconds, std::less<>>;

  static void add_name(const Activity& activity, TimesByName& names);
  bool is_on_device() const;

  std::map<std::int64_t, Times> iterations_;
  TimesByName host_implementations_, device_implementations_, launched_;
  double flops_ = 0;
  ops::Work necessary_;
  bool has_work_ = false;
};

// Sums the executed work of the recorded iterations by layer and by operator. Activities come from
// a result file, with their work (WorkSink in profiler/work_sink.hpp). Memory grows with the number
// of layers times that of iterations.
class LayerTimes final : public ActivitySink {
 public:
  using Key = std::pair<std::string, std::string>;  // case id, name
  using WorkByKey = std::map<Key, IterationWork>;

  Status consume(const Activity& activity) override;
  // The name is the scope of the layer. It is empty outside of layers.
  const WorkByKey& layers() const { return layers_; }
  // The name is that of the primitive or operator.
  const WorkByKey& operators() const { return operators_; }
  // Returns the median of the case's recorded iterations; nullopt if there are none.
  std::optional<Nanoseconds> iteration(const std::string& case_id) const;

 private:
  WorkByKey layers_, operators_;
  std::map<std::string, std::vector<Nanoseconds>, std::less<>> iterations_;  // by case
  ActivityWorkModel works_;
};

// A row of a table or plot: one name in one case.
struct LayerRow {
  std::string case_id;
  std::string name;  // the case id if the work has no name
  Nanoseconds time{0};
  // Fraction of one iteration of the same case: times of different cases never enter one share.
  std::optional<double> share;
  const IterationWork* work = nullptr;  // within the LayerTimes; nullptr for the remainder
};
// Return the rows of the profiled cases of the report, the longest first. `times` must outlive
// them.
std::vector<LayerRow> layer_rows(const Report& report, const LayerTimes& times);
// Adds a row per case for the rest of an iteration, kOutsidePrimitives.
std::vector<LayerRow> operator_rows(const Report& report, const LayerTimes& times);
inline constexpr const char* kOutsidePrimitives = "(outside primitives)";

// Returns sentences with the cost of profiling and the time of an iteration, then the table. The
// columns: layer, time of one iteration, its percentage of one iteration of its case, GFLOP/s,
// percentage of the peak (if a case has a roofline), implementation and, if there are several,
// case. Empty if nothing was profiled.
std::string layer_table(const Report& report, const LayerTimes& times,
                        const ConsoleOptions& options);

}  // namespace bench
