// SPDX-License-Identifier: Apache-2.0
// Reads what `nvprof -o FILE` writes: CUPTI's records, one table per kind, of one process.
#include "base/env.hpp"
#include "profiler/readers/cuda_call_names.hpp"
#include "profiler/readers/gpu_timeline.hpp"
#include "profiler/readers/profile_tables.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace bench {
namespace {

using enum SqliteColumn::Need;

constexpr std::string_view kBadInterval = "`start` or `end` is not a time, or they are reversed";

namespace nvprof_calls {
enum : std::size_t { start, end, number, process, thread, correlation, status, count };
constexpr std::array<SqliteColumn, count> kColumns = {{{"start", required},
                                                       {"end", required},
                                                       {"cbid", required},
                                                       {"processId", required},
                                                       {"threadId", required},
                                                       {"correlationId", required},
                                                       {"returnValue", optional}}};
}  // namespace nvprof_calls

// The first columns of all tables of device work.
namespace nvprof_works {
enum : std::size_t { start, end, device, context, stream, correlation, node, count };
}
#define BENCH_NVPROF_WORK_COLUMNS                                                          \
  {"start", required}, {"end", required}, {"deviceId", required}, {"contextId", optional}, \
      {"streamId", required}, {"correlationId", required}, {                               \
    "graphNodeId", optional                                                                \
  }

namespace nvprof_kernels {
enum : std::size_t {
  name = nvprof_works::count,
  grid,
  registers = grid + 6,
  count = registers + 3
};
constexpr std::array<SqliteColumn, count> kColumns = {{BENCH_NVPROF_WORK_COLUMNS,
                                                       {"name", required},
                                                       {"gridX", optional},
                                                       {"gridY", optional},
                                                       {"gridZ", optional},
                                                       {"blockX", optional},
                                                       {"blockY", optional},
                                                       {"blockZ", optional},
                                                       {"registersPerThread", optional},
                                                       {"staticSharedMemory", optional},
                                                       {"dynamicSharedMemory", optional}}};
}  // namespace nvprof_kernels

namespace nvprof_copies {
enum : std::size_t { bytes = nvprof_works::count, kind, source, destination, count };
constexpr std::array<SqliteColumn, count> kColumns = {{BENCH_NVPROF_WORK_COLUMNS,
                                                       {"bytes", required},
                                                       {"copyKind", optional},
                                                       {"srcKind", optional},
                                                       {"dstKind", optional}}};
}  // namespace nvprof_copies

namespace nvprof_memsets {
enum : std::size_t { bytes = nvprof_works::count, memory, count };
constexpr std::array<SqliteColumn, count> kColumns = {
    {BENCH_NVPROF_WORK_COLUMNS, {"bytes", required}, {"memoryKind", optional}}};
}  // namespace nvprof_memsets
#undef BENCH_NVPROF_WORK_COLUMNS

namespace nvprof_waits {
enum : std::size_t { start, end, kind, context, stream, correlation, count };
constexpr std::array<SqliteColumn, count> kColumns = {{{"start", required},
                                                       {"end", required},
                                                       {"type", required},
                                                       {"contextId", optional},
                                                       {"streamId", optional},
                                                       {"correlationId", required}}};
constexpr std::int64_t kNoStream = 0xffffffff;
}  // namespace nvprof_waits

namespace markers {
enum : std::size_t { flags, time, id, object, object_id, name, domain, count };
constexpr std::array<SqliteColumn, count> kColumns = {{{"flags", required},
                                                       {"timestamp", required},
                                                       {"id", required},
                                                       {"objectKind", required},
                                                       {"objectId", required},
                                                       {"name", required},
                                                       {"domain", optional}}};
// Values of `flags` and `objectKind`.
constexpr std::int64_t kInstant = 1, kStart = 2, kEnd = 4;
constexpr std::int64_t kThread = 2;
}  // namespace markers

namespace nvprof_devices {
enum : std::size_t {
  id,
  name,
  major,
  minor,
  multiprocessors,
  memory,
  warp,
  warps,
  blocks,
  threads,
  registers,
  block_registers,
  shared,
  count
};
constexpr std::array<SqliteColumn, count> kColumns = {
    {{"id", required},
     {"name", required},
     {"computeCapabilityMajor", optional},
     {"computeCapabilityMinor", optional},
     {"numMultiprocessors", optional},
     {"globalMemorySize", optional},
     {"numThreadsPerWarp", optional},
     {"maxWarpsPerMultiprocessor", optional},
     {"maxBlocksPerMultiprocessor", optional},
     {"maxThreadsPerBlock", optional},
     {"maxRegistersPerMultiprocessor", optional},
     {"maxRegistersPerBlock", optional},
     {"maxSharedMemoryPerMultiprocessor", optional}}};
}  // namespace nvprof_devices

// Kinds whose numbers in the file are those of this program's enumerators.
template <class Enum>
Enum enumerator_of(const SqliteRows& row, std::size_t column) {
  const std::uint64_t number = number_of(row, column);
  return number < enumerator_names(Enum{}).size() ? static_cast<Enum>(number) : Enum{};
}

// nvprof extends the lower 32 bits of a thread's number by its sign.
std::int64_t low_bits(std::int64_t number) { return number & 0xffffffff; }

// Returns the number in four bytes, the least significant first.
std::int64_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return number;
}

