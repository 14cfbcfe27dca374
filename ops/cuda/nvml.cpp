// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/nvml.hpp"

#include "ops/cuda/library_report.hpp"
#include "ops/cuda/nvml_functions.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace bench::ops::cuda {

namespace {

constexpr int kNvmlSuccess = 0;
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr int kTimeout = 10;
constexpr unsigned long long kCriticalError = 0x8;  // event type
constexpr unsigned long long kNotAvailable = ~0ull;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kSensorGpu = 0;
constexpr unsigned kVersionSize = 96;  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
constexpr std::int64_t kUnknownPerformanceState = 32;
constexpr int kUncorrected = 1;
constexpr int kSinceDriver = 0;
constexpr unsigned kFieldPowerCap = 74;
constexpr unsigned kFieldSyncBoost = 76;
constexpr unsigned kFieldPowerInstant = 186;
constexpr unsigned kNoField = ~0u;

struct ReasonName {
  std::int64_t bit;
  std::string_view name;
};
constexpr std::array<ReasonName, 9> kReasons = {{{0x1, "idle"},
                                                 {0x2, "application clocks"},
                                                 {0x4, "power cap"},
                                                 {0x8, "slowdown (hardware)"},
                                                 {0x10, "sync boost"},
                                                 {0x20, "hot (software)"},
                                                 {0x40, "hot (hardware)"},
                                                 {0x80, "power brake"},
                                                 {0x100, "display clocks"}}};

std::string format_error(const NvmlFunctions& table, int code) {
  const char* text = table.error_string(code);
  return fmt::format("NVML error {} ({})", code, text != nullptr ? text : "unknown");
}

std::optional<std::string> read_version(int (*function)(char*, unsigned)) {
  std::array<char, kVersionSize> text{};
  if (function == nullptr || function(text.data(), kVersionSize - 1) != kNvmlSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

// Returns the result of function(arguments..., &value), or nullopt if it fails (not supported, no
// permission).
template <class Value, class Function, class... Arguments>
std::optional<Value> query(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kNvmlSuccess) return std::nullopt;
  return value;
}

// Returns the current value of a mode that has a current and a pending value.
template <class Value, class Function>
std::optional<bool> query_mode(Function function, void* device) {
  Value current{}, pending{};
  if (function == nullptr || function(device, &current, &pending) != kNvmlSuccess)
    return std::nullopt;
  return current != 0;
}

std::optional<bool> is_set(std::optional<int> value) {
  if (!value) return std::nullopt;
  return *value != 0;
}

// Returns nullopt if NVML does not report the field. NVML's type codes, from 0: double, unsigned,
// unsigned long, unsigned long long, long long, int, unsigned short.
std::optional<std::int64_t> to_integer(const NvmlField& field) {
  if (field.status != kNvmlSuccess) return std::nullopt;
  switch (field.type) {
    case 1:
      return field.value.natural;
    case 2:
      return static_cast<std::int64_t>(field.value.wide);
    case 3:
      return static_cast<std::int64_t>(field.value.count);
    case 4:
      return field.value.difference;
    default:
      return std::nullopt;  // no counter has another type
  }
}

std::optional<std::vector<NvmlProcessMemory>> list_processes(const NvmlFunctions& table,
                                                             void* device) {
  if (table.processes == nullptr) return std::nullopt;
  std::vector<NvmlProcess> infos(16);
  unsigned count = 0;
  int code = kInsufficientSize;
  // Processes may start between the calls.
  for (int attempt = 0; attempt < 3 && code == kInsufficientSize; ++attempt) {
    if (count > infos.size()) infos.resize(std::size_t{count} * 2);
    count = static_cast<unsigned>(infos.size());
    code = table.processes(device, &count, infos.data());
  }
  if (code != kNvmlSuccess) return std::nullopt;
  std::vector<NvmlProcessMemory> processes(count);
  for (unsigned i = 0; i < count; ++i) {
    processes[i].pid = infos[i].pid;
    if (infos[i].memory == kNotAvailable) continue;
    processes[i].bytes = static_cast<std::int64_t>(infos[i].memory);
  }
  return processes;
}

std::optional<std::vector<std::int64_t>> list_pids(const NvmlFunctions& table, void* device) {
  const auto processes = list_processes(table, device);
  if (!processes) return std::nullopt;
  std::vector<std::int64_t> pids;
  for (const NvmlProcessMemory& process : *processes) pids.push_back(process.pid);
  return pids;
}

std::optional<std::int64_t> read_power(const NvmlFunctions& table, void* device) {
  NvmlField field{};
  field.id = kFieldPowerInstant;
  if (table.fields != nullptr && table.fields(device, 1, &field) == kNvmlSuccess) {
    if (const auto instant = to_integer(field)) return instant;
  }
  return query<unsigned>(table.power, device);
}

void read_fields(const NvmlFunctions& table, void* device,
                 const std::optional<ThrottlingFields>& throttling, NvmlCounters& counters) {
  if (table.fields == nullptr) return;
  const ThrottlingFields ids = throttling.value_or(ThrottlingFields{kNoField, kNoField, kNoField});
  struct Row {
    unsigned id;
    std::optional<std::int64_t>* target;
  };
  // Fields that some drivers lack come last, so the requested fields are always the first rows.
  const Row rows[] = {{kFieldPowerCap, &counters.power_cap},
                      {kFieldSyncBoost, &counters.sync_boost},
                      {kFieldPowerInstant, &counters.power_milliwatt},
                      {ids.software_thermal, &counters.software_thermal},
                      {ids.hardware_thermal, &counters.hardware_thermal},
                      {ids.power_brake, &counters.power_brake}};
  std::array<NvmlField, std::size(rows)> fields{};
  int requested = 0;
  for (const Row& row : rows) {
    if (row.id != kNoField) fields[static_cast<std::size_t>(requested++)].id = row.id;
  }
  if (table.fields(device, requested, fields.data()) != kNvmlSuccess) return;
  for (std::size_t i = 0; i < static_cast<std::size_t>(requested); ++i) {
    *rows[i].target = to_integer(fields[i]);
  }
}

}  // namespace

std::optional<ThrottlingFields> find_throttling_fields(std::string_view driver_version) {
  constexpr int kFirstDriver = 575, kFirstDriverWithNewIds = 590;
  int major = 0;
  const char* end = driver_version.data() + driver_version.size();
  if (std::from_chars(driver_version.data(), end, major).ec != std::errc() ||
      major < kFirstDriver) {
    return std::nullopt;
  }
  return major < kFirstDriverWithNewIds ? ThrottlingFields{251, 252, 253}
                                        : ThrottlingFields{269, 270, 271};
}

std::vector<std::string> clock_reason_names(std::int64_t bits) {
  std::vector<std::string> names;
  for (const ReasonName& row : kReasons) {
    if ((bits & row.bit) != 0) names.emplace_back(row.name);
    bits &= ~row.bit;
  }
  if (bits != 0) names.push_back(fmt::format("{:#x}", bits));
  return names;
}

Nvml::Nvml(std::unique_ptr<const NvmlFunctions> functions, std::string path)
    : functions_(std::move(functions)),
      path_(std::move(path)),
      throttling_fields_(find_throttling_fields(driver_version().value_or(""))) {}

Nvml::Nvml(Nvml&& other) noexcept = default;

Nvml::~Nvml() {
  if (functions_) functions_->shutdown();
}

Result<Nvml, LoadFailure> Nvml::open(std::span<const SearchStep> search) {
  auto library = DynamicLibrary::open(kNvmlFiles, search);
  if (!library) return std::move(library).error();
  auto table = std::make_unique<NvmlFunctions>();
  BENCH_RETURN_IF_ERROR(fill_library_functions(*library, *table));
  if (table->clock_reasons == nullptr) {  // before driver 535
    table->clock_reasons = library->function<int(void*, unsigned long long*)>(
        "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  if (const int code = table->init(); code != kNvmlSuccess) {
    return LoadFailure{{}, format_error(*table, code)};
  }
  return Nvml(std::move(table), library->path());
}

std::optional<std::string> Nvml::driver_version() const {
  return read_version(functions_->driver_version);
}

std::optional<std::string> Nvml::library_version() const {
  return read_version(functions_->library_version);
}

Result<void*> Nvml::device(const std::string& bus_id) const {
  void* device = nullptr;
  if (const int code = functions_->device_by_bus_id(bus_id.c_str(), &device);
      code != kNvmlSuccess) {
    return Error{format_error(*functions_, code), bus_id, ""};
  }
  return device;
}

Result<NvmlCounters> Nvml::counters(const std::string& bus_id) const {
  const NvmlFunctions& table = *functions_;
  BENCH_ASSIGN_OR_RETURN(void* handle, device(bus_id));
  NvmlCounters counters;
  read_fields(table, handle, throttling_fields_, counters);
  counters.clock_reasons = query<unsigned long long>(table.clock_reasons, handle);
  counters.performance_state = query<int>(table.performance_state, handle);
  if (counters.performance_state == kUnknownPerformanceState) counters.performance_state.reset();
  counters.memory_errors =
      query<unsigned long long>(table.memory_errors, handle, kUncorrected, kSinceDriver);
  counters.processes = list_pids(table, handle);
  return counters;
}

Result<NvmlProperties> Nvml::facts(const std::string& bus_id) const {
  const NvmlFunctions& table = *functions_;
  BENCH_ASSIGN_OR_RETURN(void* device, this->device(bus_id));
  NvmlProperties facts;
  facts.ecc = query_mode<int>(table.ecc, device);
  facts.mig = query_mode<unsigned>(table.mig, device);
  facts.persistence = is_set(query<int>(table.persistence, device));
  facts.sm_clock_mhz = query<unsigned>(table.clock, device, kClockSm);
  facts.sm_clock_limit_mhz = query<unsigned>(table.clock_limit, device, kClockSm);
  facts.memory_clock_mhz = query<unsigned>(table.clock, device, kClockMemory);
  facts.memory_clock_limit_mhz = query<unsigned>(table.clock_limit, device, kClockMemory);
  facts.temperature_celsius = query<unsigned>(table.temperature, device, kSensorGpu);
  facts.power_milliwatt = query<unsigned>(table.power, device);
  facts.power_limit_milliwatt = query<unsigned>(table.power_limit, device);
  facts.performance_state = query<int>(table.performance_state, device);
  if (facts.performance_state == kUnknownPerformanceState) facts.performance_state.reset();
  facts.clock_reasons = query<unsigned long long>(table.clock_reasons, device);
  return facts;
}

Result<NvmlReading> Nvml::reading(const std::string& bus_id) const {
  const NvmlFunctions& table = *functions_;
  BENCH_ASSIGN_OR_RETURN(void* handle, device(bus_id));
  NvmlReading reading;
  reading.sm_clock_mhz = query<unsigned>(table.clock, handle, kClockSm);
  reading.power_milliwatt = read_power(table, handle);
  if (const auto memory = query<NvmlMemory>(table.memory, handle)) {
    reading.memory_used_bytes = static_cast<std::int64_t>(memory->used);
  }
  reading.processes = list_processes(table, handle);
  return reading;
}

std::optional<std::int64_t> Nvml::energy_millijoule(const std::string& bus_id) const {
  const auto handle = device(bus_id);
  if (!handle) return std::nullopt;
  const auto energy = query<unsigned long long>(functions_->energy, *handle);
  return energy ? std::optional(static_cast<std::int64_t>(*energy)) : std::nullopt;
}

Result<XidEvents> Nvml::watch_xids(const std::string& bus_id) const {
  const NvmlFunctions& table = *functions_;
  BENCH_ASSIGN_OR_RETURN(void* handle, device(bus_id));
  const bool has_events = table.create_events != nullptr && table.register_events != nullptr &&
                          table.wait_for_event != nullptr && table.free_events != nullptr;
  void* set = nullptr;
  int code = has_events ? table.create_events(&set) : kNotSupported;
  if (code != kNvmlSuccess) return Error{format_error(table, code), bus_id, ""};
  XidEvents events(table, set);
  code = table.register_events(handle, kCriticalError, set);
  if (code != kNvmlSuccess) return Error{format_error(table, code), bus_id, ""};
  return events;
}

XidEvents::XidEvents(XidEvents&& other) noexcept
    : functions_(other.functions_), set_(std::exchange(other.set_, nullptr)) {}

XidEvents::~XidEvents() {
  if (set_ != nullptr) functions_.free_events(set_);
}

std::optional<std::vector<std::int64_t>> XidEvents::take() {
  // Further errors at the same time add no information about the device.
  constexpr std::size_t kMaxErrors = 64;
  std::vector<std::int64_t> numbers;
  for (NvmlEvent event{}; numbers.size() < kMaxErrors; event = {}) {
    const int code = functions_.wait_for_event(set_, &event, 0);
    if (code == kTimeout) break;
    if (code != kNvmlSuccess) return std::nullopt;
    if (event.type == kCriticalError) numbers.push_back(static_cast<std::int64_t>(event.data));
  }
  return numbers;
}

}  // namespace bench::ops::cuda
