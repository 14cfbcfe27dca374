// SPDX-License-Identifier: Apache-2.0
// Checks a Chrome trace against what both Perfetto and chrome://tracing accept and show as meant:
// - strict JSON: an object with `traceEvents` or a bare array, which alone may be unterminated
//   between events; displayTimeUnit ns or ms;
// - each event has `ph` (a known one), `name`, and integer `pid` and `tid` in [0, 2^53); all but
//   metadata have `ts`, in microseconds below 2^53;
// - X has `dur` >= 0; X and B/E of one (pid, tid) nest; B and E balance;
// - flows: s, t, f of one `cat`, `name`, `id` in order of time, one s and at least one f, each
// inside
//   a slice of its (pid, tid), f with "bp":"e";
// - counters: numbers only, the same keys at each sample of one (pid, name);
// - instants have s = g, p or t; async b and e of one `cat` and `id` balance;
// - metadata: process_name, thread_name, process_sort_index, thread_sort_index with their argument.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class TraceEnding { terminated, unterminated };

struct TraceCheck {
  std::map<char, std::int64_t> events;  // by phase
  std::int64_t flows = 0;               // complete ones
  std::int64_t tracks = 0;              // (pid, tid) with slices
  TraceEnding ending = TraceEnding::terminated;
  std::int64_t problem_count = 0;
  std::vector<std::string> problems;  // the first kMaxProblems: "event 17: ..."

  bool ok() const { return problem_count == 0; }
  std::int64_t total() const;  // events
};
inline constexpr std::size_t kMaxProblems = 20;

// Reads as a stream; keeps 24 bytes a slice and some hundred a flow. Error: the file cannot be
// read. A file may be compressed with gzip.
Result<TraceCheck> check_trace_file(const std::string& path);
TraceCheck check_trace(std::string_view text);

}  // namespace bench
