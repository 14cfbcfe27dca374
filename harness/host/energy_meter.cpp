// SPDX-License-Identifier: Apache-2.0
#include "harness/host/energy_meter.hpp"

#include "base/dynamic_library.hpp"
#include "base/env.hpp"
#include "harness/host/system_files.hpp"
#include "ops/cuda/library_search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace bench {
namespace {

// Packages have folders such as "intel-rapl:0", also on AMD. Subzones of a package have folders
// such as "intel-rapl:0:1". The same package also has folders of other interfaces, such as
// "intel-rapl-mmio:0".
constexpr std::string_view kPowercap = "/sys/class/powercap/";
constexpr std::string_view kZonePrefix = "intel-rapl:";
constexpr std::string_view kPackageName = "package";
constexpr std::string_view kMemoryName = "dram";

// A package or its memory. A counter with a range of 262 kJ wraps around after twenty minutes at
// 200 W. Since a round takes seconds, the counter wraps around at most once.
struct Zone {
  std::string folder;  // path with '/' at its end
  std::string name;    // "package-0", "dram-0"
  std::optional<std::int64_t> wrap_at;
};

Result<std::string, EnergyFiles::Failure> read_system_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return EnergyFiles::Failure{errno};
  std::array<char, 64> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  const int code = errno;
  ::close(file);
  if (size < 0) return EnergyFiles::Failure{code};
  return std::string(text.data(), static_cast<std::size_t>(size));
}

std::vector<std::string> list_system_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

std::optional<std::int64_t> read_number(const EnergyFiles& files, const std::string& path) {
  const auto text = files.read(path);
  return text ? parse_integer(*text) : std::nullopt;
}

std::string read_name(const EnergyFiles& files, const std::string& folder) {
  std::string name = files.read(folder + "name").ok() ? *files.read(folder + "name") : "";
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

// Returns the packages, sorted by the names of their folders. Each package is followed by its
// memory.
std::vector<Zone> find_zones(const EnergyFiles& files) {
  std::vector<std::string> names = files.list(std::string(kPowercap));
  std::ranges::sort(names);
  std::vector<Zone> zones;
  std::string package_number;  // number of the last package, such as "-0"
  for (const std::string& entry : names) {
    if (!entry.starts_with(kZonePrefix)) continue;
    Zone zone;
    zone.folder = fmt::format("{}{}/", kPowercap, entry);
    zone.name = read_name(files, zone.folder);
    const bool is_subzone = entry.find(':', kZonePrefix.size()) != std::string::npos;
    if (!is_subzone) {
      const std::size_t dash = zone.name.find('-');
      package_number = dash == std::string::npos ? "" : zone.name.substr(dash);
    }
    if (!zone.name.starts_with(is_subzone ? kMemoryName : kPackageName)) continue;
    if (is_subzone) zone.name += package_number;
    zone.wrap_at = read_number(files, zone.folder + "max_energy_range_uj");
    zones.push_back(std::move(zone));
  }
  return zones;
}

class PowercapMeter final : public EnergyMeter {
 public:
  PowercapMeter(EnergyFiles files, std::vector<Zone> zones)
      : files_(std::move(files)), zones_(std::move(zones)) {
    std::vector<std::string_view> names;
    for (const Zone& zone : zones_) names.push_back(zone.name);
    source_ = fmt::format("rapl:{}", fmt::join(names, "+"));
  }
  const std::string& source() const override { return source_; }
  std::optional<std::vector<EnergyCount>> read() override {
    std::vector<EnergyCount> counts;
    for (const Zone& zone : zones_) {
      const auto count = read_number(files_, zone.folder + "energy_uj");
      if (!count) return std::nullopt;
      counts.push_back({*count, zone.wrap_at});
    }
    return counts;
  }

 private:
  EnergyFiles files_;
  std::vector<Zone> zones_;
  std::string source_;
};

class NvmlMeter final : public EnergyMeter {
 public:
  NvmlMeter(ops::cuda::Nvml nvml, std::string bus_id)
      : nvml_(std::move(nvml)), bus_id_(std::move(bus_id)) {}
  const std::string& source() const override { return source_; }
  std::optional<std::vector<EnergyCount>> read() override {
    constexpr std::int64_t kMicrojoulesPerMillijoule = 1000;
    const auto millijoules = nvml_.energy_millijoule(bus_id_);
    if (!millijoules) return std::nullopt;
    return std::vector<EnergyCount>{{*millijoules * kMicrojoulesPerMillijoule}};
  }

 private:
  ops::cuda::Nvml nvml_;
  std::string bus_id_;
  std::string source_ = "nvml";
};

// Returns the bus id of the first device that this process may use. The CUDA plugin must have
// loaded and initialised the driver. Returns nullopt if the driver does not report the bus id.
std::optional<std::string> find_bus_id() {
  const auto driver = DynamicLibrary::find_loaded("libcuda.so.1");
  if (!driver) return std::nullopt;
  auto* const get_bus_id = driver->function<int(char*, int, int)>("cuDeviceGetPCIBusId");
  std::array<char, 32> text{};
  constexpr int kFirstDevice = 0;
  const bool is_known =
      get_bus_id != nullptr &&
      get_bus_id(text.data(), static_cast<int>(text.size()) - 1, kFirstDevice) == 0;
  return is_known ? std::optional<std::string>(text.data()) : std::nullopt;
}

EnergyMeterResult open_cpu_meter() { return open_powercap_meter(system_energy_files()); }

EnergyMeterResult open_cuda_meter() {
  const auto bus_id = find_bus_id();
  if (!bus_id) return Error{"the driver does not report which GPU this process uses", "", ""};
  auto nvml = ops::cuda::Nvml::open(ops::cuda::library_search_path(environment_variable, ""));
  if (!nvml) return Error{"NVML " + nvml.error().reason, "", ""};
  return open_nvml_meter(std::move(nvml).value(), *bus_id);
}

struct MeterRow {
  std::string_view device;
  EnergyMeterResult (*open)();
};
constexpr std::array<MeterRow, 2> kMeters = {{{"cpu", open_cpu_meter}, {"cuda", open_cuda_meter}}};

}  // namespace

