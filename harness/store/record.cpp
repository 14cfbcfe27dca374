// SPDX-License-Identifier: Apache-2.0
#include "harness/store/record.hpp"

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "base/text.hpp"
#include "harness/result/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace bench {
namespace {

constexpr std::int64_t kMaxEpoch = 1'000'000;  // so that the next epoch never overflows

template <class Archive, class Process>
void process_summary_fields(Archive& archive, Process& process) {
  archive.required("n", process.samples);
  archive.required("iterations_per_sample", process.iterations_per_sample);
  archive.required("med_ns", process.median);
  archive.required("q25_ns", process.q25);
  archive.required("p90_ns", process.p90);
  archive.required("min_ns", process.min);
  archive.optional("sd_ns", process.deviation);
}

template <class Archive, class Activity>
void stored_activity_fields(Archive& archive, Activity& activity) {
  archive.required("kind", activity.kind);
  archive.required("name", activity.name);
  archive.optional("implementation", activity.implementation);
  archive.optional("scope", activity.scope);
  archive.required("start_ns", activity.start);
  archive.required("duration_ns", activity.duration);
  archive.optional("flops", activity.flops);
  archive.optional("bytes", activity.bytes);
}

template <class Archive, class Profile>
void stored_profile_fields(Archive& archive, Profile& profile) {
  archive.required("duration_ns", profile.duration);
  archive.list("activities", profile.activities,
               [](Archive& entry, auto& activity) { stored_activity_fields(entry, activity); });
  archive.required("left_out", profile.left_out);
}

template <class Archive, class Baseline>
void provenance_fields(Archive& archive, Baseline& record) {
  archive.required("run_id", record.run_id);
  archive.required("time", record.time);
  archive.optional("config", record.config);
  archive.object("tool", [&](Archive& tool) {
    tool.optional("version", record.tool_version);
    tool.optional("commit", record.commit);
  });
  archive.required("epoch", record.epoch);
  archive.required("reason", record.reason);
  archive.optional("anchor", record.anchor);
  archive.optional("accepted_from", record.accepted_from);
  archive.optional("seed", record.seed);
}

template <class Archive, class Baseline>
void baseline_fields(Archive& archive, Baseline& record) {
  auto& measured = record.measured;
  archive.required("id", measured.id);
  archive.optional("case_hash", measured.case_hash);
  provenance_fields(archive, record);
  archive.object("environment", [&](Archive& environment) {
    environment_fields(environment, record.environment);
  });
  archive.optional("implementation", measured.exact.implementation);
  archive.optional("flags", measured.flags);
  archive.optional("clock_hz", measured.clock_hz);
  archive.optional("sample_method", measured.sample_method);
  archive.optional_inline("at_canary_ns", measured.at);
  archive.optional("canary_threads", measured.canary_threads);
  archive.optional("by_speed", measured.by_speed);
  archive.list("processes", measured.processes,
               [](Archive& entry, auto& process) { process_summary_fields(entry, process); });
  std::map<std::string, std::string> facts = facts_as_texts(measured.exact);
  archive.optional("exact", facts);
  if constexpr (Archive::kReads) set_facts(std::move(facts), measured.exact);
  archive.group("profile", record.profile,
                [](Archive& entry, auto& profile) { stored_profile_fields(entry, profile); });
}

// Checks rules that the field reader does not check: ranges of values, and relations between
// fields. Returns the first violated rule, or an empty string.
std::string find_violation(const BaselineRecord& record) {
  if (record.measured.id.empty()) return "`id` is empty";
  if (record.run_id.empty()) return "`run_id` is empty";
  if (record.environment.machine_class.empty()) return "`environment.machine_class` is missing";
  if (record.epoch > kMaxEpoch) return "`epoch` is too large";
  if (record.measured.processes.empty()) return "`processes` is missing";
  for (const ProcessSummary& process : record.measured.processes) {
    if (process.samples < 1) return "`processes.n` is not at least 1";
    if (process.iterations_per_sample < 1)
      return "`processes.iterations_per_sample` is not at least 1";
    const bool ordered = process.min <= process.q25 && process.q25 <= process.median &&
                         process.median <= process.p90;
    if (!ordered) return "`processes` is not in the order min_ns, q25_ns, med_ns, p90_ns";
    if (process.min <= Nanoseconds(0)) return "`processes.min_ns` is not above 0";
  }
  return "";
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
    return Error{fmt::format("schema `{}`, expected `{}`", shorten(*schema, 40), kBaselineSchema),
                 "", "read it with the version of bench that wrote it"};
  }
  BaselineRecord record;
  JsonReader reader(document.root());
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
