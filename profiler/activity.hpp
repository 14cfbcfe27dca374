// SPDX-License-Identifier: Apache-2.0
// The one record that every source of profiling data yields: collectors, readers of foreign files,
// user code. Plain data; docs/result_file.md gives its form in files.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/attribute.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bench {

enum class ActivityKind {
  operation,  // "operator": a host operator, e.g. a layer of a network
  primitive,  // of oneDNN: executed, created, or only considered (attribute `phase`)
  kernel,
  memcpy,
  memset,
  allocation,  // start to release of a buffer; attributes size_bytes, address
  synchronisation,
  api,  // a call of a library's interface
  overhead,
  range,    // of a user: task, frame, event, NVTX range
  marker,   // an instant
  counter,  // attribute `value` from start on
};
// In the order of the enumerators: "operator", "primitive", ...
std::span<const std::string_view> activity_kind_names();
std::string_view name_of(ActivityKind kind);
std::optional<ActivityKind> activity_kind_from_name(std::string_view name);

// Where an activity took place. On one track activities nest or follow one another.
struct Track {
  std::int64_t pid = 0;                // 0 or below: the source does not tell
  std::int64_t tid = 0;                // likewise
  std::optional<std::int64_t> device;  // number of a GPU; absent on the host
  std::optional<std::int64_t> stream;
  friend bool operator==(const Track&, const Track&) = default;
};

struct Activity {
  ActivityKind kind = ActivityKind::operation;
  std::string name;
  Nanoseconds start{0};                 // CLOCK_MONOTONIC
  std::optional<Nanoseconds> duration;  // absent: an instant, or never finished (`unfinished`)
  Track track;
  std::string case_id;  // of the case; empty outside of one
  std::string scope;    // path of layers, profiler/scope_path.hpp: "resnet50_v1_5:layer1.0.conv2"
  std::string
      direction;  // "forward", "backward_data", "backward_weights", a user's; empty: unknown
  std::optional<std::uint64_t> correlation;  // the same for a launch and what it launched
  Attributes attributes;

  friend bool operator==(const Activity&, const Activity&) = default;
};

// Takes activities one at a time, as a stream: a file's worth of them need not fit in memory.
class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  // Error: the sink cannot take any more (disk full).
  virtual Status take(const Activity& activity) = 0;
};

}  // namespace bench