std::optional<std::int64_t> energy_between(std::span<const EnergyCount> before,
                                           std::span<const EnergyCount> after) {
  if (before.size() != after.size()) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    std::int64_t difference = after[i].microjoules - before[i].microjoules;
    if (difference < 0) {
      if (!after[i].wrap_at) return std::nullopt;
      // The counter has the values from 0 to `wrap_at`, which are one more than `wrap_at`.
      difference += *after[i].wrap_at + 1;
    }
    if (difference < 0) return std::nullopt;
    sum += difference;
  }
  return sum;
}

EnergyFiles system_energy_files() { return {list_system_folder, read_system_file}; }

EnergyMeterResult open_powercap_meter(EnergyFiles files) {
  std::vector<Zone> zones = find_zones(files);
  if (zones.empty()) {
    return Error{fmt::format("{} has no {} package; a virtual machine often hides it", kPowercap,
                             kZonePrefix.substr(0, kZonePrefix.size() - 1)),
                 "", ""};
  }
  for (const Zone& zone : zones) {
    const std::string path = zone.folder + "energy_uj";
    const auto text = files.read(path);
    if (text && parse_integer(*text)) continue;
    const int code = text ? EINVAL : text.error().code;
    const bool is_denied = code == EACCES || code == EPERM;
    return Error{fmt::format("{} cannot be read ({})", path, std::generic_category().message(code)),
                 "",
                 is_denied ? "sudo chmod a+r /sys/class/powercap/*/energy_uj opens it until the "
                             "next start"
                           : ""};
  }
  return std::unique_ptr<EnergyMeter>(
      std::make_unique<PowercapMeter>(std::move(files), std::move(zones)));
}

EnergyMeterResult open_nvml_meter(ops::cuda::Nvml nvml, std::string bus_id) {
  auto meter = std::make_unique<NvmlMeter>(std::move(nvml), std::move(bus_id));
  if (!meter->read()) {
    return Error{"NVML has no energy counter of this GPU (it needs Volta or later)", "", ""};
  }
  return std::unique_ptr<EnergyMeter>(std::move(meter));
}

EnergyMeterResult open_energy_meter(std::string_view device) {
  const auto* const row = std::ranges::find(kMeters, device, &MeterRow::device);
  if (row == kMeters.end()) {
    return Error{fmt::format("no energy counter is known for the device `{}`", device), "", ""};
  }
  return row->open();
}

Finding energy_finding(const EnergyMeterResult& meter) {
  if (meter.ok()) return {Finding::Level::good, "energy", (*meter)->source(), "", ""};
  return {Finding::Level::note, "energy", "n/a: " + meter.error().what,
          "results have no energy of cases on the CPU", meter.error().next};
}

}  // namespace bench
