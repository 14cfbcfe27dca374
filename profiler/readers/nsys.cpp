// SPDX-License-Identifier: Apache-2.0
// Reads what `nsys export --type sqlite` writes. Its tables differ between versions: columns are
// found by name, and most are optional. Times are nanoseconds since the session began.
#include "base/env.hpp"
#include "profiler/device_number.hpp"
#include "profiler/gpu/kernel_work.hpp"
#include "profiler/readers/gpu_timeline.hpp"
#include "profiler/readers/nsys_tables.hpp"
#include "profiler/readers/profile_tables.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace nsys;  // columns of tables

// A number of a process or thread contains those of the machine above it.
constexpr std::int64_t kNsysNumbers = std::int64_t{1} << 24;
std::int64_t thread_of(std::int64_t global) { return global & (kNsysNumbers - 1); }
std::int64_t process_key(std::int64_t global) { return global >> 24; }

// The numbers of an enumeration in a file.
template <class Enum>
class NsysEnum {
 public:
  template <std::size_t kSize>
  Status read(ProfileTables& tables, std::string_view table,
              const std::array<NsysValue<Enum>, kSize>& values) {
    for (std::size_t i = 0; i < kSize; ++i)
      by_number_[static_cast<std::int64_t>(i)] = values[i].value;
    constexpr std::array<SqliteColumn, 2> kColumns = {{{"id", required}, {"name", required}}};
    return tables.read(table, kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
      const auto found = std::ranges::find_if(values, [&](const NsysValue<Enum>& value) {
        return row.text(1).ends_with(value.ending);
      });
      const auto number = row.integer(0);
      if (number && found != values.end()) by_number_[*number] = found->value;
      return kGoodRow;
    });
  }
  Enum find(std::int64_t number) const {
    const auto found = by_number_.find(number);
    return found == by_number_.end() ? Enum{} : found->second;
  }

 private:
  std::map<std::int64_t, Enum> by_number_;
};

constexpr std::string_view kBadTime = "`start` or `end` is not a time, or they are reversed";

// Decodes a row of NVTX_EVENTS.
class NsysRangeRow {
 public:
  explicit NsysRangeRow(const ProfileStrings& strings) : strings_(strings) {}

  // is_range: false if the event is not about a range.
  RowFault decode(const SqliteRows& row, RangeEvent& event, bool& is_range) const {
    using Kind = RangeEvent::Kind;
    is_range = false;
    const std::int64_t type = row.integer(ranges::type).value_or(-1);
    const auto at = read_time(row, ranges::start);
    if (!at) return kBadTime;
    event.at = *at;
    event.end = read_time(row, ranges::end);
    if (!event.end && !row.is_null(ranges::end)) return kBadTime;
    if (event.end && *event.end < event.at) return kBadTime;
    const std::int64_t thread = row.integer(ranges::thread).value_or(0);
    event.pid = thread_of(process_key(thread));
    event.tid = thread_of(thread);
    event.domain = number_of(row, ranges::domain);
    event.category = number_of(row, ranges::category);
    event.id = type == nsys_category ? event.category : event.domain;
    event.text = row.text(ranges::text);
    if (event.text.empty()) {
      const auto id = row.integer(ranges::text_id);
      if (id) event.text = strings_.find(*id);
    }
    event.text = limited_text(event.text);
    is_range = true;
    switch (type) {
      case nsys_push_pop:
        event.kind = Kind::range;
        return kGoodRow;
      case nsys_start_end:
        event.kind = Kind::start;
        event.id = kUnended + static_cast<std::uint64_t>(row.number());
        return kGoodRow;
      case nsys_mark:
        event.kind = Kind::mark;
        event.end.reset();
        return kGoodRow;
      case nsys_category:
        event.kind = Kind::category;
        return kGoodRow;
      case nsys_domain:
        event.kind = Kind::domain;
        return kGoodRow;
      default:
        is_range = false;
        return type < 0 ? RowFault("`eventType` is not a number") : kGoodRow;
    }
  }

