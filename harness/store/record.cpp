// SPDX-License-Identifier: Apache-2.0
#include "harness/store/record.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/quote.hpp"
#include "base/utc_time.hpp"
#include "harness/result/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kMaxEpoch = 1'000'000;  // so that the next epoch never overflows
// What no measurement exceeds: a larger number is malformed, and would shift the level of a case.
constexpr Nanoseconds kMaxTime = std::chrono::hours(24 * 7);
constexpr Nanoseconds kMaxCanary = std::chrono::seconds(10);  // canaries take microseconds
constexpr double kMaxCount = 1e12;
constexpr double kMaxThreads = 1 << 16;
constexpr double kMaxHertz = 1e12;
constexpr double kMaxWork = 1e18;  // FLOPs or bytes of an activity
// How far the times by speed may be from the processes' times, which are those of the same samples
// at one speed.
constexpr double kMaxSpeedRatio = 100;

template <class Archive, class Process>
void process_summary_fields(Archive& archive, Process& process) {
  BENCH_MEMBERS(archive, process, (samples, "n", within(1, kMaxCount)),
                (iterations_per_sample, within(1, kMaxCount)), (median, "med_ns"), q25, p90, min,
                (deviation, "sd_ns"));
}

template <class Archive, class Activity>
void stored_activity_fields(Archive& archive, Activity& activity) {
  BENCH_MEMBERS(archive, activity, kind, name, (implementation, kOptional), (scope, kOptional),
                start, duration, (flops, within(0, kMaxWork)), (bytes, within(0, kMaxWork)));
}

template <class Archive, class Profile>
void stored_profile_fields(Archive& archive, Profile& profile) {
  archive.required("duration_ns", profile.duration);
  archive.list("activities", profile.activities,
               [](Archive& entry, auto& activity) { stored_activity_fields(entry, activity); });
  archive.required("left_out", profile.left_out, within(0, kMaxCount));
}

template <class Archive, class Baseline>
void provenance_fields(Archive& archive, Baseline& record) {
  BENCH_MEMBERS(archive, record, run_id, time, (config, kOptional));
  archive.object("tool", [&](Archive& tool) {
    BENCH_OPTIONAL_MEMBERS(tool, record, (tool_version, "version"), commit);
  });
  BENCH_MEMBERS(archive, record, epoch, reason, anchor, (accepted_from, kOptional), adopted_from,
                seed);
}

template <class Archive, class Baseline>
void baseline_fields(Archive& archive, Baseline& record) {
  auto& measured = record.measured;
  BENCH_MEMBERS(archive, measured, id, (case_hash, kOptional));
  provenance_fields(archive, record);
  archive.object("environment", [&](Archive& environment) {
    environment_fields(environment, record.environment);
  });
  archive.optional("implementation", measured.exact.implementation);
  BENCH_MEMBERS(archive, measured, (flags, kOptional), (clock_hz, within(1, kMaxHertz)),
                sample_method, (at, inlined_if("at_canary_ns")),
                (canary_threads, within(1, kMaxThreads)), by_speed);
  archive.list("processes", measured.processes,
               [](Archive& entry, auto& process) { process_summary_fields(entry, process); });
  std::map<std::string, std::string> facts = facts_as_texts(measured.exact);
  archive.optional("exact", facts);
  if constexpr (Archive::kReads) set_facts(std::move(facts), measured.exact);
  archive.group("profile", record.profile,
                [](Archive& entry, auto& profile) { stored_profile_fields(entry, profile); });
}

std::string find_process_violation(const ProcessSummary& process) {
  const bool ordered =
      process.min <= process.q25 && process.q25 <= process.median && process.median <= process.p90;
  if (!ordered) return "`processes` is not in the order min_ns, q25_ns, med_ns, p90_ns";
  if (process.min <= Nanoseconds(0)) return "`processes.min_ns` is not above 0";
  return "";
}

bool is_possible_canary(Nanoseconds canary) {
  return canary > Nanoseconds(0) && canary <= kMaxCanary;
}

