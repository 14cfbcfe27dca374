// SPDX-License-Identifier: Apache-2.0
// Runs and gates in Google Benchmark's JSON (its src/json_reporter.cc), for tools/compare.py. A
// gate has one file per side, in which a duet is a repetition. Both contain the same cases: those
// with times on both sides.
#include "base/checked.hpp"
#include "base/json_writer.hpp"
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "harness/result/measured.hpp"
#include "harness/stats/summary.hpp"

#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace bench::google_benchmark {
namespace {

struct Repetition {
  double time = 0;  // nanoseconds per iteration
  std::int64_t iterations = 1;
};
using Repetitions = std::vector<Repetition>;

// A case. A case with an error has no repetitions.
struct Family {
  std::string id;
  Repetitions repetitions;
  std::optional<std::string> error = std::nullopt;
};

// The JSON style of the whole document.
constexpr JsonStyle kStyle = {.indent = 1, .reals = JsonReals::with_fraction};

void error_fields(JsonWriter& writer, std::size_t family, const Family& entry) {
  writer.required("name", entry.id);
  writer.required("family_index", family);
  writer.required("run_name", entry.id);
  writer.required("run_type", "iteration");
  writer.required("error_occurred", true);
  writer.required("error_message", *entry.error);
}

void repetition_fields(JsonWriter& writer, std::size_t family, const Family& entry,
                       std::size_t index) {
  const Repetition& repetition = entry.repetitions[index];
  writer.required("name", entry.id);
  writer.required("family_index", family);
  writer.required("per_family_instance_index", 0);
  writer.required("run_name", entry.id);
  writer.required("run_type", "iteration");
  writer.required("repetitions", entry.repetitions.size());
  writer.required("repetition_index", index);
  writer.required("threads", 1);
  writer.required("iterations", repetition.iterations);
  // Only wall time is measured, but compare.py expects CPU time, too.
  writer.required("real_time", repetition.time);
  writer.required("cpu_time", repetition.time);
  writer.required("time_unit", "ns");
}

double median_time(const Repetitions& repetitions) {
  std::vector<double> times;
  for (const Repetition& repetition : repetitions) times.push_back(repetition.time);
  return median(times).value_or(0);
}

void median_fields(JsonWriter& writer, std::size_t family, const Family& entry) {
  const double time = median_time(entry.repetitions);
  writer.required("name", entry.id + "_median");
  writer.required("family_index", family);
  writer.required("per_family_instance_index", 0);
  writer.required("run_name", entry.id);
  writer.required("run_type", "aggregate");
  writer.required("repetitions", entry.repetitions.size());
  writer.required("threads", 1);
  writer.required("aggregate_name", "median");
  writer.required("aggregate_unit", "time");
  writer.required("iterations", entry.repetitions.size());
  writer.required("real_time", time);
  writer.required("cpu_time", time);
  writer.required("time_unit", "ns");
}

// Scales the repetitions so that their median is `time`, in nanoseconds per iteration.
void scale_to(double time, Repetitions& repetitions) {
  const double middle = median_time(repetitions);
  if (!(middle > 0)) return;
  for (Repetition& repetition : repetitions) repetition.time *= time / middle;
}

// Returns the number of iterations of a repetition, at most 2^63 - 1. Records from files may
// contain any number of iterations per sample, so the product may be larger.
std::int64_t count_iterations(std::size_t samples, std::int64_t iterations_per_sample) {
  const Checked product =
      Checked(static_cast<std::int64_t>(samples)) * Checked(iterations_per_sample);
  return product.value().value_or(std::numeric_limits<std::int64_t>::max());
}

// Writes the member `benchmarks`: one item per repetition, and their median as an aggregate if
// there are several, as Google Benchmark does; or one item per family with an error.
void write_benchmarks(JsonWriter& writer, const std::vector<Family>& families) {
  std::vector<std::pair<std::size_t, std::size_t>> items;  // family and repetition, or median
  for (std::size_t family = 0; family < families.size(); ++family) {
    const std::size_t repetitions = families[family].repetitions.size();
    const std::size_t count = families[family].error ? 1
                              : repetitions > 1      ? repetitions + 1
                                                     : repetitions;
    for (std::size_t i = 0; i < count; ++i) items.emplace_back(family, i);
  }
  writer.member("benchmarks", [&] {
    writer.add_list(items.size(), [&](std::size_t item) {
      const std::size_t family = items[item].first;
      const std::size_t index = items[item].second;
      const Family& entry = families[family];
      writer.add_object([&](JsonWriter& object) {
        if (entry.error) {
          error_fields(object, family, entry);
        } else if (index == entry.repetitions.size()) {
          median_fields(object, family, entry);
        } else {
          repetition_fields(object, family, entry, index);
        }
      });
    });
  });
}

}  // namespace
}  // namespace bench::google_benchmark

