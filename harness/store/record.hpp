// SPDX-License-Identifier: Apache-2.0
// The stored data of one case of one accepted run: schema bench.baseline/1, one line of JSON.
// docs/baselines.md describes every field.
#pragma once

#include "base/result.hpp"
#include "harness/result/quiet.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kBaselineSchema = "bench.baseline/1";

// One process, the unit of all statistics. Times are those of whole samples, as in result files: an
// iteration of a short operator takes a few nanoseconds, too few for an integer.
struct ProcessSummary {
  std::int64_t samples = 0;
  std::int64_t iterations_per_sample = 1;
  Nanoseconds median{0}, q25{0}, p90{0}, min{0};
  std::optional<Nanoseconds> deviation;  // standard deviation; nullopt for fewer than two samples
  friend bool operator==(const ProcessSummary&, const ProcessSummary&) = default;
};
// Summarises the samples that count; returns nullopt if there are none.
std::optional<ProcessSummary> summarise(const CountedSamples& process);
// Returns nanoseconds per iteration; use only for logarithms and ratios.
double per_iteration(Nanoseconds sample, const ProcessSummary& process);

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

struct BaselineRecord {
  std::string id;
  std::string case_hash;
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
  std::string implementation;
  std::vector<Flag> flags;
  // Only for a device with its own clock, as in CaseRecord.
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  std::optional<QuietSummary> quiet;         // summary of the samples behind `processes`
  std::vector<ProcessSummary> processes;     // those that count
  std::map<std::string, std::string> exact;  // exact_facts() of harness/result/measured.hpp
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

// Medians over the processes of the median, and of the lower quartile, per iteration. nullopt if
// there are no processes or the result is 0.
std::optional<double> median_iteration(const BaselineRecord& record);
std::optional<double> q25_iteration(const BaselineRecord& record);

}  // namespace bench
