// SPDX-License-Identifier: Apache-2.0
// Declares the JSON fields of each record, in this order, once for writing (base/json_writer.hpp)
// and reading (base/json_reader.hpp). Include it only in sources.
#pragma once

#include "base/checked.hpp"
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "harness/result/latency.hpp"
#include "harness/result/proof.hpp"
#include "harness/result/record.hpp"
#include "harness/result/typed_details.hpp"
#include "harness/stats/equal_speed.hpp"

#include <fmt/format.h>

namespace bench {

void environment_fields(auto& archive, JsonOf<EnvironmentRecord> auto& environment) {
  BENCH_OPTIONAL_MEMBERS(archive, environment, machine_class, cpu, threads, libraries, details);
}

BENCH_FIELDS(ShardAssignment, plan_cases, (positions, kOptional), rule);

void fields(auto& archive, JsonOf<RunRecord> auto& run) {
  archive.constant("record", "run");
  archive.constant("schema", kResultSchema);
  BENCH_MEMBERS(archive, run, run_id, resumes);
  archive.object("tool", [&](auto& tool) {
    BENCH_OPTIONAL_MEMBERS(tool, run, (tool_version, "version"), (tool_commit, "commit"));
  });
  BENCH_OPTIONAL_MEMBERS(archive, run, started, arguments, shard, assignment, under, beside);
  archive.object("config", [&](auto& config) {
    BENCH_OPTIONAL_MEMBERS(config, run, (config_name, "name"), (config_files, "files"),
                           (config_hash, "hash"), seed);
  });
  BENCH_OPTIONAL_MEMBERS(archive, run, convention);
  archive.object("environment", [&](auto& inner) { environment_fields(inner, run.environment); });
}

// The largest slowdown that a self-test may state, as a fraction: 1000 %.
inline constexpr double kMaxStatedSlowdown = 10;
BENCH_FIELDS(ProofOfLife::Power, (slowdown, within(0, kMaxStatedSlowdown)), (cases, at_least(0)),
             (found, at_least(0)));
BENCH_FIELDS(ProofOfLife::Injected, (slowdown, within(1e-6, kMaxStatedSlowdown)),
             (measured, within(-1, 2 * kMaxStatedSlowdown)));
BENCH_FIELDS(ProofOfLife, run_id, time, machine_class, tool_version, commit, (duets, at_least(0)),
             (suites, at_least(0)), (red_suites, at_least(0)), power, injected);

BENCH_FIELDS(SampleRemarks, count, (reasons, kOptional));

// The fields of samples on a device's clock that processes and replies of workers have.
void device_clock_fields(auto& archive, JsonOf<DeviceSamples> auto& samples) {
  BENCH_OPTIONAL_MEMBERS(archive, samples, host_launch, clock_hz, sample_method);
}
void remark_fields(auto& archive, JsonOf<DeviceSamples> auto& samples) {
  BENCH_MEMBERS(archive, samples, (voided, kUnlessInitial), (throttled, kUnlessInitial),
                (unsteady_clock, kUnlessInitial));
}

BENCH_FIELDS(PreparationTimes, create, create_hit, reorder, first_run);
BENCH_FIELDS(ProcessEnergy, microjoules, time, source);

template <class Archive>
void fields(Archive& archive, JsonOf<LatencyCounts> auto& latencies) {
  BENCH_MEMBERS(archive, latencies, (times, "ns"), counts, clock);
  if constexpr (Archive::kReads) {
    const std::string problem = archive.ok() ? find_latency_problem(latencies) : std::string();
    if (!problem.empty()) archive.report_field("counts", problem);
  }
}

inline void item_rate_field(JsonWriter& writer, const std::optional<ItemsPerSecond>& rate) {
  writer.optional("items_per_s", rate ? std::optional(rate->value) : std::nullopt);
}
inline void item_rate_field(JsonReader& reader, std::optional<ItemsPerSecond>& rate) {
  std::optional<double> value;
  reader.optional("items_per_s", value);
  if (value) rate = ItemsPerSecond{*value};
}

void fields(auto& archive, JsonOf<Latency> auto& latency) {
  BENCH_MEMBERS(archive, latency, iterations);
  for (const LatencyPercentileRow& row : kLatencyPercentiles) {
    auto& percentile = latency.*row.value;
    archive.required(fmt::format("{}_ns", row.name), percentile.time);
    archive.optional(fmt::format("{}_low_ns", row.name), percentile.low);
    archive.optional(fmt::format("{}_high_ns", row.name), percentile.high);
  }
  BENCH_MEMBERS(archive, latency, min, max, confidence, clock);
}

// A file stores the typed details (typed_details.hpp) among the other details.
inline void detail_fields(JsonWriter& writer, const CaseRecord& record) {
  writer.optional("details", details_as_texts(record));
}
inline void detail_fields(JsonReader& reader, CaseRecord& record) {
  reader.optional("details", record.details);
  extract_typed_details(record);
}

void fields(auto& archive, JsonOf<ProcessRecord> auto& process) {
  archive.constant("record", "process");
  BENCH_MEMBERS(archive, process, run_id, id, process, samples, iterations_per_sample,
                (warmup_iterations, kOptional), (steady, kOptional), stop, (preparation, kInlined),
                (implementation, kOptional));
  BENCH_OPTIONAL_MEMBERS(archive, process.canaries, (times, "canaries_ns"),
                         (threads, "canary_threads"), join);
  device_clock_fields(archive, process.device);
  remark_fields(archive, process.device);
  BENCH_OPTIONAL_MEMBERS(archive, process, setup, energy, latencies, choices);
}

// Writes the sum of both directions as well, for human readers. Files of other tools may contain
// only the sum; the reader then counts it as bytes read.
inline void byte_fields(JsonWriter& writer, const ops::Work& work) {
  writer.required("bytes", work.traffic());
  BENCH_MEMBERS(writer, work, bytes_read, bytes_written);
}
inline void byte_fields(JsonReader& reader, ops::Work& work) {
  if (reader.has("bytes_read") || reader.has("bytes_written")) {
    BENCH_MEMBERS(reader, work, (bytes_read, kOptional), (bytes_written, kOptional));
  } else {
    BENCH_MEMBERS(reader, work, (bytes_read, "bytes"));
  }
  if (!(Checked(work.bytes_read) + work.bytes_written).value())
    reader.report_field("bytes", "is more than 2^63 - 1");
}

void work_fields(auto& archive, JsonOf<ops::Work> auto& work) {
  BENCH_MEMBERS(archive, work, macs, flops);
  byte_fields(archive, work);
  BENCH_OPTIONAL_MEMBERS(archive, work, flops_valid, sfu_ops);
}

BENCH_FIELDS(SpeedLevel, (canary, "at_canary_ns"), (source, "level"));

// A list of four numbers: a record has many of them.
auto elements(JsonOf<SpeedCell> auto& cell) {
  return std::tie(cell.canary, cell.samples, cell.time, cell.join);
}
void fields(auto& archive, JsonOf<TimesBySpeed> auto& times) {
  BENCH_MEMBERS(archive, times, processes, scatter, process_scatter, cells);
  if constexpr (std::remove_reference_t<decltype(archive)>::kReads) {
    if (archive.ok() && !is_valid(times)) archive.report_field("cells", "cannot be fitted");
  }
}

BENCH_FIELDS(TimeSummary, median, q25, q75, min, max, low, high, confidence,
             (at, inlined_if("at_canary_ns")), mean, (deviation, "stddev_ns"), p90, p99);
BENCH_FIELDS(Roofline, intensity_flops_per_byte, bound, (level, kOptional), ideal, efficiency,
             peak_flops_per_s, peak_bytes_per_s, source, precision);
BENCH_FIELDS(Energy, joules_per_iteration, flops_per_joule, source);
BENCH_FIELDS(MemoryUse, peak, weights, workspace, activations);
BENCH_FIELDS(NetworkLayers, network, (layers, kOptional));

BENCH_FIELDS(ops::MeasuredCandidate, name, time, (failure, "reason", kOptional));
BENCH_FIELDS(ops::Regret, chosen, (chosen_time, "chosen_ns"), best, (best_time, "best_ns"),
             (candidates, kOptional));

void fields(auto& archive, JsonOf<CaseRecord> auto& record) {
  archive.constant("record", "case");
  BENCH_MEMBERS(archive, record, run_id, id);
  BENCH_OPTIONAL_MEMBERS(archive, record, op, direction, dtype, device, backend, source, case_hash,
                         network, layers, multiplicity, networks, unmeasured_gradients);
  BENCH_MEMBERS(archive, record, outcome, reason, flags, implementation);
  archive.group("work", record.work, [](auto& work, auto& value) { work_fields(work, value); });
  BENCH_MEMBERS(archive, record, memory, time, time_all);
  archive.object("rates", [&](auto& rates) {
    BENCH_MEMBERS(rates, record, flops_per_s, bytes_per_s);
    item_rate_field(rates, record.items_per_s);
  });
  BENCH_OPTIONAL_MEMBERS(archive, record, items, streams, latency, roofline, energy);
  BENCH_MEMBERS(archive, record, (preparation, kInlined), host_launch, clock_hz, sample_method,
                voided, throttled, unsteady_clock, (setup, kOptional), check, regret);
  detail_fields(archive, record);
}

void fields(auto& archive, JsonOf<ProfilePassRecord> auto& pass) {
  archive.constant("record", "profile_pass");
  BENCH_MEMBERS(archive, pass, run_id, id, outcome, reason, iterations, profiled, unprofiled,
                activities, unread, wall, attributed, unattributed, (details, kOptional));
}

BENCH_FIELDS(Accounting, wall, timed, warmup, setup, check, (profile, kOptional), idle);

void fields(auto& archive, JsonOf<EndRecord> auto& end) {
  archive.constant("record", "end");
  BENCH_MEMBERS(archive, end, run_id, (finished, kOptional), interrupted, exit, not_measured,
                (accounting, kOptional), (beside, kOptional));
}

}  // namespace bench
