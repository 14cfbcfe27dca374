// SPDX-License-Identifier: Apache-2.0
// The stored data of one case of one accepted run: schema bench.baseline/1, one line of JSON.
// docs/baselines.md describes every field.
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
  std::string kind;  // one of activity_kind_names(), or a kind of a later version
  std::string name;
  std::string implementation;
  std::string scope;     // path of layers
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
// Bytes of JSON, so that a file of 30 runs stays small
inline constexpr std::size_t kMaxProfile = 16384;

// A case as an accepted run measured it, where that was, and why it became a baseline.
struct BaselineRecord {
  // The file has neither `source`, `outcome` nor anything that follows from the other fields: the
  // case is `ok`. measured_case() of harness/judge/measurement.hpp completes it for a comparison.
  MeasuredCase measured;
  std::string run_id;  // the first run, if others resumed it
  std::string time;    // start of that run, UTC
  std::string config;  // name of the configuration, by which a gate detects removed cases
  std::string tool_version, commit;  // version of the `bench` that measured
  std::int64_t epoch = 0;
  std::string reason;  // why it became a baseline
  std::optional<std::string> anchor;
  std::string accepted_from;  // the result file
  // Seed of the input data; other data give another output digest
  std::optional<std::uint64_t> seed;
  EnvironmentRecord environment;
  std::optional<Canaries> canaries;  // medians over the run
  std::optional<StoredProfile> profile;
  friend bool operator==(const BaselineRecord&, const BaselineRecord&) = default;
};

// Returns one line without a newline.
std::string to_json_line(const BaselineRecord& record);
// Parses a line and skips unknown fields. Returns an error for malformed JSON, another schema, or a
// field that is missing or has the wrong type.
Result<BaselineRecord> baseline_from_json_line(std::string_view line);

// Keeps the activities that fit, considering the longest ones first; counts the others.
StoredProfile within_limit(StoredProfile profile, std::size_t limit);

}  // namespace bench