class NvprofReading {
 public:
  NvprofReading(const SqliteFile& file, const TextSource& source, ActivitySink& sink)
      : file_(file), source_(source), sink_(sink), tables_(file, report_) {
    report_.format = "nvprof_sqlite";
  }

  Result<ReadReport> read() {
    BENCH_RETURN_IF_ERROR(tables_.read_strings("StringTable", "_id_", "value", strings_));
    BENCH_RETURN_IF_ERROR(read_devices());
    const std::string folder = environment_variable("TMPDIR").value_or("/var/tmp");
    GpuTimeline::Options options;
    options.folder = folder;
    if (source_.work_factory())
      options.compute_work = source_.work_factory()(common_capability(devices_));
    GpuTimeline timeline(std::move(options), strings_, sink_);
    for (const GpuDevice& device : devices_) timeline.add(device);
    BENCH_RETURN_IF_ERROR(read_thread_names(timeline));
    BENCH_RETURN_IF_ERROR(read_calls(timeline));
    BENCH_RETURN_IF_ERROR(read_works(timeline));
    bool must_be_read_twice = false;
    strings_.visit([&](std::string_view text) {
      must_be_read_twice = must_be_read_twice || needs_other_ranges(text);
    });
    if (must_be_read_twice) {
      SortedRanges first(folder);
      BENCH_RETURN_IF_ERROR(read_markers(first, Faults::ignored));
      BENCH_RETURN_IF_ERROR(timeline.read_facts(first));
    }
    SortedRanges ranges(folder);
    BENCH_RETURN_IF_ERROR(read_markers(ranges, Faults::noted));
    BENCH_RETURN_IF_ERROR(timeline.join(ranges));
    finish_timeline(timeline, file_.name(), report_);
    return std::move(report_);
  }

 private:
  enum class Faults { noted, ignored };

