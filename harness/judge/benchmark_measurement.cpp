// SPDX-License-Identifier: Apache-2.0
// A report of Google Benchmark, nvbench or hyperfine as one side of a comparison: each benchmark is
// a case.
#include "base/text.hpp"
#include "harness/judge/measurement.hpp"
#include "profiler/readers/benchmark_report.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {
namespace {

class BenchmarkCases {
 public:
  explicit BenchmarkCases(Measurement& measurement) : measurement_(measurement) {}

  void take(const BenchmarkEntry& entry) {
    if (entry.state != BenchmarkEntry::State::measured) return take_missing(entry);
    if (entry.statistic == "mean") {
      means_.emplace_back(entry.name, entry);
      return;
    }
    MeasuredCase& found = find(entry);
    if (!entry.statistic) {
      found.processes.push_back(process_from_iteration(entry.time));
    } else if (!found.median) {
      found.median = entry.time;
    }
  }

  // Google Benchmark before 1.2 prints means and no medians. Cases without any other time have
  // their mean.
  void use_means() {
    std::size_t count = 0;
    for (const auto& [name, mean] : means_) {
      if (index_.contains(name)) continue;
      find(mean).median = mean.time;
      ++count;
    }
    if (count == 0) return;
    measurement_.warnings.push_back(
        fmt::format("{}: {} neither repetitions nor a median: the mean counts", measurement_.name,
                    pluralise(count, "case has", "cases have")));
  }

 private:
  // Sets the outcome of an entry that was not measured, with the message that explains it.
  void take_missing(const BenchmarkEntry& entry) {
    MeasuredCase& found = find(entry);
    const bool has_failed = entry.state == BenchmarkEntry::State::failed;
    if (!has_failed && found.outcome != Outcome::ok) return;
    found.outcome = has_failed ? Outcome::failed : Outcome::skipped;
    found.reason = entry.reason;
  }

  MeasuredCase& find(const BenchmarkEntry& entry) {
    const auto [place, is_new] = index_.try_emplace(entry.name, measurement_.cases.size());
    if (is_new) {
      measurement_.cases.emplace_back();
      measurement_.cases.back().id = entry.name;
      measurement_.cases.back().group = entry.family;
    }
    return measurement_.cases[place->second];
  }

  Measurement& measurement_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<std::pair<std::string, BenchmarkEntry>> means_;
};

}  // namespace

Result<Measurement> measure_benchmarks(const BenchmarkFormat& format, std::string_view text,
                                       const std::string& name) {
  Measurement measurement;
  measurement.name = name;
  BenchmarkCases cases(measurement);
  BENCH_ASSIGN_OR_RETURN(
      BenchmarkReport report,
      parse_benchmark_report(format, text, name, [&](const BenchmarkEntry& entry) {
        cases.take(entry);
        return Status(Done{});
      }));
  measurement.facts = std::move(report.facts);
  measurement.warnings = std::move(report.warnings);
  cases.use_means();
  std::map<std::string, std::string> machine;
  for (const std::string_view fact : format.machine_facts) {
    const auto found = measurement.facts.find(std::string(fact));
    if (found != measurement.facts.end()) machine.insert(*found);
  }
  for (MeasuredCase& entry : measurement.cases) entry.machine = machine;
  return measurement;
}

}  // namespace bench
