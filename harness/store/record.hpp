// SPDX-License-Identifier: Apache-2.0
// The stored data of one case of one accepted run, as one line of JSON with schema
// bench.baseline/1. docs/baselines.md describes every field.
#pragma once

#include "base/result.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kBaselineSchema = "bench.baseline/1";

// An activity of the profiled iteration.
struct StoredActivity {
  std::string kind;  // the name of an ActivityKind, or a kind of a later version
  std::string name;
  std::string implementation;
  std::string scope;     // path of layers, outermost first
  Nanoseconds start{0};  // since the start of the iteration
  Nanoseconds duration{0};
  std::optional<std::int64_t> flops, bytes;
  friend bool operator==(const StoredActivity&, const StoredActivity&) = default;
};

// One profiled iteration, kept to explain later regressions when this build no longer exists.
struct StoredProfile {
  Nanoseconds duration{0};                 // duration of the iteration, including profiler overhead
  std::vector<StoredActivity> activities;  // ordered by start
  std::int64_t left_out = 0;  // number of activities beyond kMaxProfile, the shortest ones
  friend bool operator==(const StoredProfile&, const StoredProfile&) = default;
};
// Maximum size of a stored profile in bytes of JSON, so that a file of 30 runs stays small
inline constexpr std::size_t kMaxProfile = 16384;

// The measurements of a case in an accepted run, their environment, and why they became a baseline.
struct BaselineRecord {
  // Incomplete: the file contains neither `source` nor `outcome` (which is always `ok`), nor fields
  // that follow from others. measured_case() of harness/judge/measurement.hpp completes it for a
  // comparison.
  MeasuredCase measured;
  std::string run_id;  // id of the first run, if other runs resumed it
  std::string time;    // start of that run, UTC
  std::string config;  // name of the configuration; a gate uses it to detect removed cases
  std::string tool_version, commit;  // version of the `bench` that measured
  std::int64_t epoch = 0;
  std::string reason;  // why it became a baseline
  std::optional<std::string> anchor;
  std::string accepted_from;  // name of the result file
  // The machine class of the run if it was adopted from another one; else nullopt
  std::optional<std::string> adopted_from;
  // Seed of the input data; another seed gives another output digest
  std::optional<std::uint64_t> seed;
  EnvironmentRecord environment;
  std::optional<StoredProfile> profile;
  friend bool operator==(const BaselineRecord&, const BaselineRecord&) = default;
};

// Returns one line without a newline.
std::string to_json_line(const BaselineRecord& record);
// Parses a line and skips unknown fields. Returns an error for malformed JSON, another schema, or a
// field that is missing or has the wrong type.
Result<BaselineRecord> baseline_from_json_line(std::string_view line);

// Returns the profile with at most `limit` bytes of JSON. Keeps the longest activities that fit,
// and adds the number of the others to `left_out`.
StoredProfile limit_profile(StoredProfile profile, std::size_t limit);

}  // namespace bench
