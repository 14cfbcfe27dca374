// SPDX-License-Identifier: Apache-2.0
// Field names follow Google Benchmark's docs/user_guide.md and src/json_reporter.cc.
#include "base/json_reader.hpp"
#include "harness/judge/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace bench {
namespace {

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

std::string text_at(JsonValue object, std::string_view name) {
  return std::string(object.text_at(name).value_or(""));
}

// Returns a number or another value as it is written in the file; "null" if there is none.
std::string written_at(JsonValue object, std::string_view name) {
  const auto value = object.value_at(name);
  return value ? format_json(*value) : "null";
}

std::optional<FractionalNanoseconds> read_time(JsonValue entry) {
  const auto time = entry.value_at("real_time");
  const auto count = time ? time->number() : std::nullopt;
  const std::string unit = text_at(entry, "time_unit");
  const auto* row = std::ranges::find(kUnits, unit.empty() ? "ns" : unit, &TimeUnit::name);
  if (!count || row == kUnits.end()) return std::nullopt;
  const double value = *count * row->nanoseconds;
  return std::isfinite(value) && value > 0 ? std::optional(FractionalNanoseconds(value))
                                           : std::nullopt;
}

// Returns the family of "BM_conv/3/64": the part before its arguments.
std::string benchmark_family(const std::string& name) { return name.substr(0, name.find('/')); }

class Cases {
 public:
  explicit Cases(Measurement& measurement) : measurement_(measurement) {}

  MeasuredCase& find(const std::string& name) {
    const auto [place, is_new] = index_.try_emplace(name, measurement_.cases.size());
    if (is_new) {
      measurement_.cases.emplace_back();
      measurement_.cases.back().id = name;
      measurement_.cases.back().group = benchmark_family(name);
    }
    return measurement_.cases[place->second];
  }

 private:
  Measurement& measurement_;
  std::unordered_map<std::string, std::size_t> index_;
};

void take(JsonValue entry, const std::string& place, Cases& cases, Measurement& measurement) {
  const std::string run_name = text_at(entry, "run_name");
  const std::string name = run_name.empty() ? text_at(entry, "name") : run_name;
  if (name.empty()) {
    measurement.warnings.push_back(place + ": no name; ignored");
    return;
  }
  MeasuredCase& found = cases.find(name);
  const auto error = entry.value_at("error_occurred");
  if (error && error->boolean() == true) {
    found.outcome = Outcome::failed;
    found.reason = text_at(entry, "error_message");
    return;
  }
  const std::optional<FractionalNanoseconds> time = read_time(entry);
  if (text_at(entry, "run_type") == "aggregate") {
    if (text_at(entry, "aggregate_name") == "median" && !found.median) found.median = time;
    return;
  }
  if (!time) {
    measurement.warnings.push_back(place + ": no readable time; ignored");
    return;
  }
  found.processes.push_back(process_from_iteration(*time));
}

// Returns "L1 Data 32768, L2 Unified 1048576". Cache sizes identify the processor. The number of
// processors that share a cache is left out, since a hypervisor decides it.
std::string format_caches(JsonValue context) {
  const auto caches = context.value_at("caches");
  if (!caches || !caches->is_list()) return {};
  std::string text;
  for (std::size_t i = 0; i < caches->size(); ++i) {
    const JsonValue cache = caches->item(i);
    if (!cache.is_object()) continue;
    text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", written_at(cache, "level"),
                        text_at(cache, "type"), written_at(cache, "size"));
  }
  return text;
}

void take_context(JsonValue document, Measurement& measurement) {
  const auto context = document.value_at("context");
  if (!context || !context->is_object()) return;
  for (const char* name : {"host_name", "num_cpus", "mhz_per_cpu", "library_version",
                           "library_build_type", "cpu_scaling_enabled", "executable"}) {
    const auto value = context->value_at(name);
    if (!value || value->is_object() || value->is_list()) continue;
    measurement.facts[name] = value->text() ? text_at(*context, name) : written_at(*context, name);
  }
  if (std::string caches = format_caches(*context); !caches.empty()) {
    measurement.facts["caches"] = std::move(caches);
  }
}

// Host names differ between equal machines of a pool, and clock rates between two runs on one
// machine. So neither of them identifies a machine.
constexpr std::array<const char*, 2> kMachineFacts = {"num_cpus", "caches"};

std::map<std::string, std::string> machine_facts(const Measurement& measurement) {
  std::map<std::string, std::string> machine;
  for (const char* name : kMachineFacts) {
    const auto found = measurement.facts.find(name);
    if (found != measurement.facts.end()) machine.insert(*found);
  }
  return machine;
}

}  // namespace

Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name) {
  const auto document = parse_json(text);
  const auto entries = document ? document->root().value_at("benchmarks") : std::nullopt;
  if (!entries || !entries->is_list()) {
    return Error{"not a complete JSON document with a list `benchmarks`", name,
                 "create it with --benchmark_format=json --benchmark_out=FILE"};
  }
  Measurement measurement;
  measurement.name = name;
  take_context(document->root(), measurement);
  Cases cases(measurement);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const JsonValue entry = entries->item(i);
    const std::string place = fmt::format("{}: benchmarks[{}]", name, i);
    if (entry.is_object()) {
      take(entry, place, cases, measurement);
    } else {
      measurement.warnings.push_back(place + ": not an object; ignored");
    }
  }
  const std::map<std::string, std::string> machine = machine_facts(measurement);
  for (MeasuredCase& entry : measurement.cases) {
    entry.machine = machine;
  }
  return measurement;
}

}  // namespace bench
