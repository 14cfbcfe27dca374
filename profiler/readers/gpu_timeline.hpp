// SPDX-License-Identifier: Apache-2.0
// Joins what a foreign profile of a GPU program contains: ranges, CUDA calls and device work, each
// in tables of its own. Sorts all of it by time, on disk if there is much of it, and walks along it
// once: NvtxTracker knows which ranges are open when a call begins, and join_gpu_session() makes
// the activities of calls and device work, part by part. So memory does not grow with the number of
// ranges, and grows by some bytes per call.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/export/spill_sort.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/join.hpp"
#include "profiler/nvtx/framework_range.hpp"
#include "profiler/nvtx/nvtx_tracker.hpp"
#include "profiler/readers/range_stream.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {

// One process of the profile. Numbers of processes, correlations and graphs are unique only within
// it.
using TimelineProcess = std::uint32_t;

struct TimelineCall {
  TimelineProcess process = 0;
  std::int64_t thread = 0;
  GpuInterval time;
  std::uint64_t correlation = 0;  // 0: unknown
  ProfileStrings::Id name = ProfileStrings::kNone;
  std::int64_t status = 0;
  // system: a function of the operating system's libraries
  enum class Kind : std::uint8_t { runtime, driver, system } kind = Kind::runtime;
};

// Device work; which fields are used depends on its kind.
struct TimelineWork {
  enum class Kind : std::uint8_t { kernel, memcpy, memset, wait, graph, allocation, release };
  Kind kind = Kind::kernel;
  TimelineProcess process = 0;
  GpuInterval time;
  GpuPlace place;
  std::uint64_t correlation = 0;  // 0: unknown
  std::uint64_t graph_node =
      0;  // node of a kernel, memcpy or memset; 0: none. The graph of a `graph`
  ProfileStrings::Id name = ProfileStrings::kNone;  // name of a kernel
  GpuSize grid, block;                              // sizes of a kernel
  std::int64_t registers = 0, static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::int64_t bytes = 0;     // size of a transfer or a change of memory
  std::uint64_t address = 0;  // address of a change of memory
  GpuCopyKind copy = GpuCopyKind::unknown;
  GpuMemoryKind memory = GpuMemoryKind::unknown;  // source of a copy
  GpuMemoryKind destination = GpuMemoryKind::unknown;
  GpuWaitKind wait = GpuWaitKind::unknown;
  bool has_stream = true;  // false: a wait for a device or an event
  bool has_device = true;  // false: it is unknown
};

class GpuTimeline {
 public:
  struct Options {
    std::string folder;  // of temporary files
    FrameworkWorkProvider compute_work;
    // Calls, works and ranges that are joined at once. Few enough for the processor's cache.
    std::size_t part = 1 << 7;
  };
  GpuTimeline(Options options, const ProfileStrings& strings, ActivitySink& sink);
  ~GpuTimeline();

  // Returns the process of a number that is unique in the profile; `pid` is for people.
  TimelineProcess process(std::int64_t key, std::int64_t pid);
  void name_process(std::int64_t pid, std::string_view name) { process_names_[pid] = name; }
  void name_thread(std::int64_t pid, std::int64_t tid, std::string_view name);
  void add(const GpuDevice& device) { devices_.push_back(device); }

  // First all calls with a correlation, then all calls and works, in any order.
  void expect(TimelineProcess process, std::uint64_t correlation, Nanoseconds start);
  void finish_expecting();
  Status add(const TimelineCall& call);
  Status add(const TimelineWork& work);

  // Only for ranges that needs_other_ranges() selects, before join().
  Status read_facts(RangeStream& ranges);
  Status join(RangeStream& ranges);

  std::int64_t activities() const;  // that were forwarded
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  class Walk;
  struct Process {
    std::int64_t pid = 0;
  };
  struct Expected {
    std::uint64_t correlation = 0;
    Nanoseconds start{0};
    TimelineProcess process = 0;
  };
  std::optional<Nanoseconds> find_call(TimelineProcess process, std::uint64_t correlation) const;

  Options options_;
  const ProfileStrings& strings_;
  ActivitySink& sink_;
  std::vector<Process> processes_;
  std::unordered_map<std::int64_t, TimelineProcess> process_by_key_;
  std::map<std::int64_t, std::string> process_names_;  // key: pid
  NvtxFacts facts_;
  std::vector<GpuDevice> devices_;
  std::vector<Expected> expected_;  // sorted by process and correlation
  SpillSort sort_;
  std::string packed_;
  std::int64_t activities_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace bench