 private:
  static constexpr std::uint64_t kUnended = std::uint64_t{1} << 62;
  const ProfileStrings& strings_;
};

// The ranges of a table whose rows are in order already.
class StoredRanges final : public RangeStream {
 public:
  StoredRanges(SqliteRows rows, const ProfileStrings& strings)
      : rows_(std::move(rows)), decoder_(strings) {}
  Result<bool> next(RangeEvent& event) override {
    while (true) {
      BENCH_ASSIGN_OR_RETURN(const bool more, rows_.next());
      if (!more) return false;
      bool is_range = false;
      if (decoder_.decode(rows_, event, is_range).empty() && is_range) return true;
    }
  }

 private:
  SqliteRows rows_;
  NsysRangeRow decoder_;
};

class NoRanges final : public RangeStream {
 public:
  Result<bool> next(RangeEvent&) override { return false; }
};

class NsysReading {
 public:
  NsysReading(const SqliteFile& file, const TextSource& source, ActivitySink& sink)
      : file_(file), source_(source), sink_(sink), tables_(file, report_) {
    report_.format = "nsys_sqlite";
  }

  Result<ReadReport> read() {
    BENCH_RETURN_IF_ERROR(tables_.read_strings("StringIds", "id", "value", strings_));
    BENCH_RETURN_IF_ERROR(read_facts());
    BENCH_RETURN_IF_ERROR(read_devices());
    folder_ = environment_variable("TMPDIR").value_or("/var/tmp");
    GpuTimeline::Options options;
    options.folder = folder_;
    if (source_.work_factory())
      options.compute_work = source_.work_factory()(common_capability(devices_));
    GpuTimeline timeline(std::move(options), strings_, sink_);
    for (const GpuDevice& device : devices_) timeline.add(device);
    BENCH_RETURN_IF_ERROR(read_names(timeline));
    BENCH_RETURN_IF_ERROR(read_calls(timeline));
    BENCH_RETURN_IF_ERROR(read_works(timeline));
    BENCH_RETURN_IF_ERROR(join(timeline));
    finish_timeline(timeline, file_.name(), report_);
    return std::move(report_);
  }

 private:
  Status read_facts() {
    constexpr std::array<SqliteColumn, 2> kColumns = {{{"name", required}, {"value", required}}};
    struct Fact {
      std::string_view stored, name;
    };
    constexpr std::array<Fact, 2> kFacts = {
        {{"EXPORT_PRODUCT_VERSION", "nsys.version"}, {"EXPORT_SCHEMA_VERSION", "nsys.schema"}}};
    return tables_.read("META_DATA_EXPORT", kColumns,
                        [&](const SqliteRows& row) -> Result<RowFault> {
                          const auto* fact = std::ranges::find(kFacts, row.text(0), &Fact::stored);
                          if (fact != kFacts.end())
                            report_.facts[std::string(fact->name)] = limited_text(row.text(1));
                          return kGoodRow;
                        });
  }

  Status read_devices() {
    BENCH_RETURN_IF_ERROR(tables_.read("TARGET_INFO_GPU", gpus::kColumns,
                                       [&](const SqliteRows& row) -> Result<RowFault> {
                                         const GpuDevice device = read_gpu(row);
                                         if (!is_device_number(device.device))
                                           return RowFault("`id` is not the number of a device");
                                         devices_.push_back(device);
                                         return kGoodRow;
                                       }));
    note_devices(devices_, report_);
    return Done{};
  }

