// SPDX-License-Identifier: Apache-2.0
// Reads the JSON reports of other benchmarks as profiles: each repetition is an operator. Its time
// is that of one iteration. A report has no start times, so the repetitions are placed one after
// another. Statistics over repetitions are not activities.
#include "base/text.hpp"
#include "profiler/readers/benchmark_report.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr std::size_t kMaxBenchmarkReport = std::size_t{1} << 26;  // 64 MiB, as for `compare`

Result<std::string> read_whole(TextSource& source) {
  std::string text;
  for (std::string_view piece = source.next_piece(); !piece.empty(); piece = source.next_piece()) {
    if (text.size() + piece.size() > kMaxBenchmarkReport)
      return Error{"is larger than 64 MiB, the limit of a report of a benchmark", source.name(),
                   "split it"};
    text += piece;
  }
  BENCH_RETURN_IF_ERROR(source.status());
  return text;
}

class BenchmarkActivities {
 public:
  BenchmarkActivities(const std::string& file, ReadReport& report, ActivitySink& sink)
      : file_(file), report_(report), sink_(sink) {}

  Status take(const BenchmarkEntry& entry) {
    if (entry.state != BenchmarkEntry::State::measured) {
      if (unmeasured_.size() < kMaxNotes)
        unmeasured_.push_back(
            fmt::format("{}: {} was not measured: {}", file_, entry.name, entry.reason));
      return Done{};
    }
    if (entry.statistic) {
      ++statistics_;
      return Done{};
    }
    // 2^60 ns are 36 years.
    constexpr Nanoseconds kLast{std::int64_t{1} << 60};
    const bool is_in_range = entry.time < FractionalNanoseconds(kLast);
    const Nanoseconds time = is_in_range ? Nanoseconds(std::llround(entry.time.count())) : kLast;
    const double rounding = std::abs(static_cast<double>(time.count()) - entry.time.count());
    constexpr double kNotedRounding = 0.01;
    if (rounding > kNotedRounding * entry.time.count()) ++rounded_;
    activity_ = Activity();
    activity_.name = entry.name;
    activity_.start = end_;
    activity_.duration = time;
    activity_.track.device = entry.device;
    activity_.attributes.set(Attribute::op, entry.family);
    if (!entry.arguments.empty()) activity_.attributes.set(Attribute::parameters, entry.arguments);
    activity_.attributes.merge(entry.attributes);
    end_ = std::min(kLast, end_ + time);
    ++report_.activities;
    return sink_.consume(activity_);
  }

  // Adds the notes on the entries, behind those that `report` has.
  void finish() {
    for (std::string& note : unmeasured_) report_.note(std::move(note));
    if (report_.activities == 0 && statistics_ > 0) {
      report_.note(
          fmt::format("{}: has only statistics over repetitions, which are not "
                      "activities; `bench compare` reads them",
                      file_));
    }
    if (rounded_ > 0) {
      report_.note(
          fmt::format("{}: {} by more than 1 % when rounded to nanoseconds; `bench "
                      "compare` reads the fractions",
                      file_, pluralise(rounded_, "time changed", "times changed")));
    }
  }

 private:
  const std::string& file_;
  ReadReport& report_;
  ActivitySink& sink_;
  Activity activity_;
  Nanoseconds end_{0};
  std::int64_t statistics_ = 0, rounded_ = 0;
  std::vector<std::string> unmeasured_;
};

Result<ReadReport> read_benchmark_profile(TextSource& source, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const std::string text, read_whole(source));
  const BenchmarkFormat* const format = find_benchmark_format(text);
  if (format == nullptr) {
    return Error{"contains no complete report of a benchmark", source.name(),
                 "write the report again with its program"};
  }
  ReadReport report;
  BenchmarkActivities activities(source.name(), report, sink);
  BENCH_ASSIGN_OR_RETURN(
      BenchmarkReport parsed,
      parse_benchmark_report(*format, text, source.name(),
                             [&](const BenchmarkEntry& entry) { return activities.take(entry); }));
  report.format = format->name;
  report.starts = StartTimes::computed;
  report.lines = std::count(text.begin(), text.end(), '\n');
  report.malformed = parsed.unreadable;
  report.facts = std::move(parsed.facts);
  for (std::string& warning : parsed.warnings) report.note(std::move(warning));
  activities.finish();
  return report;
}

bool recognises_benchmark(std::string_view head) { return find_benchmark_format(head) != nullptr; }

}  // namespace

const ActivityReader benchmark_reader = {
    .name = "benchmark",
    .help = "JSON of Google Benchmark, nvbench (--json) or hyperfine (--export-json)",
    .recognises = recognises_benchmark,
    .read = read_benchmark_profile,
    .compared_by = ComparedBy::cases,
};

}  // namespace bench