// Checks the speeds, and that the times by speed are about those of the processes.
std::string find_speed_violation(const MeasuredCase& measured) {
  if (measured.at && !is_possible_canary(measured.at->canary))
    return fmt::format("`at_canary_ns` is not from 1 to {}", kMaxCanary.count());
  if (!measured.by_speed) return "";
  if (static_cast<double>(measured.by_speed->processes) > kMaxCount)
    return "`by_speed.processes` is too large";
  const double nanoseconds = median_iteration(measured).value_or(0);
  for (const SpeedCell& cell : measured.by_speed->cells) {
    const bool is_possible = is_possible_canary(cell.canary) &&
                             (!cell.join || is_possible_canary(*cell.join)) &&
                             static_cast<double>(cell.samples) <= kMaxCount;
    if (!is_possible) return "`by_speed.cells` has a canary, samples or a join time out of range";
    const double ratio = std::chrono::duration<double, std::nano>(cell.time).count() / nanoseconds;
    if (ratio > kMaxSpeedRatio || ratio < 1 / kMaxSpeedRatio)
      return "`by_speed.cells` contradicts the times of `processes`";
  }
  return "";
}

// Checks rules that the field reader does not check: ranges of values, and relations between
// fields. Returns the first violated rule, or an empty string.
std::string find_violation(const BaselineRecord& record) {
  if (record.measured.id.empty()) return "`id` is empty";
  if (record.run_id.empty()) return "`run_id` is empty";
  if (!is_utc_time(record.time))
    return fmt::format("`time` is {}, not a time such as 2026-11-21T08:00:00Z", quote(record.time));
  if (record.environment.machine_class.empty()) return "`environment.machine_class` is missing";
  if (record.environment.threads.value_or(1) < 1) return "`environment.threads` is not at least 1";
  if (record.epoch > kMaxEpoch) return "`epoch` is too large";
  if (record.measured.processes.empty()) return "`processes` is missing";
  for (const ProcessSummary& process : record.measured.processes) {
    if (std::string violation = find_process_violation(process); !violation.empty())
      return violation;
  }
  return find_speed_violation(record.measured);
}

// Returns the number of bytes that the activity adds to a list.
std::size_t json_size(const StoredActivity& activity) {
  const std::string object =
      json_object([&](JsonWriter& writer) { stored_activity_fields(writer, activity); });
  return object.size() + 1;  // plus its comma
}

}  // namespace

std::string to_json_line(const BaselineRecord& record) {
  return json_object([&](JsonWriter& writer) {
    writer.constant("schema", kBaselineSchema);
    baseline_fields(writer, record);
  });
}

Result<BaselineRecord> baseline_from_json_line(std::string_view line) {
  BENCH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(line));
  const auto schema = document.root().text_at("schema");
  if (!schema) return Error{"it has no field `schema`", "", ""};
  if (*schema != kBaselineSchema) {
    return Error{fmt::format("schema {}, expected `{}`", quote(*schema), kBaselineSchema), "",
                 "read it with the version of bench that wrote it"};
  }
  BaselineRecord record;
  JsonReader reader(document.root(), {.max_time = kMaxTime});
  baseline_fields(reader, record);
  std::string problem = reader.problem();
  if (problem.empty()) problem = find_violation(record);
  if (!problem.empty()) return Error{problem, "", ""};
  return record;
}

StoredProfile limit_profile(StoredProfile profile, std::size_t limit) {
  std::vector<StoredActivity>& activities = profile.activities;
  std::stable_sort(activities.begin(), activities.end(), [](const auto& left, const auto& right) {
    return left.duration > right.duration;
  });
  // Bytes for the surrounding object: field names, `duration_ns` and `left_out`.
  std::size_t size = 100;
  std::vector<StoredActivity> kept;
  for (StoredActivity& activity : activities) {
    const std::size_t added = json_size(activity);
    if (size + added > limit) {
      ++profile.left_out;
      continue;
    }
    size += added;
    kept.push_back(std::move(activity));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const auto& left, const auto& right) { return left.start < right.start; });
  activities = std::move(kept);
  return profile;
}

}  // namespace bench