  Status read_devices() {
    namespace columns = nvprof_devices;
    constexpr std::int64_t kMaxLimit = std::int64_t{1} << 32;
    BENCH_RETURN_IF_ERROR(tables_.read(
        "CUPTI_ACTIVITY_KIND_DEVICE", columns::kColumns,
        [&](const SqliteRows& row) -> Result<RowFault> {
          const auto limit = [&](std::size_t column) {
            return read_count(row, column, kMaxLimit).value_or(0);
          };
          GpuDevice device;
          const auto number = read_device(row, columns::id);
          if (!number) return RowFault("`id` is not the number of a device");
          device.device = *number;
          device.name = limited_text(row.text(columns::name));
          if (const auto id = row.integer(columns::name)) device.name = strings_.find(*id);
          device.limits = {
              limit(columns::major),     limit(columns::minor),           limit(columns::warp),
              limit(columns::warps),     limit(columns::blocks),          limit(columns::threads),
              limit(columns::registers), limit(columns::block_registers), limit(columns::shared)};
          device.multiprocessors = limit(columns::multiprocessors);
          device.memory_bytes = read_count(row, columns::memory, kMaxProfileBytes).value_or(0);
          devices_.push_back(std::move(device));
          return kGoodRow;
        }));
    note_devices(devices_, report_);
    return Done{};
  }

