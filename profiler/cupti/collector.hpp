// SPDX-License-Identifier: Apache-2.0
// One traced session, from CUPTI subscription to a GpuSession. The calls to CUPTI's activity
// interface must have the order described in collector.cpp. Use this only in the profile pass:
// nothing may be timed at the same time.
#pragma once

#include "base/result.hpp"
#include "profiler/cupti/cupti_api.hpp"
#include "profiler/cupti/driver_devices.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/switches.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bench {

struct CuptiOptions {
  // The tracer ignores all other groups, except for the calls that attribute kernels to operators.
  std::set<RecordGroup> groups = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                  RecordGroup::device};
  std::size_t buffer_bytes = std::size_t{4} << 20;  // NVIDIA recommends 1 to 10 MB
  // total of all buffers; exceeding it invalidates the pass
  std::size_t most_bytes = std::size_t{128} << 20;
  // Describes a device with kernels of which CUPTI delivered no record.
  std::function<std::optional<GpuDevice>(std::int64_t device)> describe_device =
      describe_device_by_driver;
};

// Waits until all devices are idle (cudaDeviceSynchronize, which this library does not link).
using GpuSynchronise = std::function<Status()>;

// Allows one session per process. In a second session, CUPTI gives graph launches wrong
// correlations (before 13.1 Update 1). It has also crashed when a session was shut down and set up
// again.
class CuptiProcess {
 public:
  static CuptiProcess& current();
  bool claim() { return !claimed_.exchange(true); }
  void release() { claimed_ = false; }

 private:
  std::atomic<bool> claimed_{false};
};

// Must begin and end on one thread; the work in between may use many. `library` must outlive it.
class CuptiCollector {
 public:
  // Call this before the first CUDA call if possible, and long before the window: the first kernel
  // after it includes the cost of instrumentation. Returns an error if another profiler is attached
  // (the error names it), if there is no driver, or for a second session.
  static Result<std::unique_ptr<CuptiCollector>> start(const CuptiLibrary& library,
                                                       const CuptiOptions& options,
                                                       CuptiProcess& process);
  ~CuptiCollector();
  CuptiCollector(const CuptiCollector&) = delete;
  CuptiCollector& operator=(const CuptiCollector&) = delete;

  // Discards what was recorded so far (warm-up), except facts: devices, contexts, graph nodes and
  // memory.
  Status open_window(const GpuSynchronise& synchronise);
  // Appends the records that are complete now, and the faults, to `session`. Does not wait for a
  // device. Use this for a session that has no defined end. Call this on one thread at a time, and
  // not during another call.
  void collect(GpuSession& session);
  // Stops, and returns everything recorded since open_window() or the last collect(). Failures
  // become faults of the session. Must be the last call.
  GpuSession finish(const GpuSynchronise& synchronise);

  // Optional features that could not be enabled: "no records of OVERHEAD: ...".
  const std::vector<std::string>& notes() const { return notes_; }

  struct Shared;  // shared with CUPTI's callbacks, which may outlive the collector

 private:
  friend class CuptiRegion;
  CuptiCollector(const CuptiLibrary& library, const CuptiOptions& options);
  Status subscribe();
  Status configure();
  Status enable_kinds();
  void silence_calls();
  void watch_graphs(std::uint32_t enable);
  void stop();
  void drain(GpuSession& session);
  void note_devices(std::span<const GpuRecord> records);
  void describe_devices(GpuSession& session) const;

  const CuptiLibrary& library_;
  const CuptiApi& api_;
  const CuptiOptions options_;
  std::shared_ptr<Shared> shared_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<CUpti_ActivityKind> enabled_;
  std::vector<std::string> notes_;
  std::vector<GpuRecord> facts_;                             // from before the window
  bool facts_lost_ = false;                                  // some facts were lost
  std::set<std::int64_t> used_devices_, described_devices_;  // in all records so far
};

// While this object lives, work that the calling thread requests from a device belongs to `id`.
// Regions of one kind nest; the innermost counts. Must end on its thread, before the collector
// ends.
class CuptiRegion {
 public:
  CuptiRegion(CuptiCollector& collector, GpuExternalKind kind, std::uint64_t id);
  ~CuptiRegion();
  CuptiRegion(const CuptiRegion&) = delete;
  CuptiRegion& operator=(const CuptiRegion&) = delete;

 private:
  CuptiCollector::Shared& shared_;
  const GpuExternalKind kind_;
  bool open_ = false;
};

}  // namespace bench
