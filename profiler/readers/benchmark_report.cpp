// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/benchmark_report.hpp"

#include "base/json_repair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bench {
namespace {

// Whether the text has `"NAME":`, the beginning of a member.
bool names_member(std::string_view text, std::string_view name) {
  const std::string key = fmt::format("\"{}\"", name);
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + key.size());
    if (next != text.npos && text[next] == ':') return true;
  }
  return false;
}

// Returns the line and column of a position, counted from 1: "line 7, column 12".
std::string describe_position(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 for the first line
  return fmt::format("line {}, column {}", 1 + std::ranges::count(before, '\n'),
                     before.size() - line_start + 1);
}

// Returns the nearest integer; nullopt unless the value is above 0 and has one.
std::optional<std::int64_t> positive_integer(double value) {
  constexpr double kMaxInteger = 9e18;
  const double rounded = std::round(value);
  return rounded > 0 && rounded < kMaxInteger ? std::optional(static_cast<std::int64_t>(rounded))
                                              : std::nullopt;
}

}  // namespace

void BenchmarkReportBuilder::add_fact(std::string_view name, JsonValue object,
                                      std::string_view member) {
  const auto value = object.value_at(member);
  if (!value || value->is_object() || value->is_list()) return;
  add_fact(std::string(name), value->text() ? std::string(*value->text()) : format_json(*value));
}

void BenchmarkReportBuilder::warn(std::string_view place, std::string_view problem) {
  ++report_.unreadable;
  warn_unmeasured(place, problem);
}

void BenchmarkReportBuilder::warn_unmeasured(std::string_view place, std::string_view problem) {
  if (report_.warnings.size() < kMaxBenchmarkWarnings)
    report_.warnings.push_back(fmt::format("{}: {}: {}", file_, place, problem));
}

std::span<const BenchmarkFormat> benchmark_formats() {
  // That of Google Benchmark is the last one: its report has no mark of its own.
  static const std::array kFormats = {kNvbenchFormat, kHyperfineFormat, kGoogleBenchmarkFormat};
  return kFormats;
}

const BenchmarkFormat* find_benchmark_format(std::string_view text) {
  if (text.find('{') == text.npos) return nullptr;
  const auto fits = [&](const BenchmarkFormat& format) {
    const auto has = [&](std::string_view name) { return names_member(text, name); };
    return has(format.list) && std::ranges::all_of(format.marks, has);
  };
  const auto formats = benchmark_formats();
  const auto found = std::ranges::find_if(formats, fits);
  return found == formats.end() ? nullptr : &*found;
}

Result<BenchmarkReport> parse_benchmark_report(const BenchmarkFormat& format, std::string_view text,
                                               const std::string& name,
                                               const TakeBenchmarkEntry& take) {
  BenchmarkReport report;
  report.format = format.name;
  BenchmarkReportBuilder builder(report, name, take);
  bool has_entries = false;
  // Each of several documents, such as appended runs, has repetitions of its own.
  for (const JsonPart& part : find_json_objects(text, fmt::format("\"{}\"", format.list))) {
    JsonDocument document;
    if (const Status status = document.parse(part.text); !status) {
      const std::size_t place =
          part.text.empty() ? text.size() : part.begin + document.error_position();
      return Error{fmt::format("{}: {}", describe_position(text, place), status.error().what), name,
                   fmt::format("expected the complete output of {}", format.command)};
    }
    const auto entries = document.root().value_at(format.list);
    if (!entries || !entries->is_list()) continue;
    has_entries = true;
    if (part.is_cut) {
      report.warnings.push_back(
          fmt::format("{}: the file ends early; its {} complete {}", name, entries->size(),
                      entries->size() == 1 ? "entry counts" : "entries count"));
    }
    format.read(document.root(), builder);
    BENCH_RETURN_IF_ERROR(builder.status());
  }
  if (!has_entries) {
    return Error{fmt::format("has no list `{}`", format.list), name,
                 fmt::format("create it with {}", format.command)};
  }
  return report;
}

std::string text_member(JsonValue object, std::string_view name) {
  return std::string(object.text_at(name).value_or(""));
}

std::string written_member(JsonValue object, std::string_view name) {
  const auto value = object.value_at(name);
  return value ? format_json(*value) : "null";
}

std::optional<FractionalNanoseconds> positive_time(std::optional<double> count,
                                                   double nanoseconds_per_count) {
  if (!count) return std::nullopt;
  const double value = *count * nanoseconds_per_count;
  return std::isfinite(value) && value > 0 ? std::optional(FractionalNanoseconds(value))
                                           : std::nullopt;
}

void set_byte_rate(Attributes& attributes, std::optional<double> bytes_per_second,
                   FractionalNanoseconds iteration) {
  if (!bytes_per_second) return;
  if (const auto bytes = positive_integer(*bytes_per_second * iteration.count() / 1e9))
    attributes.set(Attribute::given_bytes, *bytes);
}

void set_item_rate(Attributes& attributes, std::optional<double> items_per_second) {
  if (!items_per_second || !std::isfinite(*items_per_second) || *items_per_second <= 0) return;
  attributes.set(Attribute::value, *items_per_second);
  attributes.set(Attribute::value_unit, "items/s");
}

}  // namespace bench
