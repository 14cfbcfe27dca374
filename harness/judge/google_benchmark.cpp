// SPDX-License-Identifier: Apache-2.0
// Field names follow Google Benchmark's docs/user_guide.md and src/json_reporter.cc.
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "harness/judge/json_repair.hpp"
#include "harness/judge/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

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

// The names with which Google Benchmark before 1.5 marks the statistics over repetitions. Later
// versions have the fields `run_type` and `aggregate_name`.
constexpr std::array<std::string_view, 4> kStatistics = {"mean", "median", "stddev", "cv"};

// What an entry of the list is.
struct Entry {
  std::string name;  // name of the benchmark, without the suffix of a statistic
  // "median" and the like; nullopt for a repetition
  std::optional<std::string> statistic;
};

// Splits "BM_x_median" into "BM_x" and "median". Returns nullopt for other names.
std::optional<Entry> split_statistic(const std::string& name) {
  for (const std::string_view statistic : kStatistics) {
    const std::string suffix = fmt::format("_{}", statistic);
    if (name.size() <= suffix.size() || !name.ends_with(suffix)) continue;
    return Entry{name.substr(0, name.size() - suffix.size()), std::string(statistic)};
  }
  return std::nullopt;
}

// Describes the entries of one file. Without `run_type`, a name with a suffix is a statistic only
// if the file also has the benchmark itself or its mean and its standard deviation. Otherwise the
// name may be that of a benchmark.
class EntryReader {
 public:
  explicit EntryReader(JsonValue entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries.item(i).is_object()) names_.insert(text_at(entries.item(i), "name"));
    }
  }

  Entry describe(JsonValue entry) const {
    const std::string run_name = text_at(entry, "run_name");
    const std::string name = text_at(entry, "name");
    if (text_at(entry, "run_type") == "aggregate") {
      return {run_name.empty() ? name : run_name, text_at(entry, "aggregate_name")};
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

// Returns the family of "BM_conv/3/64": the part before its arguments.
std::string benchmark_family(const std::string& name) { return name.substr(0, name.find('/')); }

class Cases {
 public:
  explicit Cases(Measurement& measurement) : measurement_(measurement) {}

  void add_mean(const std::string& name, FractionalNanoseconds mean) {
    means_.emplace_back(name, mean);
  }

  // Google Benchmark before 1.2 prints means and no medians. Cases without any other time have
  // their mean.
  void use_means() {
    std::size_t count = 0;
    for (const auto& [name, mean] : means_) {
      if (index_.contains(name)) continue;
      find(name).median = mean;
      ++count;
    }
    if (count == 0) return;
    measurement_.warnings.push_back(
        fmt::format("{}: {} neither repetitions nor a median: the mean counts", measurement_.name,
                    pluralise(count, "case has", "cases have")));
  }

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
  std::vector<std::pair<std::string, FractionalNanoseconds>> means_;
};

// Sets the outcome of an entry that was not measured, with the message that explains it. Returns
// false for entries that were measured.
bool take_missing(JsonValue entry, const Entry& described, Cases& cases) {
  const auto is_set = [&](const char* name) {
    const auto value = entry.value_at(name);
    return value && value->boolean() == true;
  };
  if (is_set("error_occurred")) {
    MeasuredCase& found = cases.find(described.name);
    found.outcome = Outcome::failed;
    found.reason = text_at(entry, "error_message");
    return true;
  }
  if (!is_set("skipped")) return false;
  MeasuredCase& found = cases.find(described.name);
  if (found.outcome == Outcome::ok) {
    found.outcome = Outcome::skipped;
    found.reason = text_at(entry, "skip_message");
  }
  return true;
}

void take(JsonValue entry, const Entry& described, const std::string& place, Cases& cases,
          Measurement& measurement) {
  if (described.name.empty()) {
    measurement.warnings.push_back(place + ": no name; ignored");
    return;
  }
  if (is_fit(entry) || take_missing(entry, described, cases)) return;
  const bool is_mean = described.statistic == "mean";
  if (described.statistic && *described.statistic != "median" && !is_mean) return;
  const std::optional<FractionalNanoseconds> time = read_time(entry);
  if (!time) {
    measurement.warnings.push_back(fmt::format("{}: `real_time` is {}, not a time above 0; ignored",
                                               place, written_at(entry, "real_time")));
    return;
  }
  if (is_mean) return cases.add_mean(described.name, *time);
  MeasuredCase& found = cases.find(described.name);
  if (!described.statistic) {
    found.processes.push_back(process_from_iteration(*time));
  } else if (!found.median) {
    found.median = time;
  }
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

void take_entries(JsonValue entries, Cases& cases, Measurement& measurement) {
  const EntryReader reader(entries);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const JsonValue entry = entries.item(i);
    const std::string place = fmt::format("{}: benchmarks[{}]", measurement.name, i);
    if (entry.is_object()) {
      take(entry, reader.describe(entry), place, cases, measurement);
    } else {
      measurement.warnings.push_back(place + ": not an object; ignored");
    }
  }
}

// Returns the line and column of a position, counted from 1: "line 7, column 12".
std::string describe_place(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 for the first line
  return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'),
                     before.size() - line_start + 1);
}

}  // namespace

Result<Measurement> read_google_benchmark(std::string_view text, const std::string& name) {
  Measurement measurement;
  measurement.name = name;
  Cases cases(measurement);
  bool has_entries = false;
  // Each of several documents, such as appended runs, has repetitions of its own.
  for (const JsonPart& part : find_json_objects(text, "\"benchmarks\"")) {
    JsonDocument document;
    if (const Status status = document.parse(part.text); !status) {
      const std::size_t place =
          part.text.empty() ? text.size() : part.begin + document.error_position();
      return Error{fmt::format("{}: {}", describe_place(text, place), status.error().what), name,
                   "expected the complete output of --benchmark_format=json"};
    }
    const auto entries = document.root().value_at("benchmarks");
    if (!entries || !entries->is_list()) continue;
    has_entries = true;
    if (part.is_cut) {
      measurement.warnings.push_back(
          fmt::format("{}: the file ends early; its {} complete {}", name, entries->size(),
                      entries->size() == 1 ? "entry counts" : "entries count"));
    }
    take_context(document.root(), measurement);
    take_entries(*entries, cases, measurement);
  }
  if (!has_entries) {
    return Error{"has no list `benchmarks`", name,
                 "create it with --benchmark_format=json --benchmark_out=FILE"};
  }
  cases.use_means();
  const std::map<std::string, std::string> machine = machine_facts(measurement);
  for (MeasuredCase& entry : measurement.cases) {
    entry.machine = machine;
  }
  return measurement;
}

}  // namespace bench