  Status read_thread_names(GpuTimeline& timeline) {
    constexpr std::array<SqliteColumn, 3> kColumns = {
        {{"objectKind", required}, {"objectId", required}, {"name", required}}};
    return tables_.read(
        "CUPTI_ACTIVITY_KIND_NAME", kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
          const std::string_view object = row.bytes(1);
          if (row.integer(0) != markers::kThread || object.size() < 8) return kGoodRow;
          timeline.name_thread(little_endian(object), little_endian(object.substr(4)),
                               strings_.find(row.integer(2).value_or(ProfileStrings::kNone)));
          return kGoodRow;
        });
  }

  struct CallTable {
    std::string_view name;
    TimelineCall::Kind kind;
    GpuApiDomain domain;
  };
  static constexpr std::array<CallTable, 2> kCallTables = {
      {{"CUPTI_ACTIVITY_KIND_RUNTIME", TimelineCall::Kind::runtime, GpuApiDomain::runtime},
       {"CUPTI_ACTIVITY_KIND_DRIVER", TimelineCall::Kind::driver, GpuApiDomain::driver}}};

  Status read_calls(GpuTimeline& timeline) {
    namespace columns = nvprof_calls;
    for (const CallTable& table : kCallTables) {
      BENCH_RETURN_IF_ERROR(tables_.read(
          table.name, columns::kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
            const auto start = read_time(row, columns::start);
            if (start)
              timeline.expect(process(timeline, row), number_of(row, columns::correlation), *start);
            return kGoodRow;
          }));
    }
    timeline.finish_expecting();
    for (const CallTable& table : kCallTables) {
      BENCH_RETURN_IF_ERROR(tables_.read(
          table.name, columns::kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
            const auto time = read_interval(row, columns::start, columns::end);
            if (!time) return kBadInterval;
            TimelineCall call;
            call.process = process(timeline, row);
            call.thread = low_bits(row.integer(columns::thread).value_or(0));
            call.time = *time;
            call.correlation = number_of(row, columns::correlation);
            call.name = strings_.intern(
                cuda_call_name(table.domain, row.integer(columns::number).value_or(0)));
            call.status = row.integer(columns::status).value_or(0);
            call.kind = table.kind;
            return add_row(call, timeline);
          }));
    }
    return Done{};
  }

  TimelineProcess process(GpuTimeline& timeline, const SqliteRows& row) {
    const std::int64_t pid = row.integer(nvprof_calls::process).value_or(0);
    if (!pid_) pid_ = pid;
    return timeline.process(pid, pid);
  }

  // Device work has no process; a file has one.
  bool begin_work(TimelineWork::Kind kind, std::optional<GpuInterval> time, GpuTimeline& timeline,
                  TimelineWork& work) const {
    work = {};
    if (!time) return false;
    work.kind = kind;
    work.time = *time;
    work.process = timeline.process(pid_.value_or(0), pid_.value_or(0));
    return true;
  }

  RowFault read_work(const SqliteRows& row, TimelineWork::Kind kind, GpuTimeline& timeline,
                     TimelineWork& work) const {
    namespace columns = nvprof_works;
    if (!begin_work(kind, read_interval(row, columns::start, columns::end), timeline, work))
      return kBadInterval;
    const auto device = read_device(row, columns::device);
    if (!device) return kBadDevice;
    work.place = {*device, row.integer(columns::context).value_or(0),
                  row.integer(columns::stream).value_or(0)};
    work.correlation = number_of(row, columns::correlation);
    work.graph_node = number_of(row, columns::node);
    return kGoodRow;
  }

  Status read_works(GpuTimeline& timeline) {
    using Kind = TimelineWork::Kind;
    struct WorkTable {
      std::string_view name;
      std::span<const SqliteColumn> columns;
      Kind kind;
      RowFault (*finish)(const SqliteRows& row, TimelineWork& work);
    };
    constexpr std::array<WorkTable, 5> kTables = {
        {{"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", nvprof_kernels::kColumns, Kind::kernel,
          finish_kernel},
         {"CUPTI_ACTIVITY_KIND_KERNEL", nvprof_kernels::kColumns, Kind::kernel, finish_kernel},
         {"CUPTI_ACTIVITY_KIND_MEMCPY", nvprof_copies::kColumns, Kind::memcpy, finish_copy},
         {"CUPTI_ACTIVITY_KIND_MEMCPY2", nvprof_copies::kColumns, Kind::memcpy, finish_copy},
         {"CUPTI_ACTIVITY_KIND_MEMSET", nvprof_memsets::kColumns, Kind::memset, finish_memset}}};
    TimelineWork work;
    for (const WorkTable& table : kTables) {
      BENCH_RETURN_IF_ERROR(
          tables_.read(table.name, table.columns, [&](const SqliteRows& row) -> Result<RowFault> {
            RowFault fault = read_work(row, table.kind, timeline, work);
            if (fault.empty()) fault = table.finish(row, work);
            if (!fault.empty()) return fault;
            return add_row(work, timeline);
          }));
    }
    return read_waits(timeline);
  }

  static RowFault finish_kernel(const SqliteRows& row, TimelineWork& work) {
    work.name = row.integer(nvprof_kernels::name).value_or(ProfileStrings::kNone);
    if (!read_launch_sizes(row, nvprof_kernels::grid, work))
      return "a size of grid or block is not valid";
    if (!read_resources(row, nvprof_kernels::registers, work))
      return "registers or shared memory are not valid";
    return kGoodRow;
  }

  static RowFault finish_copy(const SqliteRows& row, TimelineWork& work) {
    namespace columns = nvprof_copies;
    work.copy = enumerator_of<GpuCopyKind>(row, columns::kind);
    work.memory = enumerator_of<GpuMemoryKind>(row, columns::source);
    work.destination = enumerator_of<GpuMemoryKind>(row, columns::destination);
    const auto bytes = read_count(row, columns::bytes, kMaxProfileBytes);
    work.bytes = bytes.value_or(0);
    return bytes ? kGoodRow : RowFault("`bytes` is out of range");
  }

  static RowFault finish_memset(const SqliteRows& row, TimelineWork& work) {
    work.memory = enumerator_of<GpuMemoryKind>(row, nvprof_memsets::memory);
    const auto bytes = read_count(row, nvprof_memsets::bytes, kMaxProfileBytes);
    work.bytes = bytes.value_or(0);
    return bytes ? kGoodRow : RowFault("`bytes` is out of range");
  }

  Status read_waits(GpuTimeline& timeline) {
    namespace columns = nvprof_waits;
    TimelineWork work;
    return tables_.read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns::kColumns,
                        [&](const SqliteRows& row) -> Result<RowFault> {
                          const auto time = read_interval(row, columns::start, columns::end);
                          if (!begin_work(TimelineWork::Kind::wait, time, timeline, work))
                            return kBadInterval;
                          work.place.context = row.integer(columns::context).value_or(0);
                          const auto stream = row.integer(columns::stream);
                          work.has_stream = stream && *stream >= 0 && *stream != columns::kNoStream;
                          work.place.stream = stream.value_or(0);
                          work.has_device = false;
                          work.correlation = number_of(row, columns::correlation);
                          work.wait = enumerator_of<GpuWaitKind>(row, columns::kind);
                          return add_row(work, timeline);
                        });
  }

  // Markers are instants: a push and a pop, or a start and an end.
  Status read_markers(SortedRanges& ranges, Faults faults) {
    std::set<std::uint64_t> domains;
    const auto take = [&](const SqliteRows& row) -> Result<RowFault> {
      RangeEvent event;
      const RowFault fault = decode_marker(row, event);
      if (!fault.empty()) return faults == Faults::noted ? fault : kGoodRow;
      if (event.domain != 0 && domains.insert(event.domain).second)
        BENCH_RETURN_IF_ERROR(ranges.add(name_domain(event)));
      BENCH_RETURN_IF_ERROR(ranges.add(event));
      return kGoodRow;
    };
    BENCH_RETURN_IF_ERROR(tables_.read("CUPTI_ACTIVITY_KIND_MARKER", markers::kColumns, take));
    return ranges.finish();
  }

  RowFault decode_marker(const SqliteRows& row, RangeEvent& event) const {
    using Kind = RangeEvent::Kind;
    const auto at = read_time(row, markers::time);
    const std::string_view object = row.bytes(markers::object_id);
    if (!at) return "`timestamp` is not a time";
    if (object.size() < 8) return "`objectId` is not a process and a thread";
    event.at = *at;
    event.pid = little_endian(object);
    event.tid = little_endian(object.substr(4));
    event.id = number_of(row, markers::id);
    event.text = limited_text(strings_.find(row.integer(markers::name).value_or(0)));
    const std::uint64_t domain = number_of(row, markers::domain);
    const bool is_named = !strings_.find(static_cast<std::int64_t>(domain)).empty();
    event.domain = is_named ? domain : 0;
    const std::int64_t flags = row.integer(markers::flags).value_or(0);
    const bool is_nested = row.integer(markers::object) == markers::kThread;
    if ((flags & markers::kInstant) != 0) {
      event.kind = Kind::mark;
    } else if ((flags & markers::kStart) != 0) {
      event.kind = is_nested ? Kind::push : Kind::start;
    } else if ((flags & markers::kEnd) != 0) {
      event.kind = is_nested ? Kind::pop : Kind::stop;
    } else {
      return "`flags` names no beginning, end or mark";
    }
    return kGoodRow;
  }

  RangeEvent name_domain(const RangeEvent& event) const {
    RangeEvent name;
    name.kind = RangeEvent::Kind::domain;
    name.pid = event.pid;
    name.tid = event.tid;
    name.id = event.domain;
    name.text = strings_.find(static_cast<std::int64_t>(event.domain));
    return name;
  }

  const SqliteFile& file_;
  const TextSource& source_;
  ActivitySink& sink_;
  ReadReport report_;
  ProfileTables tables_;
  ProfileStrings strings_;
  std::vector<GpuDevice> devices_;
  std::optional<std::int64_t> pid_;
};

// The first pages usually show a table of nvprof. If they do not, the reader of nsys recognises the
// file, and both find the right one by its tables.
bool recognises_nvprof(std::string_view head) {
  return head.starts_with(kSqliteMagic) && head.find("CREATE TABLE StringTable") != head.npos;
}

}  // namespace

Result<ReadReport> read_nvprof_tables(const SqliteFile& file, const TextSource& source,
                                      ActivitySink& sink) {
  return NvprofReading(file, source, sink).read();
}

const ActivityReader nvprof_sqlite_reader = {
    .name = "nvprof_sqlite",
    .help = "SQLite file of nvprof (nvprof -o FILE)",
    .recognises = recognises_nvprof,
    .read = read_sqlite_profile,
};

}  // namespace bench
