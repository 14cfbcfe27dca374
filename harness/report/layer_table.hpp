// SPDX-License-Identifier: Apache-2.0
// The table of a profiled run: where the time of an iteration goes, by layer.
#pragma once

#include "harness/report/console.hpp"
#include "harness/result/activity_roofline.hpp"
#include "harness/result/report.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bench {

// Sums the executed work of each layer. Activities come from a result file, with their work
// (WorkSink in profiler/reader.hpp). Memory grows with the number of layers.
class LayerTimes final : public ActivitySink {
 public:
  struct Layer {
    Nanoseconds host{0}, device{0};  // time of primitives; time of kernels, copies and memsets
    double flops = 0;
    ops::Work necessary;  // FLOPs without padding, and bytes: what a ceiling limits
    bool has_work = false;
    std::string implementation;              // implementation of the first activity that has one
    std::int64_t other_implementations = 0;  // number of activities with another implementation

    // Returns the device's time if the device did any work, since the host then only launched it.
    // Otherwise returns the host's time.
    Nanoseconds time() const { return device > Nanoseconds(0) ? device : host; }
  };
  using Key = std::pair<std::string, std::string>;  // case id, scope; the scope may be empty

  Status consume(const Activity& activity) override;
  const std::map<Key, Layer>& layers() const { return layers_; }

 private:
  std::map<Key, Layer> layers_;
  ActivityWorkModel works_;
};

// Returns a sentence with the time of an iteration and the profiling overhead, then the table. The
// columns: layer, time per iteration, its percentage of one iteration of all cases, GFLOP/s,
// percentage of the peak (if a case has a roofline) and implementation. The longest layer comes
// first. Empty if nothing was profiled.
std::string layer_table(const Report& report, const LayerTimes& times,
                        const ConsoleOptions& options);

}  // namespace bench
