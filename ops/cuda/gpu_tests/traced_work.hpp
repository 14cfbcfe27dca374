// SPDX-License-Identifier: Apache-2.0
// Executes the work that is traced. Presents the recorded session in a form that checks can query.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/cuda/gpu_tests/checks.hpp"
#include "ops/cuda/gpu_tests/conversion.hpp"
#include "profiler/cupti/collector.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// External ids of the operators of the session.
inline constexpr std::uint64_t kSevenLaunches = 1, kTwoApart = 2, kFirstThread = 3,
                               kSecondThread = 4, kCopies = 5, kInstances = 6, kGraph = 7;
inline constexpr std::uint64_t kConversion = 50;  // + number of channels
inline constexpr std::uint64_t kSpins = 200;      // + microseconds

inline constexpr std::int64_t kCopiedIn = 1 << 20, kCopiedOut = 4096, kCopiedWithin = 8192,
                              kFilled = 16384;
inline constexpr std::int64_t kTracedExecutions = 100;
inline constexpr std::int64_t kTracedLengths[] = {2, 20, 200};  // microseconds
inline constexpr std::int64_t kGraphNodes = 50, kGraphNodeLength = 5;

// Takes one sample of `executions` kernels of `length` microseconds each.
Result<DeviceSample> sample_spins(CheckRun& run, std::int64_t length, SampleMethod method,
                                  std::int64_t executions);

// Times of one execution, by events (device) and on the host, measured while the tracer recorded.
struct TracedTimes {
  std::map<std::int64_t, Nanoseconds> device, host;
  std::optional<Nanoseconds> graph;  // one of the nodes of 5 us
};

// Executes all work, each operator in its own region. `conversions` may be empty. Returns the times
// of the kernels with a known time.
Result<TracedTimes> do_traced_work(CheckRun& run, CuptiCollector& collector,
                                   std::span<const ConversionCase> conversions);

// A recorded session with its indexes.
class TracedSession {
 public:
  // `session` must outlive this object.
  explicit TracedSession(const GpuSession& session);

  // Returns all records of a type.
  template <class Record>
  std::vector<Record> all() const {
    std::vector<Record> records;
    for (const GpuRecord& record : session_.records) {
      if (const auto* typed_record = std::get_if<Record>(&record)) records.push_back(*typed_record);
    }
    return records;
  }
  // Returns the operator of a kernel, found by the call that launched it or by the graph node.
  std::optional<std::uint64_t> owner(const GpuKernel& kernel) const;
  // Returns the operator's kernels that have a measured time, ordered by start.
  std::vector<GpuKernel> find_kernels(std::uint64_t id) const;
  // Returns the runtime call that launched a kernel.
  std::optional<GpuApiCall> find_call(const GpuKernel& kernel) const;

 private:
  const GpuSession& session_;
  std::map<std::uint64_t, std::uint64_t> operators_;  // by correlation
  std::map<std::uint64_t, GpuGraphNode> nodes_;
  std::map<std::uint64_t, GpuApiCall> calls_;
};

}  // namespace bench::ops::cuda
