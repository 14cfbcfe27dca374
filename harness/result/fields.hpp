// SPDX-License-Identifier: Apache-2.0
// Declares the JSON fields of each record, in this order, once for writing (base/json_writer.hpp)
// and reading (base/json_reader.hpp). Include it only in sources.
#pragma once

#include "base/checked.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "harness/result/latency.hpp"
#include "harness/result/record.hpp"
#include "harness/result/typed_details.hpp"
#include "harness/stats/equal_speed.hpp"

#include <fmt/format.h>

namespace bench {

template <class Archive, class Environment>
void environment_fields(Archive& archive, Environment& environment) {
  archive.optional("machine_class", environment.machine_class);
  archive.optional("cpu", environment.cpu);
  archive.optional("threads", environment.threads);
  archive.optional("libraries", environment.libraries);
  archive.optional("details", environment.details);
}

template <class Archive, class Run>
void run_fields(Archive& archive, Run& run) {
  archive.required("run_id", run.run_id);
  archive.optional("resumes", run.resumes);
  archive.object("tool", [&](Archive& tool) {
    tool.optional("version", run.tool_version);
    tool.optional("commit", run.tool_commit);
  });
  archive.optional("started", run.started);
  archive.optional("arguments", run.arguments);
  archive.optional("shard", run.shard);
  archive.optional("under", run.under);
  archive.optional("beside", run.beside);
  archive.object("config", [&](Archive& config) {
    config.optional("name", run.config_name);
    config.optional("files", run.config_files);
    config.optional("hash", run.config_hash);
    config.optional("seed", run.seed);
  });
  archive.optional("convention", run.convention);
  archive.object("environment",
                 [&](Archive& environment) { environment_fields(environment, run.environment); });
}

void fields(auto& archive, JsonOf<SampleRemarks> auto& remarks) {
  archive.required("count", remarks.count);
  archive.optional("reasons", remarks.reasons);
}

// Declares fields about samples on a device's clock. Processes, cases and replies of workers have
// these fields.
void device_clock_fields(auto& archive, auto& record) {
  archive.optional("host_launch_ns", record.host_launch);
  archive.optional("clock_hz", record.clock_hz);
  archive.optional("sample_method", record.sample_method);
}
void remark_fields(auto& archive, JsonOf<DeviceSamples> auto& samples) {
  archive.defaulted("voided", samples.voided, SampleRemarks{});
  archive.defaulted("throttled", samples.throttled, SampleRemarks{});
  archive.defaulted("unsteady_clock", samples.unsteady_clock, SampleRemarks{});
}

void preparation_fields(auto& archive, JsonOf<PreparationTimes> auto& preparation) {
  for (const PreparationTime& row : kPreparationTimes)
    archive.optional(row.name, preparation.*row.time);
}

void energy_fields(auto& archive, JsonOf<std::optional<ProcessEnergy>> auto& energy) {
  archive.group("energy", energy, [](auto& inner, auto& value) {
    inner.required("microjoules", value.microjoules);
    inner.required("time_ns", value.time);
    inner.required("source", value.source);
  });
}

void latency_count_fields(auto& archive, JsonOf<std::optional<LatencyCounts>> auto& latencies) {
  archive.group("latencies", latencies, [](auto& inner, auto& value) {
    inner.required("ns", value.times);
    inner.required("counts", value.counts);
    inner.required("clock_ns", value.clock);
    if constexpr (std::remove_reference_t<decltype(inner)>::kReads) {
      const std::string problem = inner.ok() ? find_latency_problem(value) : std::string();
      if (!problem.empty()) inner.report_field("counts", problem);
    }
  });
}

inline void item_rate_field(JsonWriter& writer, const std::optional<ItemsPerSecond>& rate) {
  writer.optional("items_per_s", rate ? std::optional(rate->value) : std::nullopt);
}
inline void item_rate_field(JsonReader& reader, std::optional<ItemsPerSecond>& rate) {
  std::optional<double> value;
  reader.optional("items_per_s", value);
  if (value) rate = ItemsPerSecond{*value};
}

template <class Archive>
void latency_fields(Archive& archive, JsonOf<Latency> auto& latency) {
  archive.required("iterations", latency.iterations);
  for (const LatencyPercentileRow& row : kLatencyPercentiles) {
    auto& percentile = latency.*row.value;
    archive.required(fmt::format("{}_ns", row.name), percentile.time);
    archive.optional(fmt::format("{}_low_ns", row.name), percentile.low);
    archive.optional(fmt::format("{}_high_ns", row.name), percentile.high);
  }
  archive.required("min_ns", latency.min);
  archive.required("max_ns", latency.max);
  archive.optional("confidence", latency.confidence);
  archive.required("clock_ns", latency.clock);
}

// A file stores the typed details (typed_details.hpp) among the other details.
inline void detail_fields(JsonWriter& writer, const CaseRecord& record) {
  writer.optional("details", details_as_texts(record));
}
inline void detail_fields(JsonReader& reader, CaseRecord& record) {
  reader.optional("details", record.details);
  extract_typed_details(record);
}

template <class Archive, class Process>
void process_fields(Archive& archive, Process& process) {
  archive.required("run_id", process.run_id);
  archive.required("id", process.id);
  archive.required("process", process.process);
  archive.required("samples_ns", process.samples);
  archive.required("iterations_per_sample", process.iterations_per_sample);
  archive.optional("warmup_iterations", process.warmup_iterations);
  archive.optional("steady", process.steady);
  archive.required("stop", process.stop);
  preparation_fields(archive, process.preparation);
  archive.optional("implementation", process.implementation);
  archive.optional("canaries_ns", process.canaries.times);
  archive.optional("canary_threads", process.canaries.threads);
  archive.optional("join_ns", process.canaries.join);
  device_clock_fields(archive, process.device);
  remark_fields(archive, process.device);
  archive.optional("setup", process.setup);
  energy_fields(archive, process.energy);
  latency_count_fields(archive, process.latencies);
  archive.optional("choices", process.choices);
}

// Writes the sum of both directions as well, for human readers. Files of other tools may contain
// only the sum; the reader then counts it as bytes read.
inline void byte_fields(JsonWriter& writer, const ops::Work& work) {
  writer.required("bytes", work.traffic());
  writer.required("bytes_read", work.bytes_read);
  writer.required("bytes_written", work.bytes_written);
}
inline void byte_fields(JsonReader& reader, ops::Work& work) {
  if (reader.has("bytes_read") || reader.has("bytes_written")) {
    reader.optional("bytes_read", work.bytes_read);
    reader.optional("bytes_written", work.bytes_written);
  } else {
    reader.required("bytes", work.bytes_read);
  }
  if (!(Checked(work.bytes_read) + work.bytes_written).value())
    reader.report_field("bytes", "is more than 2^63 - 1");
}

template <class Archive, class Work>
void work_fields(Archive& archive, Work& work) {
  archive.optional("macs", work.macs);
  archive.required("flops", work.flops);
  byte_fields(archive, work);
  archive.optional("flops_valid", work.flops_valid);
  archive.optional("sfu_ops", work.sfu_ops);
}

void fields(auto& archive, JsonOf<SpeedLevel> auto& level) {
  archive.required("at_canary_ns", level.canary);
  archive.required("level", level.source);
}

// A list of four numbers: a record has many of them.
auto elements(JsonOf<SpeedCell> auto& cell) {
  return std::tie(cell.canary, cell.samples, cell.time, cell.join);
}
void fields(auto& archive, JsonOf<TimesBySpeed> auto& times) {
  archive.required("processes", times.processes);
  archive.required("scatter", times.scatter);
  archive.required("process_scatter", times.process_scatter);
  archive.required("cells", times.cells);
  if constexpr (std::remove_reference_t<decltype(archive)>::kReads) {
    if (archive.ok() && !is_valid(times)) archive.report_field("cells", "cannot be fitted");
  }
}

template <class Archive, class Time>
void time_fields(Archive& archive, Time& time) {
  archive.required("median_ns", time.median);
  archive.required("q25_ns", time.q25);
  archive.required("q75_ns", time.q75);
  archive.required("min_ns", time.min);
  archive.required("max_ns", time.max);
  archive.optional("low_ns", time.low);
  archive.optional("high_ns", time.high);
  archive.optional("confidence", time.confidence);
  archive.optional_inline("at_canary_ns", time.at);
}

template <class Archive, class Roofline>
void roofline_fields(Archive& archive, Roofline& roofline) {
  archive.required("intensity_flops_per_byte", roofline.intensity_flops_per_byte);
  archive.required("bound", roofline.bound);
  archive.optional("level", roofline.level);
  archive.required("ideal_ns", roofline.ideal);
  archive.required("efficiency", roofline.efficiency);
  archive.optional("peak_flops_per_s", roofline.peak_flops_per_s);
  archive.optional("peak_bytes_per_s", roofline.peak_bytes_per_s);
  archive.required("source", roofline.source);
  archive.optional("precision", roofline.precision);
}

void fields(auto& archive, JsonOf<MemoryUse> auto& memory) {
  archive.required("peak_bytes", memory.peak);
  archive.required("weights_bytes", memory.weights);
  archive.required("workspace_bytes", memory.workspace);
  archive.optional("activations_bytes", memory.activations);
}

void fields(auto& archive, JsonOf<ops::MeasuredCandidate> auto& candidate) {
  archive.required("name", candidate.name);
  archive.optional("time_ns", candidate.time);
  archive.optional("reason", candidate.failure);
}
void fields(auto& archive, JsonOf<ops::Regret> auto& regret) {
  archive.required("chosen", regret.chosen);
  archive.required("chosen_ns", regret.chosen_time);
  archive.required("best", regret.best);
  archive.required("best_ns", regret.best_time);
  archive.optional("candidates", regret.candidates);
}

template <class Archive, class Case>
void case_fields(Archive& archive, Case& record) {
  archive.required("run_id", record.run_id);
  archive.required("id", record.id);
  archive.optional("op", record.op);
  archive.optional("direction", record.direction);
  archive.optional("dtype", record.dtype);
  archive.optional("device", record.device);
  archive.optional("backend", record.backend);
  archive.optional("source", record.source);
  archive.optional("case_hash", record.case_hash);
  archive.optional("network", record.network);
  archive.optional("layers", record.layers);
  archive.optional("multiplicity", record.multiplicity);
  archive.list("networks", record.networks, [](Archive& entry, auto& network) {
    entry.required("network", network.network);
    entry.optional("layers", network.layers);
  });
  archive.optional("unmeasured_gradients", record.unmeasured_gradients);
  archive.required("outcome", record.outcome);
  archive.optional("reason", record.reason);
  archive.required("flags", record.flags);
  archive.optional("implementation", record.implementation);
  archive.group("work", record.work, [](Archive& work, auto& value) { work_fields(work, value); });
  archive.optional("memory", record.memory);
  archive.group("time", record.time, [](Archive& time, auto& value) { time_fields(time, value); });
  archive.group("time_all", record.time_all,
                [](Archive& time, auto& value) { time_fields(time, value); });
  archive.object("rates", [&](Archive& rates) {
    rates.optional("flops_per_s", record.flops_per_s);
    rates.optional("bytes_per_s", record.bytes_per_s);
    item_rate_field(rates, record.items_per_s);
  });
  archive.optional("items", record.items);
  archive.optional("streams", record.streams);
  archive.group("latency", record.latency,
                [](Archive& latency, auto& value) { latency_fields(latency, value); });
  archive.group("roofline", record.roofline,
                [](Archive& roofline, auto& value) { roofline_fields(roofline, value); });
  archive.group("energy", record.energy, [](Archive& energy, auto& value) {
    energy.required("joules_per_iteration", value.joules_per_iteration);
    energy.optional("flops_per_joule", value.flops_per_joule);
    energy.required("source", value.source);
  });
  preparation_fields(archive, record.preparation);
  device_clock_fields(archive, record);
  archive.optional("voided", record.voided);
  archive.optional("throttled", record.throttled);
  archive.optional("unsteady_clock", record.unsteady_clock);
  archive.optional("setup", record.setup);
  archive.optional("check", record.check);
  archive.optional("regret", record.regret);
  detail_fields(archive, record);
}

template <class Archive, class Pass>
void profile_pass_fields(Archive& archive, Pass& pass) {
  archive.required("run_id", pass.run_id);
  archive.required("id", pass.id);
  archive.required("outcome", pass.outcome);
  archive.optional("reason", pass.reason);
  archive.required("iterations", pass.iterations);
  archive.optional("profiled_ns", pass.profiled);
  archive.optional("unprofiled_ns", pass.unprofiled);
  archive.required("activities", pass.activities);
  archive.required("unread", pass.unread);
  archive.optional("wall_ns", pass.wall);
  archive.optional("attributed_ns", pass.attributed);
  archive.optional("unattributed_ns", pass.unattributed);
  archive.optional("details", pass.details);
}

template <class Archive, class End>
void end_fields(Archive& archive, End& end) {
  archive.required("run_id", end.run_id);
  archive.optional("finished", end.finished);
  archive.required("interrupted", end.interrupted);
  archive.required("exit", end.exit);
  archive.required("not_measured", end.not_measured);
  archive.object("accounting", [&](Archive& accounting) {
    accounting.required("wall_ns", end.accounting.wall);
    accounting.required("timed_ns", end.accounting.timed);
    accounting.required("warmup_ns", end.accounting.warmup);
    accounting.required("setup_ns", end.accounting.setup);
    accounting.required("check_ns", end.accounting.check);
    accounting.optional("profile_ns", end.accounting.profile);
    accounting.required("idle_ns", end.accounting.idle);
  });
  archive.optional("beside", end.beside);
}

// Complete lines of a result file.
void fields(auto& archive, JsonOf<RunRecord> auto& run) {
  archive.constant("record", "run");
  archive.constant("schema", kResultSchema);
  run_fields(archive, run);
}
void fields(auto& archive, JsonOf<ProcessRecord> auto& process) {
  archive.constant("record", "process");
  process_fields(archive, process);
}
void fields(auto& archive, JsonOf<CaseRecord> auto& record) {
  archive.constant("record", "case");
  case_fields(archive, record);
}
void fields(auto& archive, JsonOf<ProfilePassRecord> auto& pass) {
  archive.constant("record", "profile_pass");
  profile_pass_fields(archive, pass);
}
void fields(auto& archive, JsonOf<EndRecord> auto& end) {
  archive.constant("record", "end");
  end_fields(archive, end);
}

}  // namespace bench
