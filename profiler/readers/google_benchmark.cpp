// SPDX-License-Identifier: Apache-2.0
// Reads the reports of Google Benchmark. Field names follow its docs/user_guide.md and
// src/json_reporter.cc.
#include "profiler/readers/benchmark_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

namespace bench {
namespace {

struct GoogleTimeUnit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<GoogleTimeUnit, 4> kGoogleTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

std::optional<double> number_member(JsonValue entry, std::string_view name) {
  const auto value = entry.value_at(name);
  return value ? value->number() : std::nullopt;
}

std::optional<FractionalNanoseconds> read_google_time(JsonValue entry, std::string_view name) {
  const std::string unit = text_member(entry, "time_unit");
  const auto* row =
      std::ranges::find(kGoogleTimeUnits, unit.empty() ? "ns" : unit, &GoogleTimeUnit::name);
  if (row == kGoogleTimeUnits.end()) return std::nullopt;
  return positive_time(number_member(entry, name), row->nanoseconds);
}

// The names with which Google Benchmark before 1.5 marks the statistics over repetitions. Later
// versions have the fields `run_type` and `aggregate_name`.
constexpr std::array<std::string_view, 4> kGoogleStatistics = {"mean", "median", "stddev", "cv"};
// The statistics that are times of a benchmark.
constexpr std::array<std::string_view, 2> kGoogleAverages = {"mean", "median"};

// What an entry of the list is.
struct GoogleEntry {
  std::string name;  // name of the benchmark, without the suffix of a statistic
  // "median" and the like; nullopt for a repetition
  std::optional<std::string> statistic;
};

// Splits "BM_x_median" into "BM_x" and "median". Returns nullopt for other names.
std::optional<GoogleEntry> split_statistic(const std::string& name) {
  for (const std::string_view statistic : kGoogleStatistics) {
    const std::string suffix = fmt::format("_{}", statistic);
    if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
    return GoogleEntry{name.substr(0, name.size() - suffix.size()), std::string(statistic)};
  }
  return std::nullopt;
}

// Describes the entries of one file. Without `run_type`, a name with a suffix is a statistic only
// if the file also has the benchmark itself or its mean and its standard deviation. Otherwise the
// name may be that of a benchmark.
class GoogleEntries {
 public:
  explicit GoogleEntries(JsonValue entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries.item(i).is_object()) names_.insert(text_member(entries.item(i), "name"));
    }
  }

  GoogleEntry describe(JsonValue entry) const {
    const std::string run_name = text_member(entry, "run_name");
    const std::string name = text_member(entry, "name");
    if (text_member(entry, "run_type") == "aggregate") {
      return {run_name.empty() ? name : run_name, text_member(entry, "aggregate_name")};
    }
    const auto split = entry.value_at("run_type") ? std::nullopt : split_statistic(name);
    if (split && (names_.contains(split->name) || (names_.contains(split->name + "_mean") &&
                                                   names_.contains(split->name + "_stddev")))) {
      return *split;
    }
    return {run_name.empty() ? name : run_name, std::nullopt};
  }

 private:
  std::unordered_set<std::string> names_;
};

// The entries of a complexity fit (BigO and RMS) contain coefficients instead of times. A program
// may have a counter with such a name.
bool is_fit(JsonValue entry) {
  return !entry.value_at("real_time") && (entry.value_at("big_o") || entry.value_at("rms"));
}

bool is_flag_set(JsonValue entry, std::string_view name) {
  const auto value = entry.value_at(name);
  return value && value->boolean() == true;
}

// How an entry says that it was not measured.
struct GoogleFailure {
  std::string_view flag, message;
  BenchmarkEntry::State state;
};
constexpr std::array<GoogleFailure, 2> kGoogleFailures = {
    {{"error_occurred", "error_message", BenchmarkEntry::State::failed},
     {"skipped", "skip_message", BenchmarkEntry::State::skipped}}};

// Rates are per second of CPU time, unless the benchmark measures another time.
FractionalNanoseconds rated_time(JsonValue entry, const BenchmarkEntry& described) {
  constexpr std::array<std::string_view, 2> kOtherTimes = {"real_time", "manual_time"};
  const bool is_other = std::ranges::any_of(kOtherTimes, [&](std::string_view name) {
    return ("/" + described.arguments + "/").find(fmt::format("/{}/", name)) != std::string::npos;
  });
  return is_other ? described.time : read_google_time(entry, "cpu_time").value_or(described.time);
}

