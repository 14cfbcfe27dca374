// SPDX-License-Identifier: Apache-2.0
// What the store keeps of one case of one accepted run: schema bench.baseline/1, one line of JSON.
// docs/baselines.md gives the meaning of every field.
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

// One process: the unit of all statistics. Times are of whole samples, as in result files: an
// iteration of a short operator takes a few nanoseconds, which no integer says well enough.
struct ProcessSummary {
  std::int64_t samples = 0;
  std::int64_t iterations_per_sample = 1;
  Nanoseconds median{0}, q25{0}, p90{0}, min{0};
  std::optional<Nanoseconds> deviation;  // standard deviation; absent below two samples
  friend bool operator==(const ProcessSummary&, const ProcessSummary&) = default;
};
// Of the samples that count; absent without any.
std::optional<ProcessSummary> summarise(const CountedSamples& process);
// Of one iteration, in nanoseconds: for logarithms and ratios alone.
double per_iteration(Nanoseconds sample, const ProcessSummary& process);

// Something that ran in the profiled iteration.
struct StoredActivity {
  std::string kind;  // of activity_kind_names(), or one that a later version knows
  std::string name;
  std::string implementation;
  std::string scope;     // path of layers
  Nanoseconds start{0};  // since the iteration's begin
  Nanoseconds duration{0};
  std::optional<std::int64_t> flops, bytes;
  friend bool operator==(const StoredActivity&, const StoredActivity&) = default;
};

// One iteration of the profile pass: what ran when, for the day on which the case is slower and
// this build is gone.
struct StoredProfile {
  Nanoseconds duration{0};                 // of the iteration, with the profiler's own cost
  std::vector<StoredActivity> activities;  // by start
  std::int64_t left_out = 0;               // the shortest ones, beyond kMaxProfile
  friend bool operator==(const StoredProfile&, const StoredProfile&) = default;
};
inline constexpr std::size_t kMaxProfile = 16384;  // bytes of JSON: a file of 30 runs stays small

struct BaselineRecord {
  std::string id;
  std::string case_hash;
  std::string run_id;                // of the first run, where others continued it
  std::string time;                  // when that started, UTC
  std::string config;                // name of the configuration, by which a gate misses cases
  std::string tool_version, commit;  // of the `bench` that measured
  std::int64_t epoch = 0;
  std::string reason;  // why it became a baseline
  std::optional<std::string> anchor;
  std::string accepted_from;          // the result file
  std::optional<std::uint64_t> seed;  // of the data: another one has another output digest
  EnvironmentRecord environment;
  std::optional<Canaries> canaries;  // medians over the run
  std::string implementation;
  std::vector<Flag> flags;
  // Of a device with a clock of its own, as in CaseRecord.
  std::optional<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  std::optional<QuietSummary> quiet;         // of the samples that `processes` are made of
  std::vector<ProcessSummary> processes;     // those that count
  std::map<std::string, std::string> exact;  // exact_facts() of harness/result/exact_facts.hpp
  std::optional<StoredProfile> profile;
  friend bool operator==(const BaselineRecord&, const BaselineRecord&) = default;
};

// One line without newline.
std::string to_json_line(const BaselineRecord& record);
// Fields that it does not know are skipped. Errors: no JSON, another schema, a field that is
// missing or of another type.
Result<BaselineRecord> baseline_from_json_line(std::string_view line);

// The activities that fit, the longest-lasting ones first considered; the others are counted.
StoredProfile within_limit(StoredProfile profile, std::size_t limit);

// Median over the processes of an iteration's median, and of its lower quartile; absent without
// processes, or where one took no time.
std::optional<double> median_iteration(const BaselineRecord& record);
std::optional<double> q25_iteration(const BaselineRecord& record);

}  // namespace bench
