// SPDX-License-Identifier: Apache-2.0
// What is executed below the tracer, and the recorded session in a form that can be asked.
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

// The operators of the session, by external id.
inline constexpr std::uint64_t kSevenLaunches = 1, kTwoApart = 2, kFirstThread = 3,
                               kSecondThread = 4, kCopies = 5, kInstances = 6, kGraph = 7;
inline constexpr std::uint64_t kConversion = 50;  // + channels
inline constexpr std::uint64_t kSpins = 200;      // + microseconds

inline constexpr std::int64_t kCopiedIn = 1 << 20, kCopiedOut = 4096, kCopiedWithin = 8192,
                              kFilled = 16384;
inline constexpr std::int64_t kTracedExecutions = 100;
inline constexpr std::int64_t kTracedLengths[] = {2, 20, 200};  // microseconds
inline constexpr std::int64_t kGraphNodes = 50, kGraphNodeLength = 5;

// One sample of so many kernels of `length` microseconds each.
Result<DeviceSample> sample_spins(CheckRun& run, std::int64_t length, SampleMethod method,
                                  std::int64_t executions);

// Times by events and by the host, of one execution, while the tracer recorded.
struct TracedTimes {
  std::map<std::int64_t, Nanoseconds> device, host;
  std::optional<Nanoseconds> graph;  // one of the nodes of 5 us
};

// Executes all of it, each part in a region of its own. `conversions` may be empty.
Result<TracedTimes> do_traced_work(CheckRun& run, CuptiCollector& collector,
                                   std::span<const ConversionCase> conversions);

class TracedSession {
 public:
  explicit TracedSession(const GpuSession& session);

  template <class Record>
  std::vector<Record> all() const {
    std::vector<Record> found;
    for (const GpuRecord& record : session_.records) {
      if (const auto* each = std::get_if<Record>(&record)) found.push_back(*each);
    }
    return found;
  }
  // Of which operator a kernel is: by the call that launched it, else by the node of a graph.
  std::optional<std::uint64_t> owner(const GpuKernel& kernel) const;
  // With a measured time, by start.
  std::vector<GpuKernel> kernels_of(std::uint64_t id) const;
  // The call of the runtime that a kernel came from.
  std::optional<GpuApiCall> call_of(const GpuKernel& kernel) const;

 private:
  const GpuSession& session_;
  std::map<std::uint64_t, std::uint64_t> operators_;  // by correlation
  std::map<std::uint64_t, GpuGraphNode> nodes_;
  std::map<std::uint64_t, GpuApiCall> calls_;
};

}  // namespace bench::ops::cuda