void set_integer(JsonValue entry, std::string_view name, Attribute attribute,
                 Attributes& attributes) {
  const auto value = entry.value_at(name);
  const auto number = value ? value->signed_integer() : std::nullopt;
  if (number && *number >= 0) attributes.set(attribute, *number);
}

void set_google_attributes(JsonValue entry, BenchmarkEntry& described) {
  Attributes& attributes = described.attributes;
  set_integer(entry, "repetition_index", Attribute::iteration, attributes);
  set_integer(entry, "iterations", Attribute::iterations, attributes);
  if (const std::string label = text_member(entry, "label"); !label.empty())
    attributes.set(Attribute::problem, label);
  constexpr double kMaxTime = 1e18;
  const auto cpu_time = read_google_time(entry, "cpu_time");
  if (cpu_time && cpu_time->count() < kMaxTime)
    attributes.set(Attribute::cpu_ns, std::int64_t{std::llround(cpu_time->count())});
  set_byte_rate(attributes, number_member(entry, "bytes_per_second"), rated_time(entry, described));
  set_item_rate(attributes, number_member(entry, "items_per_second"));
}

void read_google_entry(JsonValue entry, GoogleEntry described, const std::string& place,
                       BenchmarkReportBuilder& builder) {
  if (described.name.empty()) return builder.warn(place, "no name; ignored");
  if (is_fit(entry)) return;
  BenchmarkEntry result;
  const std::size_t slash = std::min(described.name.find('/'), described.name.size());
  result.family = described.name.substr(0, slash);
  result.arguments = described.name.substr(std::min(slash + 1, described.name.size()));
  result.name = std::move(described.name);
  result.statistic = std::move(described.statistic);
  for (const GoogleFailure& failure : kGoogleFailures) {
    if (!is_flag_set(entry, failure.flag)) continue;
    result.state = failure.state;
    result.reason = text_member(entry, failure.message);
    return builder.add(std::move(result));
  }
  if (result.statistic &&
      std::ranges::find(kGoogleAverages, *result.statistic) == kGoogleAverages.end())
    return;
  const auto time = read_google_time(entry, "real_time");
  if (!time) {
    const std::string problem = fmt::format("`real_time` is {}, not a time above 0; ignored",
                                            written_member(entry, "real_time"));
    // Also what the program wrote as NaN.
    const auto written = entry.value_at("real_time");
    return written && written->is_null() ? builder.warn_unmeasured(place, problem)
                                         : builder.warn(place, problem);
  }
  result.time = *time;
  set_google_attributes(entry, result);
  builder.add(std::move(result));
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
    text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", written_member(cache, "level"),
                        text_member(cache, "type"), written_member(cache, "size"));
  }
  return text;
}

void read_google_context(JsonValue document, BenchmarkReportBuilder& builder) {
  const auto context = document.value_at("context");
  if (!context || !context->is_object()) return;
  for (const std::string_view name : {"host_name", "num_cpus", "mhz_per_cpu", "library_version",
                                      "library_build_type", "cpu_scaling_enabled", "executable"})
    builder.add_fact(name, *context, name);
  if (std::string caches = format_caches(*context); !caches.empty())
    builder.add_fact("caches", std::move(caches));
}

void read_google_report(JsonValue document, BenchmarkReportBuilder& builder) {
  read_google_context(document, builder);
  const auto entries = document.value_at("benchmarks");
  if (!entries || !entries->is_list()) return;
  const GoogleEntries described(*entries);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const JsonValue entry = entries->item(i);
    const std::string place = fmt::format("benchmarks[{}]", i);
    if (entry.is_object()) {
      read_google_entry(entry, described.describe(entry), place, builder);
    } else {
      builder.warn(place, "not an object; ignored");
    }
  }
}

// Host names differ between equal machines of a pool, and clock rates between two runs on one
// machine. So neither of them identifies a machine.
constexpr std::array<std::string_view, 2> kGoogleMachineFacts = {"num_cpus", "caches"};

}  // namespace

const BenchmarkFormat kGoogleBenchmarkFormat = {
    .name = "google_benchmark",
    .program = "Google Benchmark's JSON",
    .list = "benchmarks",
    .marks = {},
    .command = "--benchmark_format=json --benchmark_out=FILE",
    .machine_facts = kGoogleMachineFacts,
    .read = read_google_report,
};

}  // namespace bench
