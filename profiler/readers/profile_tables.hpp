// SPDX-License-Identifier: Apache-2.0
// What the readers of SQLite profiles share: rows of tables with their faults, and values in range.
#pragma once

#include "base/result.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/reader.hpp"
#include "profiler/readers/gpu_timeline.hpp"
#include "profiler/readers/sqlite_file.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Longest text of a range or name that is kept.
inline constexpr std::size_t kMaxProfileText = std::size_t{1} << 16;

// A row as the fault that it has: "`end` is before `start`". Empty if it was read.
using RowFault = std::string_view;
inline constexpr RowFault kGoodRow = {};

class ProfileTables {
 public:
  ProfileTables(const SqliteFile& file, ReadReport& report) : file_(file), report_(report) {}

  const SqliteFile& file() const { return file_; }
  // Calls `take` for each row. A row with a fault costs a note. A table that the file lacks has no
  // rows. Returns the error of `take`, or the one of SqliteFile::rows().
  using TakeRow = std::function<Result<RowFault>(const SqliteRows& row)>;
  Status read(std::string_view table, std::span<const SqliteColumn> columns, const TakeRow& take);
  void note_fault(std::string_view table, std::int64_t row, RowFault fault);

  // Reads a table of numbers and texts.
  Status read_strings(std::string_view table, std::string_view id, std::string_view text,
                      ProfileStrings& strings);

 private:
  const SqliteFile& file_;
  ReadReport& report_;
};

// Times are from 0 to 73 years, and no interval is reversed.
std::optional<Nanoseconds> read_time(const SqliteRows& row, std::size_t column);
std::optional<GpuInterval> read_interval(const SqliteRows& row, std::size_t start, std::size_t end);
// Returns a value from 0 to `max`; 0 if it is absent. nullopt if it is out of range.
std::optional<std::int64_t> read_count(const SqliteRows& row, std::size_t column, std::int64_t max);
inline constexpr std::int64_t kMaxProfileBytes = std::int64_t{1} << 60;
// Reads six columns: the grid and the block. Returns false if a size is out of range.
bool read_launch_sizes(const SqliteRows& row, std::size_t first, TimelineWork& work);
// Reads three columns: registers per thread, static and dynamic shared memory.
bool read_resources(const SqliteRows& row, std::size_t first, TimelineWork& work);
// Returns the text without what is beyond kMaxProfileText.
std::string_view limited_text(std::string_view text);
std::uint64_t number_of(const SqliteRows& row, std::size_t column);  // 0 if absent or negative
// Returns 0 if it is absent, and nullopt if no device has such a number (device_number.hpp).
std::optional<std::int64_t> read_device(const SqliteRows& row, std::size_t column);
inline constexpr std::string_view kBadDevice = "`deviceId` is not the number of a device";

// Adds the names of devices to the facts, and removes the devices whose limits are unknown.
void note_devices(std::vector<GpuDevice>& devices, ReadReport& report);
// Returns the compute capability of all devices, "9.0"; empty if it is unknown or if they differ.
std::string common_capability(const std::vector<GpuDevice>& devices);

// Adds a call or work to the timeline, as the last step of a row.
template <class Record>
Result<RowFault> add_row(const Record& record, GpuTimeline& timeline) {
  BENCH_RETURN_IF_ERROR(timeline.add(record));
  return kGoodRow;
}

// Notes what the timeline found, and completes the report.
void finish_timeline(const GpuTimeline& timeline, std::string_view name, ReadReport& report);

// Reads the profile with the reader that knows its tables. Both readers of SQLite files call it,
// because the beginning of a file does not always show its tables.
Result<ReadReport> read_sqlite_profile(TextSource& source, ActivitySink& sink);
Result<ReadReport> read_nsys_tables(const SqliteFile& file, const TextSource& source,
                                    ActivitySink& sink);
Result<ReadReport> read_nvprof_tables(const SqliteFile& file, const TextSource& source,
                                      ActivitySink& sink);

}  // namespace bench
