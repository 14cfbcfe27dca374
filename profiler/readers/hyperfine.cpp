// SPDX-License-Identifier: Apache-2.0
// Reads the reports of hyperfine (--export-json). A result is a command with the times of its runs
// in seconds: `times` of versions 1.x, `measurements` of schema 2.
#include "profiler/readers/benchmark_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace bench {
namespace {

// One run of a command, as far as the report states it.
struct HyperfineRun {
  std::optional<double> seconds, cpu_seconds;
  std::optional<double> exit_code;
};

// Returns the number of a member, or that of its own member `value`.
std::optional<double> quantity(JsonValue object, std::string_view name) {
  auto value = object.value_at(name);
  if (value && value->is_object()) value = value->value_at("value");
  return value ? value->number() : std::nullopt;
}

std::optional<double> list_number(JsonValue object, std::string_view name, std::size_t index) {
  const auto list = object.value_at(name);
  const bool has = list && list->is_list() && index < list->size();
  return has ? list->item(index).number() : std::nullopt;
}

// Calls `take` with each run of the result. There may be millions.
template <class Take>
void for_each_run(JsonValue result, Take take) {
  if (const auto times = result.value_at("times"); times && times->is_list()) {
    for (std::size_t i = 0; i < times->size(); ++i)
      take(HyperfineRun{times->item(i).number(), {}, list_number(result, "exit_codes", i)});
  }
  const auto measurements = result.value_at("measurements");
  for (std::size_t i = 0; measurements && measurements->is_list() && i < measurements->size();
       ++i) {
    const JsonValue run = measurements->item(i);
    take(HyperfineRun{quantity(run, "time_wall_clock"), quantity(run, "time_cpu"),
                      quantity(run, "exit_code")});
  }
}

// Returns "threads=4,size=10".
std::string read_hyperfine_parameters(JsonValue result) {
  const auto parameters = result.value_at("parameters");
  std::string text;
  for (std::size_t i = 0; parameters && parameters->is_object() && i < parameters->size(); ++i) {
    const JsonValue value = parameters->member(i);
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", parameters->name(i),
                        value.text() ? std::string(*value.text()) : format_json(value));
  }
  return text;
}

// Adds an average of the runs, which the report of a version without `times` has instead of them.
void add_average(JsonValue result, const char* name, const BenchmarkEntry& entry,
                 BenchmarkReportBuilder& builder) {
  const auto time = positive_time(quantity(result, name), kNanosecondsPerSecond);
  if (!time) return;
  BenchmarkEntry average = entry;
  average.statistic = name;
  average.time = *time;
  builder.add(std::move(average));
}

void read_hyperfine_result(JsonValue result, const std::string& place,
                           BenchmarkReportBuilder& builder) {
  BenchmarkEntry entry;
  const std::string command = text_member(result, "command");
  const std::string name = text_member(result, "name");
  entry.name = name.empty() ? command : name;
  if (entry.name.empty()) return builder.warn(place, "no command; ignored");
  entry.family = entry.name.substr(0, entry.name.find(' '));
  entry.arguments = read_hyperfine_parameters(result);
  if (!name.empty() && name != command) entry.attributes.set(Attribute::problem, command);
  std::int64_t number = 0;
  for_each_run(result, [&](const HyperfineRun& run) {
    const std::int64_t index = number++;
    const auto time = positive_time(run.seconds, kNanosecondsPerSecond);
    if (!time) {
      builder.warn(fmt::format("{}, run {}", place, index + 1), "no time above 0; ignored");
      return;
    }
    BenchmarkEntry measured = entry;
    measured.time = *time;
    measured.attributes.set(Attribute::iteration, index);
    const auto cpu = positive_time(run.cpu_seconds, kNanosecondsPerSecond);
    constexpr double kMaxTime = 1e18;
    if (cpu && cpu->count() < kMaxTime)
      measured.attributes.set(Attribute::cpu_ns, std::int64_t{std::llround(cpu->count())});
    if (run.exit_code.value_or(0) != 0)
      measured.attributes.set(Attribute::reason, fmt::format("exit status {}", *run.exit_code));
    builder.add(std::move(measured));
  });
  for (const char* const average : {"mean", "median"}) add_average(result, average, entry, builder);
}

void read_hyperfine_report(JsonValue document, BenchmarkReportBuilder& builder) {
  if (const auto metadata = document.value_at("metadata"))
    builder.add_fact("library_version", *metadata, "hyperfine_version");
  const auto results = document.value_at("results");
  for (std::size_t i = 0; results && results->is_list() && i < results->size(); ++i) {
    const std::string place = fmt::format("results[{}]", i);
    if (results->item(i).is_object()) {
      read_hyperfine_result(results->item(i), place, builder);
    } else {
      builder.warn(place, "not an object; ignored");
    }
  }
}

constexpr std::array<std::string_view, 1> kHyperfineMarks = {"command"};

}  // namespace

const BenchmarkFormat kHyperfineFormat = {
    .name = "hyperfine",
    .program = "hyperfine's JSON",
    .list = "results",
    .marks = kHyperfineMarks,
    .command = "--export-json FILE",
    .machine_facts = {},
    .read = read_hyperfine_report,
};

}  // namespace bench