  static GpuDevice read_gpu(const SqliteRows& row) {
    constexpr std::int64_t kMaxLimit = std::int64_t{1} << 32;
    const auto limit = [&](std::size_t column) {
      return read_count(row, column, kMaxLimit).value_or(0);
    };
    GpuDevice device;
    device.device = row.integer(gpus::cuda).value_or(row.integer(gpus::id).value_or(0));
    device.name = limited_text(row.text(gpus::name));
    device.limits = {limit(gpus::major),     limit(gpus::minor),           limit(gpus::warp),
                     limit(gpus::warps),     limit(gpus::blocks),          limit(gpus::threads),
                     limit(gpus::registers), limit(gpus::block_registers), limit(gpus::shared)};
    if (device.limits.registers_per_block == 0)
      device.limits.registers_per_block = device.limits.registers_per_multiprocessor;
    device.multiprocessors = limit(gpus::multiprocessors);
    device.memory_bytes = read_count(row, gpus::memory, kMaxProfileBytes).value_or(0);
    return device;
  }

  Status read_names(GpuTimeline& timeline) {
    constexpr std::array<SqliteColumn, 2> kProcess = {
        {{"globalPid", required}, {"name", required}}};
    BENCH_RETURN_IF_ERROR(
        tables_.read("PROCESSES", kProcess, [&](const SqliteRows& row) -> Result<RowFault> {
          const auto global = row.integer(0);
          const std::string_view name = limited_text(row.text(1));
          if (global && !name.empty())
            timeline.name_process(thread_of(process_key(*global)),
                                  name.substr(name.rfind('/') + 1));
          return kGoodRow;
        }));
    constexpr std::array<SqliteColumn, 2> kThread = {
        {{"globalTid", required}, {"nameId", required}}};
    return tables_.read("ThreadNames", kThread, [&](const SqliteRows& row) -> Result<RowFault> {
      const auto global = row.integer(0);
      if (global)
        timeline.name_thread(thread_of(process_key(*global)), thread_of(*global),
                             strings_.find(row.integer(1).value_or(ProfileStrings::kNone)));
      return kGoodRow;
    });
  }

  // The process of a row; of a row without one, that of the calls.
  TimelineProcess process(GpuTimeline& timeline, std::optional<std::int64_t> global) {
    const std::int64_t key = global ? process_key(*global) : default_process_.value_or(0);
    if (!default_process_) default_process_ = key;
    return timeline.process(key, thread_of(key));
  }

  struct CallTable {
    std::string_view name;
    bool is_system;
  };