namespace bench {
namespace {

using google_benchmark::Family;
using google_benchmark::Repetition;
using google_benchmark::Repetitions;

void context_fields(JsonWriter& writer, const Report& report) {
  writer.required("caches", std::vector<std::string>());
  writer.required("json_schema_version", 1);
  if (report.runs.empty()) return;
  const RunRecord& run = report.runs.back();
  writer.required("date", run.started);
  writer.required("executable", "bench");
  writer.required("host_name", run.environment.machine_class);
  writer.required("library_version", run.tool_version);
}

// Makes one repetition per process that counts: the median of its samples, at the speed at which
// the case's time is stated. `bench compare` reads such a file in the same way: each repetition as
// a process.
Repetitions to_repetitions(const MeasuredCase& measured) {
  Repetitions repetitions;
  for (const ProcessSummary& process : measured.processes) {
    if (process.iterations_per_sample <= 0) continue;
    repetitions.push_back(
        {per_iteration(process.median, process),
         google_benchmark::count_iterations(static_cast<std::size_t>(process.samples),
                                            process.iterations_per_sample)});
  }
  return repetitions;
}

Family make_family(const MeasuredCase& measured) {
  Repetitions repetitions = to_repetitions(measured);
  if (measured.outcome != Outcome::ok || repetitions.empty()) {
    return {measured.id, {}, measured.reason.value_or(std::string(to_string(measured.outcome)))};
  }
  return {measured.id, std::move(repetitions)};
}

// The repetitions of one case on both sides.
struct Sides {
  Repetitions base, candidate;
};

// Returns the repetition of one side of a duet: the median of the rounds that count, as in the
// effect. Returns nullopt if it has no time.
std::optional<Repetition> to_repetition(const Duet& duet, std::vector<Nanoseconds> Duet::*side) {
  const std::optional<double> middle = duet_median(duet, side);
  if (!middle || *middle <= 0) return std::nullopt;
  return Repetition{*middle, google_benchmark::count_iterations(counted_rounds(duet).size(),
                                                                duet.iterations_per_sample)};
}

Sides sides_from_duets(const CaseEvidence& entry) {
  Sides sides;
  for (const Duet& duet : entry.duets) {
    const auto base = to_repetition(duet, &Duet::base);
    const auto candidate = to_repetition(duet, &Duet::candidate);
    if (!base || !candidate) continue;
    sides.base.push_back(*base);
    sides.candidate.push_back(*candidate);
  }
  return sides;
}

// Uses the stored level and the processes of stage 1.
Sides sides_from_store(const CaseEvidence& entry) {
  Sides sides;
  if (!entry.stored || entry.stored->incomparable || entry.stored->runs == 0) return sides;
  const double stored = std::exp(entry.stored->log_level);
  if (!std::isfinite(stored)) return sides;
  sides.base.push_back({stored, 1});
  for (const double time : iteration_times(entry.candidate.processes, &ProcessSummary::median)) {
    sides.candidate.push_back({time, 1});
  }
  return sides;
}

// Returns the repetitions of both sides, scaled so that their medians are the times of the gate's
// table, whose ratio is the effect.
Sides find_sides(const CaseEvidence& entry, const CaseAssessment& judgement) {
  Sides sides = sides_from_duets(entry);
  if (sides.base.empty()) sides = sides_from_store(entry);
  if (judgement.effect && judgement.base && judgement.candidate) {
    const auto base = static_cast<double>(judgement.base->count());
    google_benchmark::scale_to(base, sides.base);
    google_benchmark::scale_to(base * (1 + *judgement.effect), sides.candidate);
  }
  return sides;
}

void write_context(JsonWriter& writer, const GateFile& gate, const GateSide& side,
                   std::size_t left_out) {
  writer.required("bench_gate", gate.conclusion.sentence);
  writer.required("executable", side.program);
  writer.required("host_name", gate.facts.machine_class);
  writer.required("caches", std::vector<std::string>());
  writer.required("library_version", side.tool_version);
  writer.required("json_schema_version", 1);
  writer.required("bench_left_out", left_out);
}

// Returns the file of one side. Both files omit a case without times on both sides.
std::string format_side_document(const GateFile& gate, const GateSide& side,
                                 Repetitions Sides::*repetitions) {
  std::unordered_map<std::string_view, const CaseEvidence*> evidence;
  for (const CaseEvidence& entry : gate.evidence.cases) evidence.emplace(entry.id(), &entry);
  std::vector<Family> families;
  std::size_t left_out = 0;
  for (const CaseAssessment* judgement : reading_order(gate.judgements)) {
    const auto found = evidence.find(judgement->id);
    Sides sides = found == evidence.end() ? Sides{} : find_sides(*found->second, *judgement);
    if (sides.base.empty() || sides.candidate.empty()) {
      ++left_out;
    } else {
      families.push_back({judgement->id, std::move(sides.*repetitions)});
    }
  }
  const auto write_document = [&](JsonWriter& writer) {
    writer.object("context",
                  [&](JsonWriter& context) { write_context(context, gate, side, left_out); });
    google_benchmark::write_benchmarks(writer, families);
  };
  return json_object(write_document, google_benchmark::kStyle) + "\n";
}

}  // namespace

std::string run_google_benchmark(const RunView& view, const ConsoleOptions& /*console*/) {
  std::vector<Family> families;
  for (const MeasuredCase& measured : measured_cases(view.report)) {
    families.push_back(make_family(measured));
  }
  const auto declare = [&](JsonWriter& writer) {
    writer.object("context", [&](JsonWriter& context) { context_fields(context, view.report); });
    google_benchmark::write_benchmarks(writer, families);
  };
  return json_object(declare, google_benchmark::kStyle) + "\n";
}

std::string gate_google_benchmark_base(const GateFile& gate, const KitPaths& /*kits*/) {
  GateSide stored;  // without a base program, the store is the base
  stored.program = gate.facts.store.value_or("");
  return format_side_document(gate, gate.facts.base.value_or(stored), &Sides::base);
}

std::string gate_google_benchmark_candidate(const GateFile& gate, const KitPaths& /*kits*/) {
  return format_side_document(gate, gate.facts.candidate, &Sides::candidate);
}

}  // namespace bench
