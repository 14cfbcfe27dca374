// SPDX-License-Identifier: Apache-2.0
#include "harness/report/peak_text.hpp"

#include "base/json_writer.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kNoPeak = "n/a";
constexpr std::size_t kListIndent = 2;  // width of the "- " before an item

std::string format_ceiling(const CeilingValue& value) {
  if (const auto* time = std::get_if<Nanoseconds>(&value)) return format_time(*time);
  if (const auto* rate = std::get_if<BytesPerSecond>(&value)) return format_rate(*rate);
  return format_rate(std::get<FlopsPerSecond>(value));
}

int most_threads(const std::vector<PeakRecord>& records) {
  int threads = 1;
  for (const PeakRecord& record : records) threads = std::max(threads, record.ceiling.threads);
  return threads;
}

// The GPU of the records; empty if all are the CPU's.
std::string find_gpu(const std::vector<PeakRecord>& records) {
  const auto found =
      std::ranges::find_if(records, [](const PeakRecord& record) { return !record.gpu.empty(); });
  return found == records.end() ? std::string() : found->gpu;
}

bool has_cpu(const std::vector<PeakRecord>& records) {
  return std::ranges::any_of(records, [](const PeakRecord& record) { return record.gpu.empty(); });
}

Ceilings find_gpu_ceilings(const std::vector<PeakRecord>& records, const std::string& gpu) {
  Ceilings ceilings;
  ceilings.gpu = gpu;
  return stored_gpu_ceilings(records, std::move(ceilings));
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

// A cell per number of threads, or one for the GPU. All are empty if the device has no such ceiling
// at all.
std::vector<TextCell> value_cells(const std::vector<PeakRecord>& records, const Ceiling& like,
                                  std::string_view gpu, const std::vector<int>& threads) {
  std::vector<TextCell> cells(threads.size());
  bool found = false;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto record = std::ranges::find_if(records, [&](const PeakRecord& each) {
      const Ceiling& ceiling = each.ceiling;
      return each.gpu == gpu && ceiling.name == like.name && ceiling.level == like.level &&
             ceiling.threads == threads[i];
    });
    found = found || record != records.end();
    cells[i].text = record == records.end() ? kNoPeak : format_ceiling(record->ceiling.value);
  }
  if (!found) std::ranges::fill(cells, TextCell{});
  return cells;
}

// "computes in f32 at most A, in f16 with tensor cores at most B, and moves ... at most C".
std::string gpu_sentence(const std::vector<PeakRecord>& records, const std::string& gpu) {
  const Ceilings ceilings = find_gpu_ceilings(records, gpu);
  std::vector<std::string> parts;
  if (const auto rate = cuda_core_peak(ceilings, "f32")) {
    parts.push_back(fmt::format("computes in f32 at most {}", format_rate(*rate)));
  }
  if (const auto rate = tensor_core_peak(ceilings, "f16")) {
    parts.push_back(
        fmt::format("multiplies f16 on tensor cores with at most {}", format_rate(*rate)));
  }
  if (const auto rate = find_bandwidth(ceilings, kMemoryLevels.back(), 1)) {
    parts.push_back(fmt::format("moves from its memory at most {}", format_rate(*rate)));
  }
  if (parts.empty()) return fmt::format("Some ceilings of {} were measured.", gpu);
  if (parts.size() > 1) parts.back().insert(0, "and ");
  return fmt::format("{} {}.", gpu, fmt::join(parts, parts.size() > 2 ? ", " : " "));
}

std::string cpu_sentence(const std::vector<PeakRecord>& records) {
  const int threads = most_threads(records);
  const Ceilings ceilings = stored_ceilings(records, threads, {});
  const std::string arithmetic =
      on_threads(find_peak(ceilings, "f32", 1), find_peak(ceilings, "f32", threads), threads);
  const std::string_view memory = kMemoryLevels.back();
  const std::string movement = on_threads(find_bandwidth(ceilings, memory, 1),
                                          find_bandwidth(ceilings, memory, threads), threads);
  if (arithmetic.empty() && movement.empty())
    return "Neither the rate of f32 arithmetic nor the bandwidth of memory could be measured.";
  if (movement.empty()) return fmt::format("This machine computes in f32 at most {}.", arithmetic);
  if (arithmetic.empty())
    return fmt::format("This machine moves from memory at most {}.", movement);
  return fmt::format("This machine computes in f32 at most {}, and moves from memory at most {}.",
                     arithmetic, movement);
}

}  // namespace

std::string peak_sentence(const std::vector<PeakRecord>& records) {
  const std::string gpu = find_gpu(records);
  if (gpu.empty()) return cpu_sentence(records);
  const std::string of_gpu = gpu_sentence(records, gpu);
  if (!has_cpu(records)) return of_gpu;
  return fmt::format("{} {}", cpu_sentence(records), of_gpu);
}

std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console) {
  std::vector<int> threads;
  if (has_cpu(records)) threads.push_back(1);
  if (most_threads(records) > 1) threads.push_back(most_threads(records));
  const std::string gpu = find_gpu(records);
  std::vector<TextColumn> columns = {{"ceiling"}, {"level"}};
  for (const int count : threads)
    columns.push_back({fmt::format("{} thread{}", count, count == 1 ? "" : "s"), Align::right});
  if (!gpu.empty()) columns.push_back({"GPU", Align::right});
  std::vector<TextRow> rows;
  std::vector<std::pair<std::string_view, std::string_view>> shown;
  for (const PeakRecord& record : records) {
    const Ceiling& ceiling = record.ceiling;
    const std::pair<std::string_view, std::string_view> key(ceiling.name, ceiling.level);
    if (std::ranges::find(shown, key) != shown.end()) continue;
    shown.push_back(key);
    std::vector<TextCell> cells = {{ceiling.name}, {ceiling.level}};
    std::ranges::move(value_cells(records, ceiling, "", threads), std::back_inserter(cells));
    if (!gpu.empty())
      std::ranges::move(value_cells(records, ceiling, gpu, {1}), std::back_inserter(cells));
    rows.push_back({std::move(cells), ""});
  }
  return render_table(columns, std::move(rows), console.width, console.colour);
}

std::string gpu_peak_notes(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts,
                           const ConsoleOptions& console) {
  std::string notes;
  const auto reached =
      find_bandwidth(find_gpu_ceilings(records, facts.gpu), kMemoryLevels.back(), 1);
  if (facts.memory_by_clock && reached) {
    notes +=
        wrap(fmt::format("By its clock and its bus, the memory of {} moves {}; {:.0f} % of it was "
                         "reached.",
                         facts.gpu, format_rate(*facts.memory_by_clock),
                         100 * reached->value / facts.memory_by_clock->value),
             console.width, 0);
  }
  if (!facts.left_out.empty())
    notes += wrap(fmt::format("{} has no such ceiling:", facts.gpu), console.width, 0);
  for (const std::string& line : facts.left_out) {
    notes += "- " + wrap(line, console.width, kListIndent).substr(kListIndent);
  }
  return notes.empty() ? notes : "\n" + notes;
}

std::string peak_json(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts) {
  std::vector<std::string> lines;
  for (const PeakRecord& record : records) lines.push_back(to_json_line(record));
  return fmt::format("{{\"peaks\": [\n{}\n], \"left_out\": {}}}\n", fmt::join(lines, ",\n"),
                     format_json(facts.left_out));
}

}  // namespace bench
