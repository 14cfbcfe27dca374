// SPDX-License-Identifier: Apache-2.0
// Where the program computed, by samples (`bench profile --sample`): inside oneDNN's primitives,
// and outside of them by shared object and by function. Samples measure CPU time, which several
// threads use at once; they do not show waiting.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kInPrimitives = "(oneDNN primitives)";
inline constexpr std::string_view kNoSampledLayer = "(no layer)";
inline constexpr std::string_view kNoSampledRange = "(no range)";

struct SampleRow {
  std::string name;
  std::int64_t samples = 0;
  Nanoseconds cpu{0};
  double share = 0;  // fraction of the CPU time of all samples
};

class SampleTimes final : public ActivitySink {
 public:
  // nullptr: samples are only counted, not forwarded.
  explicit SampleTimes(ActivitySink* next = nullptr) : next_(next) {}
  Status consume(const Activity& activity) override;

  bool empty() const { return all_.samples == 0; }
  std::int64_t samples() const { return all_.samples; }
  Nanoseconds cpu() const { return all_.cpu; }  // that the samples stand for
  // CPU time that the processes used, and the part of it in the kernel; nullopt if it is unknown
  // for one of them.
  std::optional<Nanoseconds> processes_cpu() const;
  std::optional<Nanoseconds> kernel_cpu() const;
  Nanoseconds period() const { return period_; }
  // All samples, sorted by CPU time. kInPrimitives is a row. The shares add up to 1.
  std::vector<SampleRow> objects() const;
  // Samples outside primitives, by "function (object)".
  std::vector<SampleRow> functions() const;
  // All samples, by layer and by the innermost range. Empty if no sample has one.
  std::vector<SampleRow> layers() const;
  std::vector<SampleRow> ranges() const;

 private:
  struct Sum {
    std::int64_t samples = 0;
    Nanoseconds cpu{0};
    void add(Nanoseconds time);
  };
  using Sums = std::map<std::string, Sum, std::less<>>;
  std::vector<SampleRow> make_rows(const Sums& sums) const;

  ActivitySink* next_;
  Sum all_;
  Sums objects_, functions_, layers_, ranges_;
  Nanoseconds period_{0};
  Nanoseconds processes_cpu_{0};
  Nanoseconds kernel_cpu_{0};
  bool is_cpu_known_ = true;
  bool is_kernel_known_ = true;
};

// Returns how many samples there are, how much of the CPU time they show, what they cost, and where
// most of it was. Empty if there are no samples.
std::string describe_samples(const SampleTimes& times);

}  // namespace bench
