// SPDX-License-Identifier: Apache-2.0
// Activities as JSON lines: `activity` records of result files (bench.result/1) and of profiles
// (bench.profile/1), docs/result_file.md. Strict JSON, absent values left out.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kProfileSchema = "bench.profile/1";

// Appends one line without newline. `run_id` may be empty. Text that is no UTF-8 is written with
// replacement characters.
void append_json(const Activity& activity, std::string_view run_id, std::string& out);
std::string to_json_line(const Activity& activity, std::string_view run_id);

// What a line of a result file or profile holds, read without a document in memory.
enum class LineKind { activity, other, damaged };
struct ParsedLine {
  LineKind kind = LineKind::damaged;
  std::string record;               // "activity", "run", "case", ...; empty when damaged
  std::string schema;               // of run and profile records
  std::int64_t unknown_fields = 0;  // attributes that are not declared, or not of the declared type
  std::string problem;              // of a damaged line, in words
};

// Reads lines into one Activity that is reused: no allocation a line in the steady state. Not
// thread-safe.
class ActivityLineParser {
 public:
  ActivityLineParser();
  ~ActivityLineParser();
  // With LineKind::activity the record is in activity() until the next call.
  const ParsedLine& parse(std::string_view line);
  const Activity& activity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
