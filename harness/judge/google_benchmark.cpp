// SPDX-License-Identifier: Apache-2.0
// Field names follow Google Benchmark's docs/user_guide.md and src/json_reporter.cc.
#include "harness/judge/measurement.hpp"
#include "harness/stats/median.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace bench {
namespace {

using nlohmann::json;

struct TimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<TimeUnit, 4> kUnits = {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

std::string text_at(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> time_of(const json& entry) {
  const auto time = entry.find("real_time");
  const std::string unit = text_at(entry, "time_unit");
  const auto* row = std::ranges::find(kUnits, unit.empty() ? "ns" : unit, &TimeUnit::name);
  if (time == entry.end() || !time->is_number() || row == kUnits.end()) return std::nullopt;
  const double value = time->get<double>() * row->nanoseconds;
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

// Returns the family of "BM_conv/3/64": the part before its arguments.
std::string group_of(const std::string& name) { return name.substr(0, name.find('/')); }

class Cases {
 public:
  explicit Cases(Measurement& measurement) : measurement_(measurement) {}

  MeasuredCase& find(const std::string& name) {
    const auto [place, is_new] = index_.try_emplace(name, measurement_.cases.size());
    if (is_new) {
      measurement_.cases.emplace_back();
      measurement_.cases.back().id = name;
      measurement_.cases.back().group = group_of(name);
    }
    return measurement_.cases[place->second];
  }

 private:
  Measurement& measurement_;
  std::unordered_map<std::string, std::size_t> index_;
};

void take(const json& entry, const std::string& place, Cases& cases, Measurement& measurement) {
  const std::string run_name = text_at(entry, "run_name");
  const std::string name = run_name.empty() ? text_at(entry, "name") : run_name;
  if (name.empty()) {
    measurement.warnings.push_back(place + ": no name; ignored");
    return;
  }
  MeasuredCase& found = cases.find(name);
  if (entry.value("error_occurred", json(false)) == json(true)) {
    found.outcome = Outcome::failed;
    found.reason = text_at(entry, "error_message");
    return;
  }
  const std::optional<double> time = time_of(entry);
  if (text_at(entry, "run_type") == "aggregate") {
    if (text_at(entry, "aggregate_name") == "median" && !found.median) found.median = time;
    return;
  }
  if (!time) {
    measurement.warnings.push_back(place + ": no readable time; ignored");
    return;
  }
  found.process_medians.push_back(*time);
}

// Returns "L1 Data 32768, L2 Unified 1048576". Cache sizes identify the processor. The number of
// processors that share a cache is left out, since a hypervisor decides it.
std::string caches_text(const json& context) {
  const auto caches = context.find("caches");
  if (caches == context.end() || !caches->is_array()) return {};
  std::string text;
  for (const json& cache : *caches) {
    if (!cache.is_object()) continue;
    text +=
        fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", cache.value("level", json()).dump(),
                    text_at(cache, "type"), cache.value("size", json()).dump());
  }
  return text;
}

void take_context(const json& document, Measurement& measurement) {
  const auto context = document.find("context");
  if (context == document.end() || !context->is_object()) return;
  for (const char* name : {"host_name", "num_cpus", "mhz_per_cpu", "library_version",
                           "library_build_type", "cpu_scaling_enabled", "executable"}) {
    const auto value = context->find(name);
    if (value == context->end() || value->is_object() || value->is_array()) continue;
    measurement.facts[name] = value->is_string() ? value->get<std::string>() : value->dump();
  }
  if (std::string caches = caches_text(*context); !caches.empty()) {
    measurement.facts["caches"] = std::move(caches);
  }
}

// Host names differ between equal machines of a pool, and clock rates between two runs on one
// machine. So neither of them identifies a machine.
constexpr std::array<const char*, 2> kMachineFacts = {"num_cpus", "caches"};

std::map<std::string, std::string> machine_of(const Measurement& measurement) {
  std::map<std::string, std::string> machine;
  for (const char* name : kMachineFacts) {
    const auto found = measurement.facts.find(name);
    if (found != measurement.facts.end()) machine.insert(*found);
  }
  return machine;
}

}  // namespace

Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name) {
  const json document = json::parse(text, nullptr, false);
  const auto entries = document.is_object() ? document.find("benchmarks") : document.end();
  if (entries == document.end() || !entries->is_array()) {
    return Error{"not a complete JSON document with a list `benchmarks`", name,
                 "create it with --benchmark_format=json --benchmark_out=FILE"};
  }
  Measurement measurement;
  measurement.name = name;
  take_context(document, measurement);
  Cases cases(measurement);
  std::size_t number = 0;
  for (const json& entry : *entries) {
    const std::string place = fmt::format("{}: benchmarks[{}]", name, number++);
    if (entry.is_object()) {
      take(entry, place, cases, measurement);
    } else {
      measurement.warnings.push_back(place + ": not an object; ignored");
    }
  }
  const std::map<std::string, std::string> machine = machine_of(measurement);
  for (MeasuredCase& entry : measurement.cases) {
    entry.machine = machine;
    if (!entry.process_medians.empty()) entry.median = median(entry.process_medians);
  }
  return measurement;
}

}  // namespace bench
