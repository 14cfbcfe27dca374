// SPDX-License-Identifier: Apache-2.0
// Converts activities into events of a Chrome trace in two steps. The first produces what is known
// when an activity arrives (names and args as text). The second produces the JSON line once the
// process and thread of the event in the trace are known.
#pragma once

#include "base/json_writer.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// The largest time of an activity in a trace, positive or negative: 73 years. Times beyond it, from
// malformed files, are replaced by it. Then differences of two times stay in range and microseconds
// stay below 2^53.
inline constexpr std::int64_t kLatestTime = 2'300'000'000'000'000'000;

enum class TraceEventType : std::uint8_t { slice, instant, counter, allocation, memory_change };
enum class FlowRole : std::uint8_t { none, launch, execution };
// unfinished: cut at `end`. open: the end is unknown, so it is drawn until the end of the trace.
enum class EventEnd : std::uint8_t { known, unfinished, open };

// Trivial, so that it can be stored as bytes.
struct TraceEventHead {
  TraceEventType type = TraceEventType::slice;
  FlowRole role = FlowRole::none;
  EventEnd end_kind = EventEnd::known;
  char instant_scope = 't';     // g, p or t
  std::uint32_t track = 0;      // index in TraceTracks
  std::uint32_t text_size = 0;  // see TraceEvent
  std::int64_t start = 0;       // ns
  std::int64_t end = 0;         // ns; equals start while open
  std::int64_t process = 0;     // as in the activity
  std::uint64_t correlation = 0;
  std::uint64_t identity = 0;  // the same for an announced activity and its completion
  std::int64_t change = 0;     // change of live bytes
};

struct TraceEvent {
  TraceEventHead head;
  std::string_view text;  // "name":...,"cat":...
  std::string_view args;  // fields of `args`, without braces
};

// Converts activities to events one by one. The text of an event is valid until the next one.
class TraceEventMaker {
 public:
  // Returns nullptr if there is nothing to draw (a counter without a value). `type` is never
  // memory_change.
  const TraceEvent* make(const Activity& activity, std::uint32_t track);

 private:
  void set_end(const Activity& activity);
  void write_text(const Activity& activity);
  void write_args(const Activity& activity);

  TraceEvent event_;
  std::string text_, args_;
};

// Convert an event to bytes and back. The result of unpack() refers to `bytes`.
void pack(const TraceEvent& event, std::string& bytes);
TraceEvent unpack(std::string_view bytes);

// Appends the fields with which all events begin: {<text>,"ph":...,"ts":...,"pid":...,"tid":...
struct TracePlace {
  std::int64_t pid, tid;
};
void begin_event(std::string& out, std::string_view text, char phase, std::int64_t time,
                 const TracePlace& place);

// Functions that append pieces of a trace's JSON text, in addition to append_json_text() of base.
void append_json_integer(std::string& out, std::int64_t number);
// Appends the shortest text that parses to the same value. `number` must be finite.
void append_json_real(std::string& out, double number);
// Appends nanoseconds as microseconds with all digits: 1234567 -> 1234.567.
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace bench
