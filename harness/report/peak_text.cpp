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

int find_max_threads(const std::vector<PeakRecord>& records) {
  int threads = 1;
  for (const PeakRecord& record : records) threads = std::max(threads, record.ceiling.threads);
  return threads;
}

// Returns the name of the GPU in the records. Empty if all records are of the CPU.
std::string find_gpu_name(const std::vector<PeakRecord>& records) {
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

// Returns "117.6 GFLOP/s on one thread and 233.9 GFLOP/s on 2", without an unknown rate. Empty if
// both are unknown.
template <class Rate>
std::string format_thread_rates(const std::optional<Rate>& one, const std::optional<Rate>& all,
                                int threads) {
  std::vector<std::string> parts;
  if (one) parts.push_back(fmt::format("{} on one thread", format_rate(*one)));
  if (all && threads > 1) parts.push_back(fmt::format("{} on {}", format_rate(*all), threads));
  return fmt::format("{}", fmt::join(parts, " and "));
}

// Returns the bandwidth of the memory, only if it was measured itself. find_bandwidth() would
// return that of a cache.
std::optional<BytesPerSecond> find_memory_bandwidth(const Ceilings& ceilings, int threads) {
  const bool is_measured = std::ranges::any_of(ceilings.rows, [&](const Ceiling& row) {
    return row.level == kMemoryLevels.back() && row.threads == threads;
  });
  return is_measured ? find_bandwidth(ceilings, kMemoryLevels.back(), threads) : std::nullopt;
}

// Returns the cells of one ceiling on one device, the CPU if `gpu` is empty: one per number of
// threads. All cells are empty if the device does not have the ceiling.
std::vector<TextCell> value_cells(const std::vector<PeakRecord>& records,
                                  const Ceiling& row_ceiling, std::string_view gpu,
                                  const std::vector<int>& threads) {
  std::vector<TextCell> cells(threads.size());
  bool has_ceiling = false;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const auto record = std::ranges::find_if(records, [&](const PeakRecord& entry) {
      const Ceiling& ceiling = entry.ceiling;
      return entry.gpu == gpu && ceiling.name == row_ceiling.name &&
             ceiling.level == row_ceiling.level && ceiling.threads == threads[i];
    });
    has_ceiling = has_ceiling || record != records.end();
    cells[i].text = record == records.end() ? kNoPeak : format_ceiling(record->ceiling.value);
  }
  if (!has_ceiling) std::ranges::fill(cells, TextCell{});
  return cells;
}

// Returns "GPU computes in f32 at most A, multiplies f16 on tensor cores with at most B, and moves
// from its memory at most C.", without ceilings that were not measured.
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
  if (const auto rate = find_memory_bandwidth(ceilings, 1)) {
    parts.push_back(fmt::format("moves from its memory at most {}", format_rate(*rate)));
  }
  if (parts.empty()) return fmt::format("Some ceilings of {} were measured.", gpu);
  if (parts.size() > 1) parts.back().insert(0, "and ");
  return fmt::format("{} {}.", gpu, fmt::join(parts, parts.size() > 2 ? ", " : " "));
}

std::string cpu_sentence(const std::vector<PeakRecord>& records) {
  const int threads = find_max_threads(records);
  const Ceilings ceilings = stored_ceilings(records, threads, {});
  const std::string arithmetic = format_thread_rates(find_peak(ceilings, "f32", 1),
                                                     find_peak(ceilings, "f32", threads), threads);
  const std::string bandwidth = format_thread_rates(
      find_memory_bandwidth(ceilings, 1), find_memory_bandwidth(ceilings, threads), threads);
  if (arithmetic.empty() && bandwidth.empty())
    return "Neither the rate of f32 arithmetic nor the bandwidth of memory could be measured.";
  if (bandwidth.empty()) return fmt::format("This machine computes in f32 at most {}.", arithmetic);
  if (arithmetic.empty())
    return fmt::format("This machine moves from memory at most {}.", bandwidth);
  return fmt::format("This machine computes in f32 at most {}, and moves from memory at most {}.",
                     arithmetic, bandwidth);
}

}  // namespace

std::string peak_sentence(const std::vector<PeakRecord>& records) {
  const std::string gpu = find_gpu_name(records);
  if (gpu.empty()) return cpu_sentence(records);
  const std::string gpu_text = gpu_sentence(records, gpu);
  if (!has_cpu(records)) return gpu_text;
  return fmt::format("{} {}", cpu_sentence(records), gpu_text);
}

std::string peak_table(const std::vector<PeakRecord>& records, const ConsoleOptions& console) {
  std::vector<int> threads;
  if (has_cpu(records)) threads.push_back(1);
  if (find_max_threads(records) > 1) threads.push_back(find_max_threads(records));
  const std::string gpu = find_gpu_name(records);
  std::vector<TextColumn> columns = {{"ceiling"}, {"level"}};
  for (const int count : threads) columns.push_back({pluralise(count, "thread"), Align::right});
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

std::string gpu_bandwidth_note(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts) {
  const auto measured =
      find_bandwidth(find_gpu_ceilings(records, facts.gpu), kMemoryLevels.back(), 1);
  if (!facts.theoretical_bandwidth || !measured) return "";
  return fmt::format(
      "By its clock and its bus, the memory of {} moves {}; {:.0f} % of it was reached.", facts.gpu,
      format_rate(*facts.theoretical_bandwidth),
      100 * measured->value / facts.theoretical_bandwidth->value);
}

std::string left_out_ceilings(const GpuPeakFacts& facts, const ConsoleOptions& console) {
  if (facts.left_out.empty()) return "";
  std::string text =
      "\n" + wrap(fmt::format("{} has no such ceiling:", facts.gpu), console.width, 0);
  for (const std::string& line : facts.left_out) {
    text += "- " + wrap(line, console.width, kListIndent).substr(kListIndent);
  }
  return text;
}

std::string raised_ceiling_note(const Ceiling& measured, const CeilingValue& one_thread) {
  return fmt::format(
      "{}{} reached {} with {} threads, less than the {} with one thread, although it was measured "
      "twice: something disturbed it, so {} counts for both.",
      measured.name, measured.level.empty() ? "" : " in " + measured.level,
      format_ceiling(measured.value), measured.threads, format_ceiling(one_thread),
      format_ceiling(one_thread));
}

std::string peak_json(const std::vector<PeakRecord>& records, const GpuPeakFacts& facts) {
  std::vector<std::string> lines;
  for (const PeakRecord& record : records) lines.push_back(to_json_line(record));
  return fmt::format("{{\"peaks\": [\n{}\n], \"left_out\": {}}}\n", fmt::join(lines, ",\n"),
                     format_json(facts.left_out));
}

}  // namespace bench