  Status read_calls(GpuTimeline& timeline) {
    constexpr std::string_view kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
    constexpr std::array<SqliteColumn, 3> kExpected = {
        {{"start", required}, {"globalTid", required}, {"correlationId", optional}}};
    BENCH_RETURN_IF_ERROR(
        tables_.read(kCalls, kExpected, [&](const SqliteRows& row) -> Result<RowFault> {
          const auto start = read_time(row, 0);
          if (start) timeline.expect(process(timeline, row.integer(1)), number_of(row, 2), *start);
          return kGoodRow;
        }));
    timeline.finish_expecting();
    for (const CallTable& table : {CallTable{kCalls, false}, CallTable{"OSRT_API", true}}) {
      BENCH_RETURN_IF_ERROR(
          tables_.read(table.name, calls::kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
            return take_call(row, table.is_system, timeline);
          }));
    }
    return Done{};
  }

  Result<RowFault> take_call(const SqliteRows& row, bool is_system, GpuTimeline& timeline) {
    using Kind = TimelineCall::Kind;
    const auto time = read_interval(row, calls::start, calls::end);
    const auto thread = row.integer(calls::thread);
    if (!time) return kBadTime;
    if (!thread) return RowFault("`globalTid` is not a number");
    TimelineCall call;
    call.process = process(timeline, thread);
    call.thread = thread_of(*thread);
    call.time = *time;
    call.correlation = number_of(row, calls::correlation);
    call.name = versionless(row.integer(calls::name).value_or(ProfileStrings::kNone));
    call.status = row.integer(calls::status).value_or(0);
    const bool is_driver = row.integer(calls::event_class) == calls::kDriverClass;
    call.kind = is_system ? Kind::system : is_driver ? Kind::driver : Kind::runtime;
    return add_row(call, timeline);
  }

  // "cudaLaunchKernel_v7000" is the name of a call with the version of CUDA that introduced it.
  ProfileStrings::Id versionless(ProfileStrings::Id id) {
    const auto [found, is_new] = call_names_.try_emplace(id, id);
    if (!is_new) return found->second;
    std::string_view name = strings_.find(id);
    const std::size_t suffix = name.rfind("_v");
    const bool is_version = suffix != name.npos && name.size() >= suffix + 6 &&
                            name.find_first_not_of("0123456789", suffix + 2) == name.npos;
    if (is_version) found->second = strings_.intern(std::string(name.substr(0, suffix)));
    return found->second;
  }

  // Reads what all tables of device work have.
  RowFault read_work(const SqliteRows& row, TimelineWork::Kind kind, GpuTimeline& timeline,
                     TimelineWork& work) {
    work = {};
    const auto time = read_interval(row, works::start, works::end);
    if (!time) return kBadTime;
    const auto device = read_device(row, works::device);
    if (!device) return kBadDevice;
    work.kind = kind;
    work.time = *time;
    work.process = process(timeline, row.integer(works::process));
    work.place = {*device, row.integer(works::context).value_or(0),
                  row.integer(works::stream).value_or(0)};
    work.correlation = number_of(row, works::correlation);
    work.graph_node = number_of(row, works::node);
    return kGoodRow;
  }

  Status read_works(GpuTimeline& timeline) {
    using Kind = TimelineWork::Kind;
    BENCH_RETURN_IF_ERROR(read_enumerations());
    struct WorkTable {
      std::string_view name;
      std::span<const SqliteColumn> columns;
      Kind kind;
      RowFault (NsysReading::*finish)(const SqliteRows& row, TimelineWork& work);
    };
    const std::array<WorkTable, 5> tables = {
        {{"CUPTI_ACTIVITY_KIND_KERNEL", kernels::kColumns, Kind::kernel,
          &NsysReading::finish_kernel},
         {"CUPTI_ACTIVITY_KIND_MEMCPY", copies::kColumns, Kind::memcpy, &NsysReading::finish_copy},
         {"CUPTI_ACTIVITY_KIND_MEMSET", memsets::kColumns, Kind::memset,
          &NsysReading::finish_memset},
         {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", waits::kColumns, Kind::wait,
          &NsysReading::finish_wait},
         {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graphs::kColumns, Kind::graph,
          &NsysReading::finish_graph}}};
    TimelineWork work;
    for (const WorkTable& table : tables) {
      BENCH_RETURN_IF_ERROR(
          tables_.read(table.name, table.columns, [&](const SqliteRows& row) -> Result<RowFault> {
            RowFault fault = read_work(row, table.kind, timeline, work);
            if (fault.empty()) fault = (this->*table.finish)(row, work);
            if (!fault.empty()) return fault;
            return add_row(work, timeline);
          }));
    }
    return read_changes(timeline);
  }

  Status read_enumerations() {
    BENCH_RETURN_IF_ERROR(copy_kinds_.read(tables_, "ENUM_CUDA_MEMCPY_OPER", kCopyValues));
    BENCH_RETURN_IF_ERROR(memory_kinds_.read(tables_, "ENUM_CUDA_MEM_KIND", kMemoryValues));
    BENCH_RETURN_IF_ERROR(wait_kinds_.read(tables_, "ENUM_CUPTI_SYNC_TYPE", kWaitValues));
    return change_kinds_.read(tables_, "ENUM_CUDA_DEV_MEM_EVENT_OPER", kChangeValues);
  }

  // The linker's name, as CUPTI gives it. The demangled one of nsys if this program cannot demangle
  // it.
  ProfileStrings::Id kernel_name_of(const SqliteRows& row) {
    const auto find = [&](std::size_t column) {
      const auto id = row.integer(column);
      return id && strings_.contains(*id) ? *id : ProfileStrings::kNone;
    };
    const ProfileStrings::Id mangled = find(kernels::mangled);
    if (mangled != ProfileStrings::kNone) {
      const auto [known, is_new] = is_demangled_.try_emplace(mangled, true);
      if (is_new) {
        const std::string_view symbol = strings_.find(mangled);
        known->second = !symbol.starts_with("_Z") || kernel_name(symbol).short_name != symbol;
      }
      if (known->second) return mangled;
    }
    for (const std::size_t column : {kernels::demangled, kernels::shortened}) {
      if (const auto id = find(column); id != ProfileStrings::kNone) return id;
    }
    return mangled;
  }

  RowFault finish_kernel(const SqliteRows& row, TimelineWork& work) {
    work.name = kernel_name_of(row);
    if (!read_launch_sizes(row, kernels::grid, work)) return "a size of grid or block is not valid";
    if (!read_resources(row, kernels::registers, work))
      return "registers or shared memory are not valid";
    return kGoodRow;
  }

  GpuMemoryKind memory_kind(const SqliteRows& row, std::size_t column) const {
    const auto number = row.integer(column);
    return number ? memory_kinds_.find(*number) : GpuMemoryKind::unknown;
  }

  static RowFault set_bytes(const SqliteRows& row, std::size_t column, TimelineWork& work) {
    const auto bytes = read_count(row, column, kMaxProfileBytes);
    if (!bytes) return "`bytes` is out of range";
    work.bytes = *bytes;
    return kGoodRow;
  }

  RowFault finish_copy(const SqliteRows& row, TimelineWork& work) {
    work.copy = copy_kinds_.find(row.integer(copies::kind).value_or(0));
    work.memory = memory_kind(row, copies::source);
    work.destination = memory_kind(row, copies::destination);
    return set_bytes(row, copies::bytes, work);
  }

  RowFault finish_memset(const SqliteRows& row, TimelineWork& work) {
    work.memory = memory_kind(row, memsets::memory);
    return set_bytes(row, memsets::bytes, work);
  }

  RowFault finish_wait(const SqliteRows& row, TimelineWork& work) {
    work.wait = wait_kinds_.find(row.integer(waits::kind).value_or(0));
    work.graph_node = 0;
    work.has_stream = work.place.stream >= 0 && work.place.stream != waits::kNoStream;
    return kGoodRow;
  }

  RowFault finish_graph(const SqliteRows&, TimelineWork&) { return kGoodRow; }

  Status read_changes(GpuTimeline& timeline) {
    return tables_.read("CUDA_GPU_MEMORY_USAGE_EVENTS", changes::kColumns,
                        [&](const SqliteRows& row) -> Result<RowFault> {
                          const auto at = read_time(row, changes::start);
                          const auto operation = row.integer(changes::operation);
                          if (!at) return RowFault("`start` is not a time");
                          if (!operation) return RowFault("`memoryOperationType` is not a number");
                          const auto device = read_device(row, changes::device);
                          if (!device) return kBadDevice;
                          TimelineWork work;
                          work.kind = change_kinds_.find(*operation);
                          work.time = {*at, *at};
                          work.process = process(timeline, row.integer(changes::process));
                          work.place = {*device, row.integer(changes::context).value_or(0), 0};
                          work.correlation = number_of(row, changes::correlation);
                          work.address =
                              static_cast<std::uint64_t>(row.integer(changes::address).value_or(0));
                          work.memory = memory_kind(row, changes::memory);
                          const RowFault fault = set_bytes(row, changes::bytes, work);
                          if (!fault.empty()) return fault;
                          return add_row(work, timeline);
                        });
  }

  // What the rows of the ranges show before they are walked along.
  struct RangeFacts {
    bool are_sorted = true;
    bool must_be_read_twice = false;
  };

  Result<RangeFacts> scan_ranges() {
    RangeFacts facts;
    strings_.visit([&](std::string_view text) {
      facts.must_be_read_twice = facts.must_be_read_twice || needs_other_ranges(text);
    });
    const NsysRangeRow decoder(strings_);
    std::pair<std::int64_t, std::int64_t> last{-1, 0};
    RangeEvent event;
    BENCH_RETURN_IF_ERROR(
        tables_.read(kRangeTable, ranges::kColumns, [&](const SqliteRows& row) -> Result<RowFault> {
          bool is_range = false;
          const RowFault fault = decoder.decode(row, event, is_range);
          if (!fault.empty() || !is_range) return fault;
          constexpr std::int64_t kUnended = std::numeric_limits<std::int64_t>::max();
          const std::int64_t length = event.end ? (*event.end - event.at).count() : kUnended;
          const bool nests = event.kind == RangeEvent::Kind::range;
          const std::pair key{event.at.count(), nests ? -length : 0};
          facts.are_sorted = facts.are_sorted && last <= key;
          last = key;
          facts.must_be_read_twice =
              facts.must_be_read_twice || needs_other_ranges(row.text(ranges::text));
          return kGoodRow;
        }));
    return facts;
  }

  Result<std::unique_ptr<RangeStream>> open_ranges(const RangeFacts& facts) const {
    if (!file_.contains(kRangeTable))
      return std::unique_ptr<RangeStream>(std::make_unique<NoRanges>());
    BENCH_ASSIGN_OR_RETURN(SqliteRows rows, file_.rows(kRangeTable, ranges::kColumns));
    auto stored = std::make_unique<StoredRanges>(std::move(rows), strings_);
    if (facts.are_sorted) return std::unique_ptr<RangeStream>(std::move(stored));
    auto sorted = std::make_unique<SortedRanges>(folder_);
    RangeEvent event;
    while (true) {
      BENCH_ASSIGN_OR_RETURN(const bool more, stored->next(event));
      if (!more) break;
      BENCH_RETURN_IF_ERROR(sorted->add(event));
    }
    BENCH_RETURN_IF_ERROR(sorted->finish());
    return std::unique_ptr<RangeStream>(std::move(sorted));
  }

  Status join(GpuTimeline& timeline) {
    BENCH_ASSIGN_OR_RETURN(const RangeFacts facts, scan_ranges());
    if (facts.must_be_read_twice) {
      BENCH_ASSIGN_OR_RETURN(const auto ranges, open_ranges(facts));
      BENCH_RETURN_IF_ERROR(timeline.read_facts(*ranges));
    }
    BENCH_ASSIGN_OR_RETURN(const auto ranges, open_ranges(facts));
    return timeline.join(*ranges);
  }

  const SqliteFile& file_;
  const TextSource& source_;
  ActivitySink& sink_;
  ReadReport report_;
  ProfileTables tables_;
  std::string folder_;
  ProfileStrings strings_;
  std::unordered_map<ProfileStrings::Id, ProfileStrings::Id> call_names_;
  std::unordered_map<ProfileStrings::Id, bool> is_demangled_;
  std::vector<GpuDevice> devices_;
  std::optional<std::int64_t> default_process_;
  NsysEnum<GpuCopyKind> copy_kinds_;
  NsysEnum<GpuMemoryKind> memory_kinds_;
  NsysEnum<GpuWaitKind> wait_kinds_;
  NsysEnum<TimelineWork::Kind> change_kinds_;
};

bool recognises_nsys(std::string_view head) { return head.starts_with(kSqliteMagic); }

}  // namespace

Result<ReadReport> read_nsys_tables(const SqliteFile& file, const TextSource& source,
                                    ActivitySink& sink) {
  return NsysReading(file, source, sink).read();
}

const ActivityReader nsys_sqlite_reader = {
    .name = "nsys_sqlite",
    .help = "SQLite export of Nsight Systems (nsys export --type sqlite)",
    .recognises = recognises_nsys,
    .read = read_sqlite_profile,
};

}  // namespace bench
