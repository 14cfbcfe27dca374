// SPDX-License-Identifier: Apache-2.0
#include "harness/report/peak_text.hpp"

#include "base/text.hpp"
#include "harness/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kNoPeak = "n/a";

std::string text_of(const CeilingValue& value) {
  if (const auto* time = std::get_if<Nanoseconds>(&value)) return format_time(*time);
  if (const auto* rate = std::get_if<BytesPerSecond>(&value)) return format_rate(*rate);
  return format_rate(std::get<FlopsPerSecond>(value));
}

int most_threads(const std::vector<PeakRecord>& records) {
  int threads = 1;
  for (const PeakRecord& record : records) threads = std::max(threads, record.ceiling.threads);
  return threads;
}

// For "117.6 GFLOP/s on one thread and 233.9 GFLOP/s on 2". Empty if neither is known.
template <class Rate>
std::string on_threads(const std::optional<Rate>& one, const std::optional<Rate>& all,
                       int threads) {
  std::vector<std::string> parts;
  if (one) parts.push_back(fmt::format("{} on one thread", format_rate(*one)));
  if (all && threads > 1) parts.push_back(fmt::format("{} on {}", format_rate(*all), threads));
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string value_at(const std::vector<PeakRecord>& records, const Ceiling& like, int threads) {
  for (const PeakRecord& record : records) {
    const Ceiling& ceiling = record.ceiling;
    if (ceiling.name == like.name && ceiling.level == like.level && ceiling.threads == threads)
      return text_of(ceiling.value);
  }
  return std::string(kNoPeak);
}

}  // namespace

std::string peak_sentence(const std::vector<PeakRecord>& records) {
  const int threads = most_threads(records);
  const Ceilings ceilings = stored_ceilings(records, threads, {});
  const std::string arithmetic =
      on_threads(peak_of(ceilings, "f32", 1), peak_of(ceilings, "f32", threads), threads);
  const std::string_view memory = kMemoryLevels.back();
  const std::string movement = on_threads(bandwidth_of(ceilings, memory, 1),
                                          bandwidth_of(ceilings, memory, threads), threads);
  if (arithmetic.empty() && movement.empty())
    return "Neither the rate of f32 arithmetic nor the bandwidth of memory could be measured.";
  if (movement.empty()) return fmt::format("This machine computes in f32 at most {}.", arithmetic);
  if (arithmetic.empty())
    return fmt::format("This machine moves from memory at most {}.", movement);
  return fmt::format("This machine computes in f32 at most {}, and moves from memory at most {}.",
                     arithmetic, movement);
}

std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console) {
  const int threads = most_threads(records);
  std::vector<Column> columns = {{"ceiling"}, {"level"}, {"1 thread", Align::right}};
  if (threads > 1) columns.push_back({fmt::format("{} threads", threads), Align::right});
  std::vector<Row> rows;
  std::vector<std::pair<std::string_view, std::string_view>> shown;
  for (const PeakRecord& record : records) {
    const Ceiling& ceiling = record.ceiling;
    const std::pair<std::string_view, std::string_view> key(ceiling.name, ceiling.level);
    if (std::ranges::find(shown, key) != shown.end()) continue;
    shown.push_back(key);
    std::vector<Cell> cells = {{ceiling.name}, {ceiling.level}, {value_at(records, ceiling, 1)}};
    if (threads > 1) cells.push_back({value_at(records, ceiling, threads)});
    rows.push_back({std::move(cells), ""});
  }
  return render_table(columns, std::move(rows), console.width, console.colour);
}

std::string peak_json(const std::vector<PeakRecord>& records) {
  std::vector<std::string> lines;
  for (const PeakRecord& record : records) lines.push_back(to_json_line(record));
  return fmt::format("{{\"peaks\": [\n{}\n]}}\n", fmt::join(lines, ",\n"));
}

}  // namespace bench
