// SPDX-License-Identifier: Apache-2.0
// Checks that both Perfetto and chrome://tracing accept a Chrome trace and show it as intended:
// - The file is strict JSON: an object with `traceEvents`, or a bare array. Only a bare array may
//   be unterminated, between events. displayTimeUnit is ns or ms.
// - Each event has a known `ph`, a `name` (optional for E), and `pid` and `tid`: texts, or integers
//   of 32 bits. All except metadata have `ts` in microseconds below 2^53.
// - X has `dur` >= 0. X and B/E of one (pid, tid) nest. B and E balance; by time, each E ends the B
//   that it names, or that it follows in the file.
// - Flows: s, t, f of one `cat`, `name`, `id` are in order of time, with one s and at least one f.
//   Each is inside a slice of its (pid, tid). f has "bp":"e", or its slice begins with it.
// - Counters: numbers only, with the same keys at each sample of one (pid, name,
//   id).
// - Instants have s = g, p or t, or none. Async b and e of one `cat` and `id` balance.
// - The metadata process_name, thread_name, process_sort_index, thread_sort_index have their
//   argument.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// unterminated: a bare array that ends between two events, as a killed program leaves it; both
// viewers accept it. cut: the text ends elsewhere in the list of events, which is a problem.
enum class TraceEnding { terminated, unterminated, cut };

struct TraceCheck {
  std::map<char, std::int64_t> events;  // key: phase
  std::int64_t flows = 0;               // complete flows
  std::int64_t tracks = 0;              // (pid, tid) with slices
  TraceEnding ending = TraceEnding::terminated;
  std::int64_t problem_count = 0;
  std::vector<std::string> problems;  // the first kMaxProblems: "event 17: ..."

  bool ok() const { return problem_count == 0; }
  std::int64_t total() const;  // number of events
};
inline constexpr std::size_t kMaxProblems = 20;

// Reads the trace as a stream. Keeps 16 bytes per slice and some hundred bytes per flow. The file
// may be compressed with gzip. Returns an error if the file cannot be read.
Result<TraceCheck> check_trace_file(const std::string& path);
// The same for a trace in memory, without compression.
TraceCheck check_trace(std::string_view text);

}  // namespace bench
