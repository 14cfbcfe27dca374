// SPDX-License-Identifier: Apache-2.0
// Reads the traces of GPU activities that NVIDIA's tools print as CSV: `nvprof --csv
// --print-gpu-trace` and `nsys stats -r cuda_gpu_trace -f csv` (gputrace before 2022). The column
// names are those that the tools print.
#include "profiler/readers/table_import.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr auto kTraceText = TableContent::text;
constexpr auto kTraceNumber = TableContent::number;

constexpr std::array kNvprofColumns = {
    TableColumn{"Start", kTraceNumber, set_start},
    TableColumn{"Duration", kTraceNumber, set_duration},
    TableColumn{"Grid X", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"Grid Y", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"Grid Z", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"Block X", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"Block Y", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"Block Z", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"Registers Per Thread", kTraceNumber, set_number<Attribute::registers>},
    TableColumn{"Static SMem", kTraceNumber, add_number<Attribute::shared_bytes>},
    TableColumn{"Dynamic SMem", kTraceNumber, add_number<Attribute::shared_bytes>},
    TableColumn{"Size", kTraceNumber, set_number<Attribute::size_bytes>},
    TableColumn{"Device", kTraceText, set_device_name},
    TableColumn{"Stream", kTraceNumber, set_stream},
    TableColumn{"Name", kTraceText, set_demangled_name},
    TableColumn{"Correlation_ID", kTraceNumber, set_correlation},
};

constexpr std::array kNsysColumns = {
    TableColumn{"Start", kTraceNumber, set_start},
    TableColumn{"Duration", kTraceNumber, set_duration},
    TableColumn{"CorrId", kTraceNumber, set_correlation},
    TableColumn{"GrdX", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"GrdY", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"GrdZ", kTraceNumber, append_text<Attribute::grid>},
    TableColumn{"BlkX", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"BlkY", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"BlkZ", kTraceNumber, append_text<Attribute::block>},
    TableColumn{"Reg/Trd", kTraceNumber, set_number<Attribute::registers>},
    TableColumn{"StcSMem", kTraceNumber, add_number<Attribute::shared_bytes>},
    TableColumn{"DymSMem", kTraceNumber, add_number<Attribute::shared_bytes>},
    TableColumn{"Bytes", kTraceNumber, set_number<Attribute::size_bytes>},
    TableColumn{"Device", kTraceText, set_device_name},
    TableColumn{"Strm", kTraceNumber, set_stream},
    TableColumn{"Name", kTraceText, set_demangled_name},
};

// nvprof's units of sizes are powers of 1024, those of Nsight Systems powers of 1000.
constexpr std::array kNvprofUnits = {TableUnit{"ns", 1},
                                     TableUnit{"us", 1e3},
                                     TableUnit{"ms", 1e6},
                                     TableUnit{"s", 1e9},
                                     TableUnit{"B", 1},
                                     TableUnit{"KB", 1024},
                                     TableUnit{"MB", 1024.0 * 1024},
                                     TableUnit{"GB", 1024.0 * 1024 * 1024}};
constexpr std::array kNsysUnits = {TableUnit{"ns", 1},     TableUnit{"nsec", 1},
                                   TableUnit{"us", 1e3},   TableUnit{"\u03bcs", 1e3},
                                   TableUnit{"usec", 1e3}, TableUnit{"ms", 1e6},
                                   TableUnit{"msec", 1e6}, TableUnit{"s", 1e9},
                                   TableUnit{"sec", 1e9},  TableUnit{"B", 1},
                                   TableUnit{"bytes", 1},  TableUnit{"KB", 1e3},
                                   TableUnit{"MB", 1e6},   TableUnit{"GB", 1e9},
                                   TableUnit{"KiB", 1024}, TableUnit{"MiB", 1024.0 * 1024}};

constexpr std::array kTraceKinds = {TableKind{"[CUDA memcpy", ActivityKind::memcpy},
                                    TableKind{"[CUDA memset", ActivityKind::memset},
                                    TableKind{"[CUDA Unified Memory memcpy", ActivityKind::memcpy}};
constexpr std::array<std::string_view, 4> kNvprofKeys = {"Grid X", "Start", "Duration", "Name"};
constexpr std::array<std::string_view, 4> kNsysKeys = {"GrdX", "Start", "Duration", "Name"};
constexpr std::array<std::string_view, 1> kTraceUnknown = {"-"};

// A copy within a device reads and writes each byte there.
class CopyFinisher final : public TableFinisher {
 public:
  void finish(Activity& activity) override {
    if (activity.kind != ActivityKind::memcpy && activity.kind != ActivityKind::memset) return;
    const auto size = activity.attributes.integer(Attribute::size_bytes);
    constexpr std::int64_t kMaxSize = std::int64_t{1} << 60;
    if (!size || *size > kMaxSize) return;
    constexpr std::array<std::string_view, 2> kWithin = {"DtoD", "Device-to-Device"};
    const bool is_within = std::any_of(kWithin.begin(), kWithin.end(), [&](std::string_view part) {
      return activity.name.find(part) != std::string::npos;
    });
    activity.attributes.set(Attribute::bytes, *size * (is_within ? 2 : 1));
  }
};

std::unique_ptr<TableFinisher> make_copy_finisher() { return std::make_unique<CopyFinisher>(); }

constexpr TableMapping kNvprofTrace = {
    .format = "nvprof",
    .columns = kNvprofColumns,
    .all_of = kNvprofKeys,
    .unknown_columns = TableMapping::UnknownColumns::ignored,
    .units = TableMapping::Units::in_row,
    .unit_names = kNvprofUnits,
    .kinds = kTraceKinds,
    .starts = StartTimes::recorded,
    .unknown_values = kTraceUnknown,
    .make_finisher = make_copy_finisher,
};

constexpr TableMapping kNsysTrace = {
    .format = "nsys",
    .columns = kNsysColumns,
    .all_of = kNsysKeys,
    .unknown_columns = TableMapping::UnknownColumns::ignored,
    .units = TableMapping::Units::in_header,
    .unit_names = kNsysUnits,
    .kinds = kTraceKinds,
    .starts = StartTimes::recorded,
    .unknown_values = kTraceUnknown,
    .make_finisher = make_copy_finisher,
};

}  // namespace

const ActivityReader nvprof_reader =
    table_reader<kNvprofTrace>("the trace of `nvprof --csv --print-gpu-trace`");
const ActivityReader nsys_reader =
    table_reader<kNsysTrace>("the trace of `nsys stats -r cuda_gpu_trace -f csv`");

}  // namespace bench
