// SPDX-License-Identifier: Apache-2.0
// The record type that every source of profiling data produces: collectors, readers of foreign
// files and user code. It is plain data; docs/result_file.md specifies its form in files.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/attribute.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// primitive: a oneDNN primitive: executed, created, or only considered (attribute `phase`). Without
// `phase`: a step of a oneDNN network that another backend executed, or a part that a kernel names.
BENCH_ENUM(
    ActivityKind, (operation, "operator"),  // a host operator, e.g. a layer of a network
    primitive, kernel, memcpy, memset,
    allocation,  // a buffer from allocation to release; attributes size_bytes, address
    synchronisation,
    api,  // a call into a library's interface
    overhead,
    range,    // a user's task, frame or event, or an NVTX range
    marker,   // an instant
    counter,  // a counter has the attribute `value` from `start` on
    process,  // a time during which a process ran and was recorded; on the track of its main thread
    sample    // an instant at which a thread computed; attributes object, cpu_ns
);

// Where an activity took place. Activities on one track either nest or follow one another.
struct Track {
  std::int64_t pid = 0;                // 0 or negative if the source does not record it
  std::int64_t tid = 0;                // 0 or negative if the source does not record it
  std::optional<std::int64_t> device;  // GPU number; nullopt on the host
  std::optional<std::int64_t> stream;
  friend bool operator==(const Track&, const Track&) = default;
};

struct Activity {
  ActivityKind kind = ActivityKind::operation;
  std::string name;
  Nanoseconds start{0};                 // CLOCK_MONOTONIC
  std::optional<Nanoseconds> duration;  // nullopt for an instant or an `unfinished` activity
  Track track;
  std::string case_id;  // the case that it belongs to; empty outside a case
  std::string scope;    // path of layers (profiler/scope_path.hpp): "resnet50_v1_5:layer1.0.conv2"
  // "forward", "backward_data", "backward_weights" or a user's own; empty if unknown
  std::string direction;
  // the same value for a launch and the work that it launched
  std::optional<std::uint64_t> correlation;
  Attributes attributes;

  friend bool operator==(const Activity&, const Activity&) = default;
};

// Returns false for a primitive that was only created, checked or considered.
bool is_executed(const Activity& activity);
// Returns whether the activity is an execution of a primitive that oneDNN reported.
bool is_onednn_execution(const Activity& activity);

// Returns the activity that says: the counter has this value from `at` on.
Activity make_counter(std::string_view name, Nanoseconds at, double value, std::string_view unit);

// Consumes a stream of activities, one at a time. The activities of a file need not fit in memory.
class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  // Returns an error if the sink cannot accept any more activities, for example if the disk is
  // full.
  virtual Status consume(const Activity& activity) = 0;
};

}  // namespace bench
