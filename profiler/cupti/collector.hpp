// SPDX-License-Identifier: Apache-2.0
// One traced session: CUPTI's activity interface from subscription to a GpuSession, in the order
// of calls that works (collector.cpp). Only for the profile pass: nothing is timed meanwhile.
#pragma once

#include "base/result.hpp"
#include "profiler/cupti/cupti_api.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/switches.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bench {

struct CuptiOptions {
  // A group that is not recorded is not even traced, but for the calls that tell whose a kernel is.
  std::set<RecordGroup> groups = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                  RecordGroup::device};
  std::size_t buffer_bytes = std::size_t{4} << 20;  // NVIDIA advises 1 to 10 MB
  std::size_t most_bytes = std::size_t{128} << 20;  // of all buffers; more voids the pass
};

// Waits until all devices are idle: cudaDeviceSynchronize, which this library does not link.
using GpuSynchronise = std::function<Status()>;

// A process has one session: CUPTI gives wrong correlations to graph launches in a second one
// (before 13.1 Update 1), and has crashed when it was torn down and set up again.
class CuptiProcess {
 public:
  static CuptiProcess& current();
  bool claim() { return !claimed_.exchange(true); }
  void release() { claimed_ = false; }

 private:
  std::atomic<bool> claimed_{false};
};

// Begin and end on one thread; the work in between may be done by many. `library` outlives it.
class CuptiCollector {
 public:
  // Best before the first CUDA call, and long before the window: the first kernel after it pays for
  // instrumentation. Errors: another profiler is attached (named), no driver, a second session.
  static Result<std::unique_ptr<CuptiCollector>> start(const CuptiLibrary& library,
                                                       const CuptiOptions& options,
                                                       CuptiProcess& process);
  ~CuptiCollector();
  CuptiCollector(const CuptiCollector&) = delete;
  CuptiCollector& operator=(const CuptiCollector&) = delete;

  // Forgets what was recorded so far (warm-up), but for facts: devices, contexts, nodes of graphs,
  // memory.
  Status open_window(const GpuSynchronise& synchronise);
  // Takes what is complete by now, without waiting for a device: for sessions without end. Appends
  // to the records and faults of `session`. On one thread at a time, while it is in no other call.
  void collect(GpuSession& session);
  // Stops and returns all since. What went wrong on the way is one of its faults. The last call.
  GpuSession finish(const GpuSynchronise& synchronise);

  // What could not be switched on and can be done without: "no records of OVERHEAD: ...".
  const std::vector<std::string>& notes() const { return notes_; }

  struct Shared;  // with CUPTI's callbacks, which may outlive the collector

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

  const CuptiLibrary& library_;
  const CuptiApi& api_;
  const CuptiOptions options_;
  std::shared_ptr<Shared> shared_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::vector<CUpti_ActivityKind> enabled_;
  std::vector<std::string> notes_;
  std::vector<GpuRecord> facts_;  // from before the window
  bool facts_lost_ = false;       // some of them
};

// What the calling thread asks of a device until the end of the block belongs to `id`. Regions of
// one kind nest: the innermost counts. Must end on its thread, before the collector does.
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
