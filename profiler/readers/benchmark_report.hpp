// SPDX-License-Identifier: Apache-2.0
// The JSON reports of Google Benchmark, nvbench and hyperfine: one parser for profiles, in which
// each repetition is an activity, and for comparisons, in which each benchmark is a case.
#pragma once

#include "base/json_reader.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/attribute.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// An entry of a report: a repetition of a benchmark, a statistic over its repetitions, or a
// benchmark that was not measured. The fits of Google
// Benchmark (BigO, RMS) are left out.
struct BenchmarkEntry {
  enum class State { measured, skipped, failed };
  std::string name;       // the benchmark with its arguments: "BM_gemm/64"
  std::string family;     // without them: "BM_gemm"
  std::string arguments;  // "64"; "T=I32,Elements=65536"
  // "mean", "median"; nullopt for a repetition. Other statistics are left out.
  std::optional<std::string> statistic = {};
  State state = State::measured;
  std::string reason = {};                  // why it was not measured
  FractionalNanoseconds time{0};            // one iteration; above 0 if measured
  std::optional<std::int64_t> device = {};  // number of the GPU
  // What else the report states of the entry, by the attributes that profiles have for it.
  Attributes attributes = {};
};

// What a report contains beside its entries.
struct BenchmarkReport {
  std::string_view format;                   // name of the row of benchmark_formats()
  std::map<std::string, std::string> facts;  // what describes the machine and the program
  // "g.json: benchmarks[3]: no name; ignored"; only the first kMaxBenchmarkWarnings.
  std::vector<std::string> warnings;
  // How many of them concern an entry that could not be read.
  std::int64_t unreadable = 0;
};

inline constexpr std::size_t kMaxBenchmarkWarnings = 1000;

// Receives the entries one by one: a report may have millions of runs.
using TakeBenchmarkEntry = std::function<Status(BenchmarkEntry&& entry)>;

// Forwards the entries of a document, and adds the rest to a report.
class BenchmarkReportBuilder {
 public:
  BenchmarkReportBuilder(BenchmarkReport& report, const std::string& file,
                         const TakeBenchmarkEntry& take)
      : report_(report), file_(file), take_(take) {}
  void add(BenchmarkEntry entry) {
    if (status_.ok()) status_ = take_(std::move(entry));
  }
  const Status& status() const { return status_; }  // the first error of `take`
  // Stores the fact if the object has a number, text or Boolean of this name.
  void add_fact(std::string_view name, JsonValue object, std::string_view member);
  void add_fact(std::string name, std::string text) {
    report_.facts[std::move(name)] = std::move(text);
  }
  // `place` is that of an entry, such as "benchmarks[3]".
  void warn(std::string_view place, std::string_view problem);
  // The entry is in order, but its program measured nothing.
  void warn_unmeasured(std::string_view place, std::string_view problem);

 private:
  BenchmarkReport& report_;
  const std::string& file_;
  const TakeBenchmarkEntry& take_;
  Status status_ = Done{};
};

// What is known about one program that writes reports.
struct BenchmarkFormat {
  std::string_view name;     // "google_benchmark"
  std::string_view program;  // "Google Benchmark's JSON"
  std::string_view list;     // the member that contains the entries
  // Members that a report has besides the list, and that distinguish it from those of other
  // programs.
  std::span<const std::string_view> marks;
  std::string_view command;  // the options with which the program writes such a report
  // Facts that identify the kind of machine: the times of two that differ are not comparable.
  std::span<const std::string_view> machine_facts;
  void (*read)(JsonValue document, BenchmarkReportBuilder& builder);
};
// In the order in which a text is compared with them.
std::span<const BenchmarkFormat> benchmark_formats();
// Returns the format of a report that is in the text, maybe among other output; nullptr if there is
// none.
const BenchmarkFormat* find_benchmark_format(std::string_view text);

// Parses the text of the file `name`. Other output may precede and follow a report, several reports
// may follow each other, and the last one may be cut. Returns an error if the text contains no
// report or if the first one that it contains is not valid, and the first error of `take`.
Result<BenchmarkReport> parse_benchmark_report(const BenchmarkFormat& format, std::string_view text,
                                               const std::string& name,
                                               const TakeBenchmarkEntry& take);

// Helpers for the formats.

inline constexpr double kNanosecondsPerSecond = 1e9;

// Returns the text of a member; empty if there is none.
std::string text_member(JsonValue object, std::string_view name);
// Returns a member as it is written in the file; "null" if there is none.
std::string written_member(JsonValue object, std::string_view name);
// Returns nullopt unless the product is a finite time above 0.
std::optional<FractionalNanoseconds> positive_time(std::optional<double> count,
                                                   double nanoseconds_per_count);
// Sets the bytes of an iteration, which has a rate of bytes, and the rate of items as its value.
// Ignores rates that are not finite and above 0.
void set_byte_rate(Attributes& attributes, std::optional<double> bytes_per_second,
                   FractionalNanoseconds iteration);
void set_item_rate(Attributes& attributes, std::optional<double> items_per_second);

// The rows of benchmark_formats(), each in its own source file.
extern const BenchmarkFormat kGoogleBenchmarkFormat;
extern const BenchmarkFormat kNvbenchFormat;
extern const BenchmarkFormat kHyperfineFormat;

}  // namespace bench
