// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/profile_tables.hpp"

#include "base/utf8.hpp"
#include "profiler/device_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace bench {
namespace {

// 73 years. Sums and differences of two times stay in range.
constexpr std::int64_t kLatestTime = (std::int64_t{1} << 61) - 2;

// Tables that only one of the programs writes.
constexpr std::string_view kNvprofTable = "StringTable";
constexpr std::array<std::string_view, 6> kNsysTables = {
    "StringIds",   "META_DATA_EXPORT", "TARGET_INFO_GPU",
    "NVTX_EVENTS", "OSRT_API",         "CUPTI_ACTIVITY_KIND_KERNEL"};

}  // namespace

Status ProfileTables::read(std::string_view table, std::span<const SqliteColumn> columns,
                           const TakeRow& take) {
  if (!file_.contains(table)) return Done{};
  BENCH_ASSIGN_OR_RETURN(SqliteRows rows, file_.rows(table, columns));
  while (true) {
    BENCH_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return Done{};
    ++report_.lines;
    BENCH_ASSIGN_OR_RETURN(const RowFault fault, take(rows));
    if (!fault.empty()) note_fault(table, rows.number(), fault);
  }
}

void ProfileTables::note_fault(std::string_view table, std::int64_t row, RowFault fault) {
  ++report_.malformed;
  if (report_.notes.size() < kMaxNotes)
    report_.note(fmt::format("{}: table {}, row {}: {}", file_.name(), table, row, fault));
}

Status ProfileTables::read_strings(std::string_view table, std::string_view id,
                                   std::string_view text, ProfileStrings& strings) {
  using enum SqliteColumn::Need;
  const std::array columns = {SqliteColumn{id, required}, SqliteColumn{text, required}};
  return read(table, columns, [&](const SqliteRows& row) -> Result<RowFault> {
    const auto number = row.integer(0);
    if (!number) return RowFault("has no number");
    strings.add(*number, limited_text(row.text(1)));
    return kGoodRow;
  });
}

std::optional<Nanoseconds> read_time(const SqliteRows& row, std::size_t column) {
  const auto time = row.integer(column);
  if (!time || *time < 0 || *time > kLatestTime) return std::nullopt;
  return Nanoseconds(*time);
}

std::optional<GpuInterval> read_interval(const SqliteRows& row, std::size_t start,
                                         std::size_t end) {
  const auto first = read_time(row, start);
  const auto last = read_time(row, end);
  if (!first || !last || *last < *first) return std::nullopt;
  return GpuInterval{*first, *last};
}

std::optional<std::int64_t> read_count(const SqliteRows& row, std::size_t column,
                                       std::int64_t max) {
  const std::int64_t count = row.integer(column).value_or(0);
  if (count < 0 || count > max) return std::nullopt;
  return count;
}

bool read_launch_sizes(const SqliteRows& row, std::size_t first, TimelineWork& work) {
  // The limits of CUDA.
  constexpr std::array<std::int64_t, 6> kMax = {
      (std::int64_t{1} << 31) - 1, 65535, 65535, 1024, 1024, 64};
  const std::array<std::int64_t*, 6> sizes = {&work.grid.x,  &work.grid.y,  &work.grid.z,
                                              &work.block.x, &work.block.y, &work.block.z};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = read_count(row, first + i, kMax[i]);
    if (!size) return false;
    *sizes[i] = std::max<std::int64_t>(*size, 1);
  }
  return true;
}

bool read_resources(const SqliteRows& row, std::size_t first, TimelineWork& work) {
  constexpr std::int64_t kMaxRegisters = 1 << 16;
  constexpr std::int64_t kMaxShared = std::int64_t{1} << 32;
  const auto registers = read_count(row, first, kMaxRegisters);
  const auto fixed = read_count(row, first + 1, kMaxShared);
  const auto dynamic = read_count(row, first + 2, kMaxShared);
  if (!registers || !fixed || !dynamic) return false;
  work.registers = *registers;
  work.static_shared_bytes = *fixed;
  work.dynamic_shared_bytes = *dynamic;
  return true;
}

std::string_view limited_text(std::string_view text) { return text.substr(0, kMaxProfileText); }

std::uint64_t number_of(const SqliteRows& row, std::size_t column) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(column).value_or(0), 0));
}

std::optional<std::int64_t> read_device(const SqliteRows& row, std::size_t column) {
  return read_count(row, column, kMaxDeviceNumber);
}

void note_devices(std::vector<GpuDevice>& devices, ReadReport& report) {
  for (const GpuDevice& device : devices) {
    if (device.name.empty()) continue;
    report.facts.emplace("gpu.name", device.name);
    if (devices.size() > 1) report.facts[fmt::format("gpu.{}.name", device.device)] = device.name;
  }
  std::erase_if(devices, [](const GpuDevice& device) {
    return device.limits.warp_size == 0 || device.limits.warps_per_multiprocessor == 0;
  });
}

std::string common_capability(const std::vector<GpuDevice>& devices) {
  std::set<std::string> found;
  for (const GpuDevice& device : devices)
    found.insert(fmt::format("{}.{}", device.limits.compute_major, device.limits.compute_minor));
  return found.size() == 1 ? *found.begin() : std::string();
}

void finish_timeline(const GpuTimeline& timeline, std::string_view name, ReadReport& report) {
  report.activities = timeline.activities();
  for (const std::string& note : timeline.notes()) report.note(fmt::format("{}: {}", name, note));
}

namespace {

Result<ReadReport> read_known_tables(const SqliteFile& file, const TextSource& source,
                                     ActivitySink& sink) {
  if (file.contains(kNvprofTable)) return read_nvprof_tables(file, source, sink);
  const bool is_nsys = std::ranges::any_of(
      kNsysTables, [&](std::string_view table) { return file.contains(table); });
  if (is_nsys) return read_nsys_tables(file, source, sink);
  const std::string step =
      "name what `nsys export --type sqlite REPORT.nsys-rep` or `nvprof -o FILE` wrote";
  return Error{"is an SQLite database without the tables of Nsight Systems or nvprof",
               source.name(), file.unread().empty() ? step : file.unread()};
}

}  // namespace

Result<ReadReport> read_sqlite_profile(TextSource& source, ActivitySink& sink) {
  BENCH_ASSIGN_OR_RETURN(const SqliteFile file, SqliteFile::open(source));
  BENCH_ASSIGN_OR_RETURN(ReadReport report, read_known_tables(file, source, sink));
  if (file.unread().empty()) return report;
  // It concerns all rows, so it precedes the notes on single ones.
  report.notes.insert(report.notes.begin(), file.unread());
  if (report.notes.size() > kMaxNotes) report.notes.pop_back();
  return report;
}

}  // namespace bench
