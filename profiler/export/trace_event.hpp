// SPDX-License-Identifier: Apache-2.0
// Activities as events of a Chrome trace, in two steps: what is known when an activity arrives
// (names and args as text), and the line of JSON, once its place is known.
#pragma once

#include "profiler/activity.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Times beyond it, of damaged files, are moved to it: differences of two times stay in range, and
// microseconds below 2^53. 73 years.
inline constexpr std::int64_t kLatestTime = 2'300'000'000'000'000'000;

enum class TraceEventType : std::uint8_t { slice, instant, counter, allocation, memory_change };
enum class FlowRole : std::uint8_t { none, launch, execution };
// unfinished: cut at `end`; open: nobody knows where, so at the end of the trace.
enum class EventEnd : std::uint8_t { known, unfinished, open };

// Trivial, so that it can be put aside as bytes.
struct TraceEventHead {
  TraceEventType type = TraceEventType::slice;
  FlowRole role = FlowRole::none;
  EventEnd ends = EventEnd::known;
  char instant_scope = 't';     // g, p or t
  std::uint32_t track = 0;      // of TraceTracks
  std::uint32_t text_size = 0;  // see TraceEvent
  std::int64_t start = 0;       // ns
  std::int64_t end = 0;         // ns; = start while open
  std::int64_t process = 0;     // as in the activity
  std::uint64_t correlation = 0;
  std::uint64_t identity = 0;  // the same for an activity that was announced and later completed
  std::int64_t change = 0;     // of live bytes
};

struct TraceEvent {
  TraceEventHead head;
  std::string_view text;  // "name":...,"cat":...
  std::string_view args;  // fields of `args`, without braces
};

// Turns one activity after the other into events; the text of an event is valid until the next.
class TraceEventMaker {
 public:
  // Empty: there is nothing to draw (a counter without a value). `type` is never memory_change.
  const TraceEvent* make(const Activity& activity, std::uint32_t track);

 private:
  void set_end(const Activity& activity);
  void write_text(const Activity& activity);
  void write_args(const Activity& activity);

  TraceEvent event_;
  std::string text_, args_;
};

// As bytes and back; `unpacked` refers to `bytes`.
void pack(const TraceEvent& event, std::string& bytes);
TraceEvent unpacked(std::string_view bytes);

// Appends the fields that all events begin with: {<text>,"ph":...,"ts":...,"pid":...,"tid":...
struct TracePlace {
  std::int64_t pid, tid;
};
void begin_event(std::string& out, std::string_view text, char phase, std::int64_t time,
                 const TracePlace& place);

}  // namespace bench
