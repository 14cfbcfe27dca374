// SPDX-License-Identifier: Apache-2.0
// Activities as JSON lines: `activity` records of result files (bench.result/1) and of profiles
// (bench.profile/1), see docs/result_file.md. The JSON is strict and omits unknown values.
#pragma once

#include "base/result.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kProfileSchema = "bench.profile/1";

// Appends one line without a newline. `run_id` may be empty. Invalid UTF-8 is replaced by
// replacement characters.
void append_json(const Activity& activity, std::string_view run_id, std::string& out);
std::string to_json_line(const Activity& activity, std::string_view run_id);

// Contents of one line of a result file or profile, parsed without building a document in memory.
enum class LineKind { activity, other, malformed };
struct ParsedLine {
  LineKind kind = LineKind::malformed;
  std::string record;   // "activity", "run", "case", ...; empty if the line is malformed
  std::string schema;   // of run and profile records only
  std::string run_id;   // empty in profiles
  std::string outcome;  // of cases and passes
  std::string source;   // of cases: the place in the configuration
  std::int64_t unknown_fields = 0;  // undeclared attributes and attributes with the wrong type
  std::string problem;              // why a malformed line could not be read
};

// Parses lines into one reused Activity, so the steady state allocates no memory per line. Not
// thread-safe.
class ActivityLineParser {
 public:
  ActivityLineParser();
  ~ActivityLineParser();
  // If the result is LineKind::activity, activity() holds the record until the next call.
  const ParsedLine& parse(std::string_view line);
  const Activity& activity() const;
  // The caller may change the record.
  Activity& activity();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
